#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/engine/answer_rounds.h"
#include "transport/engine/authenticator.h"
#include "transport/engine/congestion.h"
#include "transport/engine/delivery_rate.h"
#include "transport/engine/messages.h"
#include "transport/engine/round_trip.h"
#include "transport/engine/serial.h"

namespace holdfast::transport {

/// The last questions (HELLOs) that wait for an answer. An answer is taken once: a copy of it is none.
class OpenQuestions {
 public:
  struct Question {
    std::uint32_t stamp = 0;
    std::int64_t asked_ns = 0;
    std::uint64_t number = 0;  ///< of this peer's questions, on all rails
    bool full = false;         ///< as long as the rail's packets may be
  };
  void ask(const Question& question) { open_[next_++ % open_.size()] = question; }
  std::optional<Question> take(std::uint32_t stamp) {
    for (std::optional<Question>& each : open_) {
      if (each && each->stamp == stamp) return std::exchange(each, std::nullopt);
    }
    return std::nullopt;
  }

 private:
  std::array<std::optional<Question>, 8> open_{};
  std::size_t next_ = 0;
};

/// One rail to one peer.
struct Path {
  Path(std::size_t fragment_bytes, std::size_t window_bytes, double bytes_per_second)
      : window(fragment_bytes, window_bytes), rate(bytes_per_second) {}

  RoundTrip round_trip;
  CongestionWindow window;
  DeliveryRate rate;
  RailState state = RailState::up;
  std::size_t flying_bytes = 0;
  FragmentList flight;  ///< in the order in which they were sent
  std::uint64_t next_order = 1;
  std::uint64_t largest_acknowledged = 0;
  std::int64_t silent_since_ns = 0;  ///< since when something is on its way and nothing came back; 0: nothing is
  std::int64_t doubted_ns = 0;       ///< since when something says that it does not carry everything; 0: nothing does
  std::int64_t last_doubt_ns = 0;
  AnswerRounds rounds;                 ///< silent or doubted, and asked: what was answered on other rails meanwhile
  bool round_due = false;              ///< a round has ended, and the next one's question is to be asked
  bool passed_over = false;            ///< it was outdone at the last look at the rails, too
  std::int64_t left_ns = 0;            ///< suspect or out: since when
  unsigned unanswered = 0;             ///< suspect: probes
  std::int64_t heard_ns = 0;           ///< when something that was sent here was last seen to have arrived
  bool useless = false;                ///< it has lost a fragment too often, and answered meanwhile
  unsigned lost_in_a_row = 0;          ///< packets, with none as long carried in between
  std::uint64_t lost_order = 0;        ///< of the last of them
  std::uint32_t least_lost_bytes = 0;  ///< the shortest of them
  std::uint32_t unfinished = 0;        ///< puts that are pending or taken
  std::int64_t local_deadline_ns = 0;  ///< the local completion timer; 0: not running
  std::int64_t overdue_ns = 0;         ///< since when it has run out; 0: it has not
  AnswerRounds overdue_rounds;         ///< what was answered on other rails since then
  bool last_look = false;              ///< that is enough: what this rail has finished is looked at once more
  std::int64_t next_timeout_ns = 0;    ///< while timeouts > 0: when the next one may be
  unsigned probes = 0;                 ///< fragments that the last timeout lets go again
  unsigned timeouts = 0;               ///< in a row
  std::int64_t next_probe_ns = 0;      ///< the next question; 0: none
  std::int64_t probe_gap_ns = 0;
  std::int64_t regained_ns = 0;
  std::int64_t hold_until_ns = 0;  ///< a rail that comes and goes is kept out until then
  unsigned flaps = 0;
  std::uint32_t stamp = 0;  ///< of the last packet that came in here
  std::int64_t stamp_ns = 0;
  bool stamp_fresh = false;
  std::uint64_t arrived = 0;  ///< packets of the session that came in here
  std::uint64_t packets = 0;  ///< sent in this session
  OpenQuestions questions;
  bool hello_owed = false;   ///< a HELLO found no room on the rail: it goes before any data when there is
  bool answer_owed = false;  ///< likewise an answer to one, which echoes `answer_stamp`
  bool challenge_owed = false;
  std::uint32_t answer_stamp = 0;
};

/// What came of one VFRAG of the peer's.
struct InVfrag {
  std::uint64_t mask = 0;
  std::uint8_t count = 0;  ///< 0: nothing came

  std::uint64_t whole() const { return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }
  bool complete() const { return count > 0 && mask == whole(); }
};

/// Everything about one peer: made when it is first spoken to or first calls.
struct Peer {
  using OutQueue = List<OutMessage, &OutMessage::link>;
  using OutList = List<OutMessage, &OutMessage::peer_link>;
  using InList = List<InMessage, &InMessage::peer_link>;

  Peer(PeerId number, std::uint32_t own_window, std::uint64_t identity)
      : id(number), local_identity(identity), out(own_window), in(own_window) {}

  PeerId id;

  // the session
  std::uint64_t local_identity;       ///< another after each session that this side ended
  std::uint64_t remote_identity = 0;  ///< 0: none was accepted yet
  std::uint64_t identities = 0;       ///< of the peer that were accepted
  std::uint64_t questions = 0;        ///< asked of it, on all rails
  std::uint64_t cookie = 0;           ///< that the peer wants to see with the local identity; 0: it asked for none
  std::vector<std::byte> name;        ///< the peer's, as it brought its identity
  std::vector<std::byte> own_name;    ///< this side's, until the session is established and in its keys
  std::vector<std::byte> challenge;   ///< the last packet that asked who it is
  bool remote_aes = false;
  std::uint32_t remote_session = 0;
  std::uint64_t key_out = 0;
  std::uint64_t key_in = 0;
  std::unique_ptr<SessionSeals> seals;  ///< null where nobody is asked for a secret, and without a remote identity
  bool established = false;
  std::optional<Outcome> given_up{};  ///< why, for good
  bool knows_of_it = false;           ///< given up: the peer has given this side up too
  std::int64_t next_notice_ns = 0;    ///< given up, and the peer does not know: when it is told again
  std::int64_t notice_gap_ns = 0;
  std::int64_t remote_ack_delay_ns = 0;
  std::uint32_t remote_window = 64;
  std::int64_t next_call_ns = 0;  ///< the next HELLO while it is not established; 0: none
  std::int64_t call_gap_ns = 0;
  std::int64_t hinted_ns = 0;    ///< when it was last told that its packets are stale
  std::int64_t progress_ns = 0;  ///< when something was last acknowledged, or there was nothing to acknowledge
  std::int64_t sign_ns = 0;      ///< when it last showed that it hears this side
  std::int64_t next_keepalive_ns = 0;
  std::int64_t asking_gap_ns = 0;    ///< while a message waits for room
  std::uint32_t asked_at_limit = 0;  ///< the message limit of then
  std::int64_t without_rail_ns = 0;  ///< since when; 0: it has one

  // sending
  std::vector<Path> paths;
  OutList messages;  ///< all of them
  OutQueue control;  ///< answers of the protocol, first of all
  OutQueue ordered;  ///< in the order of their matching
  OutQueue bulk;
  FragmentList ready;  ///< to be put on a rail, once more or still
  SerialRing<Vfrag*> out;
  std::uint32_t next_vfrag = 0;
  std::uint32_t next_message = 0;
  std::uint32_t next_order = 0;
  std::uint32_t message_limit = 0;
  std::uint64_t byte_limit = 0;
  std::uint64_t eager_bytes = 0;  ///< sent in this session
  unsigned turns = 0;             ///< of ordered messages since bulk had one
  Link<Peer> waiting_link;        ///< for a rail with room
  std::uint32_t told_from = 0;    ///< the last acknowledgement named all that had arrived of VFRAGs from this one
  std::uint32_t told_before = 0;  ///< and before this one
  std::uint64_t lost_messages = 0;
  bool spoiled = false;  ///< bytes to send have changed in memory: nothing more goes until the session is reset

  // receiving
  SerialRing<InVfrag> in;
  std::uint32_t in_end = 0;     ///< after the last VFRAG of which something came
  SerialMap<InMessage> open;    ///< eager messages that came in part, by number
  SerialMap<InMessage> parked;  ///< messages that came before others that are matched first, by order
  InList incoming;              ///< messages that are not complete
  std::uint32_t next_match = 0;
  std::uint32_t consumed = 0;    ///< messages that left the unexpected list, or never were in it
  std::uint32_t told_limit = 0;  ///< the message limit that the peer was last told
  std::uint64_t told_bytes = 0;
  std::uint64_t arrived_bytes = 0;  ///< eager, in this session
  std::uint64_t held_bytes = 0;     ///< in unexpected buffers
  std::uint64_t granted_bytes = 0;  ///< how much of the unexpected memory is this peer's
  std::size_t directed_receives = 0;
  bool ack_owed = false;
  bool ack_refused = false;  ///< the one that is owed found no room on the rail
  std::uint32_t unacknowledged_packets = 0;
  std::int64_t ack_deadline_ns = 0;
  std::uint32_t ack_rail = 0;
  std::uint32_t partials_from = 0;  ///< the next acknowledgement names partial VFRAGs from this one; the first: all
  std::uint32_t partials_next = 0;  ///< the one after it, if it is sent
  std::uint32_t duplicates_in_a_row = 0;

  std::int64_t deadline_ns = INT64_MAX;  ///< no timer of this peer is due before

  std::size_t memory_bytes() const {
    return sizeof *this + name.capacity() + challenge.capacity() + paths.capacity() * sizeof(Path) +
           out.memory_bytes() + in.memory_bytes() + open.memory_bytes() + parked.memory_bytes();
  }
};

}  // namespace holdfast::transport
