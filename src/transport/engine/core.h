#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/engine/buffers.h"
#include "transport/engine/clock.h"
#include "transport/engine/engine.h"
#include "transport/engine/messages.h"
#include "transport/engine/peer.h"

namespace holdfast::transport {

/// The engine behind Engine. One class, its functions in files by what they do: sending.cc, acknowledging.cc,
/// receiving.cc, matching.cc, sessions.cc, paths.cc, timers.cc, rma.cc.
class Core {
 public:
  Core(const Options& options, std::span<const RailTraits> rails, Host& host, std::span<const std::byte> name,
       const Secrets& secrets, std::int64_t now_ns);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // engine.h documents these
  Posted send(const SendRequest& request);
  Posted receive(const ReceiveRequest& request);
  std::optional<Waiting> peek(const ReceiveRequest& request, bool claim);
  Posted receive_claimed(const ReceiveRequest& request);
  bool discard_claimed(void* context);
  bool cancel(void* context);
  Posted write(const WriteRequest& request);
  Posted read(const ReadRequest& request);
  Posted atomic(const AtomicRequest& request);
  void on_packet(std::uint32_t rail, std::span<const std::byte> packet);
  void on_put_done(std::uint64_t token, bool ok);
  void on_rail_ready(std::uint32_t rail);
  void on_rail_failed(std::uint32_t rail, PeerId peer);
  void on_rail_doubted(std::uint32_t rail, PeerId peer);
  void on_rail_restored(std::uint32_t rail);
  void rename(std::span<const std::byte> name);
  void advance();
  bool sum_ahead();
  void close();
  bool idle() const;
  std::optional<Outcome> given_up(PeerId peer) const;
  RailReport rail(std::uint32_t rail, PeerId peer) const;
  std::size_t memory_bytes(PeerId peer) const;
  std::size_t memory_bytes() const;
  std::size_t objects_in_use() const;

  Clock clock;
  Counters counters;
  std::int64_t next_deadline_ns = INT64_MAX;  ///< of the engine's time: no timer is due before
  std::size_t fragment_bytes = 0;
  std::size_t pending_puts = 0;

 private:
  using UnexpectedList = List<InMessage, &InMessage::link>;
  using PostedList = List<ReceiveOp, &ReceiveOp::link>;
  using WaitingList = List<Peer, &Peer::waiting_link>;
  using AskingList = List<OutMessage, &OutMessage::link>;

  /// What became of a fragment that came in.
  enum class Landed : std::uint8_t {
    good,     ///< it is where it belongs: acknowledge it
    corrupt,  ///< its checksum does not fit
    refused,  ///< it belongs to nothing here, or there is no room: the peer will send it again
  };
  struct Envelope {
    PeerId peer;
    bool tagged;
    std::uint64_t tag;
  };
  /// What an acknowledgement says of the last packet that had arrived when it was written.
  struct Echo {
    std::uint8_t rail;  ///< wire::no_rail: nothing
    std::uint32_t stamp;
  };
  struct RailRecord {
    RailTraits traits;
    integrity::Checksum checksum{};
    bool busy = false;
    bool control_owed = false;  ///< a HELLO or an acknowledgement found no room
  };

  std::int64_t now() const { return clock.now(); }
  std::uint64_t& count(Count counter) { return counters[counter]; }

  // sessions.cc
  Peer* peer(PeerId id);  ///< makes it if need be
  Peer* known_peer(PeerId id) const;
  void call(Peer& peer);
  void say_hello(Peer& peer, std::uint32_t rail, bool answer, std::uint32_t echo_stamp);
  void on_greeting(wire::Reader& packet, std::uint32_t rail);
  void on_hello(const wire::PacketHeader& header, const wire::HelloFrame& frame, std::uint32_t rail);
  void on_hello_answer(const wire::PacketHeader& header, const wire::HelloFrame& frame, std::uint32_t rail);
  void on_challenge(const wire::PacketHeader& header, const wire::ChallengeFrame& frame, std::uint32_t rail);
  bool is_reflected(PeerId id, const wire::HelloFrame& frame) const;
  bool knows_identity(PeerId id, const wire::HelloFrame& frame) const;
  std::uint64_t cookie_for(PeerId id, const wire::HelloFrame& frame) const;
  void challenge(PeerId id, const wire::HelloFrame& frame, std::uint32_t rail);
  void send_challenge(Peer& to, std::uint32_t rail);
  void meet(Peer& peer, const wire::HelloFrame& frame);
  void learn(Peer& peer, const wire::HelloFrame& frame);
  void agree_on_keys(Peer& peer);
  bool believed(Peer& peer, const wire::Reader& packet, std::uint32_t rail);
  void establish(Peer& peer);
  void reset(Peer& peer, Outcome outcome);
  void reset_sending(Peer& peer, Outcome outcome);
  void reset_receiving(Peer& peer, Outcome outcome);
  void give_up(Peer& peer, Outcome outcome);
  void end_unreachable(Peer& peer);
  void end_closed(Peer& peer);
  static bool leaves_nothing(const Peer& peer);
  std::int64_t serve_lost(Peer& peer);
  void hear_of_end(Peer& peer, const wire::HelloFrame& frame);
  void new_identity(Peer& peer);
  void on_stale(std::uint32_t session);
  void say_bye(Peer& peer);

  // sending.cc
  OutMessage* new_message(Peer& peer, wire::MessageKind kind);
  bool log_has_room(std::size_t bytes);
  void log_message(OutMessage& message, std::span<const iovec> pieces, std::size_t bytes);
  void post_control(Peer& peer, wire::MessageKind kind, std::uint64_t tag, std::uint64_t data, std::uint64_t address);
  void enqueue(OutMessage& message);
  Vfrag* make_vfrag(OutMessage& message);
  void release_vfrag(Vfrag& vfrag);
  void unmake_vfrag(OutMessage& message);
  void pump(Peer& peer);
  Fragment* take_fragment(Peer& peer);
  Fragment* take_from(Peer& peer, Peer::OutQueue& queue, std::uint32_t spare_vfrags);
  bool start(Peer& peer, OutMessage& message);
  void ask_to_send(Peer& peer, OutMessage& message);
  void put_back(Peer& peer, Fragment& fragment);
  bool transmit(Peer& peer, const Load& load, std::uint32_t rail);
  wire::DataFrame data_frame(const Fragment& fragment) const;
  std::size_t add_payload(const Fragment& fragment, std::span<iovec> list) const;
  void flies(Peer& peer, Fragment& fragment, std::uint32_t rail);
  void make_ready(Peer& peer, Fragment& fragment);
  void on_clear_to_send(Peer& peer, const wire::DataFrame& frame);
  void message_acknowledged(OutMessage& message);
  void report(OutMessage& message, Outcome outcome);
  void try_release(OutMessage& message);

  // summing.cc
  void make_sum(Fragment& fragment, integrity::Checksum algorithm);
  bool unchanged(Fragment& fragment, std::uint32_t rail);
  std::uint64_t checksum_of(Fragment& fragment, integrity::Checksum algorithm);
  void stop_summing(OutMessage& message);

  // gathering.cc
  void gather(Peer& peer, Load& load, std::uint32_t rail);
  bool is_narrow(const Path& path) const;
  static iovec copy_behind(OutPacket& packet, std::size_t header_bytes, const Load& load);
  wire::PacketHeader packet_header(Peer& peer, std::uint32_t rail);
  std::span<const std::byte> seal(Peer& peer, wire::Writer& writer, const wire::PacketHeader& header,
                                  std::span<const iovec> payload, std::size_t payload_bytes);

  // acknowledging.cc
  void fill_ack(Peer& peer, std::uint32_t rail, wire::AckFrame& frame);
  void owe_ack(Peer& peer, bool now);
  void settle_ack(Peer& peer);
  bool send_ack(Peer& peer, std::uint32_t rail, bool bye);
  void send_owed_ack(Peer& peer);
  void on_ack(Peer& peer, const wire::AckFrame& frame);
  void acknowledge_vfrag(Peer& peer, std::uint32_t number, std::uint64_t mask, const Echo& echo);
  void acknowledge(Peer& peer, Fragment& fragment, const Echo& echo);
  static bool told_of(const Peer& peer, const Vfrag& vfrag);
  void find_lost(Peer& peer, std::uint32_t rail);
  void on_echo(Peer& peer, std::uint32_t echo_rail, std::uint32_t stamp, std::uint32_t delay);
  void drop_finished_vfrags(Peer& peer);

  // receiving.cc
  void on_data(Peer& peer, const wire::DataFrame& frame, std::span<const std::byte> payload);
  Landed land(Peer& peer, const wire::DataFrame& frame, std::span<const std::byte> payload);
  Landed land_eager(Peer& peer, const wire::DataFrame& frame, std::span<const std::byte> payload);
  Landed land_first(Peer& peer, const wire::DataFrame& frame, std::span<const std::byte> payload, ReceiveOp& op);
  Landed land_unexpected(Peer& peer, const wire::DataFrame& frame, std::span<const std::byte> payload);
  Landed land_more(InMessage& message, const wire::DataFrame& frame, std::span<const std::byte> payload);
  Landed land_request(Peer& peer, const wire::DataFrame& frame);
  Landed land_bulk(Peer& peer, const wire::DataFrame& frame, std::span<const std::byte> payload);
  bool fits(const wire::DataFrame& frame, std::uint64_t sum);
  bool intact(const wire::DataFrame& frame, std::span<const std::byte> payload);
  std::uint32_t message_limit(const Peer& peer) const;
  std::uint64_t byte_limit(const Peer& peer) const;
  void consumed(Peer& peer);
  InMessage* new_in_message(Peer& peer, const wire::DataFrame& frame);
  void release_in_message(InMessage& message);
  void drop_buffer(InMessage& message);

  // matching.cc
  ReceiveOp* find_posted(const Envelope& envelope);
  InMessage* find_unexpected(const ReceiveRequest& request);
  InMessage* find_claimed(void* context);
  static bool fits(const ReceiveOp& op, const Envelope& envelope);
  Pieces target_for(const ReceiveOp& op, std::uint64_t total) const;
  void take_into(ReceiveOp& op, std::uint64_t total);
  ReceiveOp* new_receive(const ReceiveRequest& request);
  void post(ReceiveOp& op);
  void unpost(ReceiveOp& op);
  void admit(InMessage& message);
  void admit_parked(Peer& peer);
  void bind(InMessage& message, ReceiveOp& op);
  void message_complete(InMessage& message);
  void drop_after_gap(Peer& peer);
  void finish_receive(ReceiveOp& op, const InMessage& message, Outcome outcome);
  void complete_receive(ReceiveOp& op, Completion completion);
  void release_receive(ReceiveOp& op);
  void fail_directed(Peer& peer, Outcome outcome);
  void tell(const Completion& completion);

  // paths.cc
  int choose_path(Peer& peer);
  int ack_path(const Peer& peer) const;
  bool any_up(const Peer& peer) const;
  bool another_up(const Peer& peer, std::uint32_t rail) const;
  bool outdone(const Peer& peer, std::uint32_t rail) const;
  void end_rounds(Peer& peer, std::uint32_t rail, std::uint64_t number);
  std::size_t full_probe_bytes(std::uint32_t rail) const;
  void sign_of_life(Peer& peer, std::uint32_t rail);
  void start_timers_again(Peer& peer, std::uint32_t rail);
  void note_answer(Peer& peer, std::uint32_t rail, const OpenQuestions::Question& question);
  void note_carried(Peer& peer, std::uint32_t rail, std::uint32_t bytes);
  void note_lost(Peer& peer, std::uint32_t rail, Fragment& fragment);
  void judge_losses(Peer& peer, std::uint32_t rail);
  void prove(Peer& peer, std::uint32_t rail);
  void ask(Peer& peer, std::uint32_t rail);
  void ask_others(Peer& peer, std::uint32_t rail);
  void ask_on(Peer& peer, std::uint32_t rail);
  void doubt(Peer& peer, std::uint32_t rail);
  void suspect(Peer& peer, std::uint32_t rail);
  void begin_put(Peer& peer, std::uint32_t rail, OutPacket& packet);
  void take_out(Peer& peer, std::uint32_t rail);
  void take_back(Peer& peer, std::uint32_t rail);
  void move_flight(Peer& peer, std::uint32_t rail);
  void send_owed_control(std::uint32_t rail);
  std::int64_t timeout_ns(const Peer& peer, const Path& path) const;
  void watch_rails(Peer& peer);

  // timers.cc
  void note(Peer& peer, std::int64_t deadline_ns);
  void serve(Peer& peer);
  std::int64_t serve_vfrags(Peer& peer);
  std::int64_t vfrag_timeout(Peer& peer, Vfrag& vfrag);
  bool may_go_again(Peer& peer, std::uint32_t rail);
  std::int64_t serve_paths(Peer& peer);
  std::int64_t serve_local_timer(Peer& peer, std::uint32_t rail);
  std::int64_t serve_silence(Peer& peer, std::uint32_t rail);
  std::int64_t serve_probes(Peer& peer, std::uint32_t rail);
  std::int64_t keepalive_gap(Peer& peer);
  std::int64_t serve_session(Peer& peer);
  void begin_waiting(Peer& peer);
  bool waits_for_acknowledgement(const Peer& peer) const;
  bool waits_for_peer(const Peer& peer) const;

  // rma.cc
  Landed land_write(Peer& peer, const wire::DataFrame& frame, std::span<const std::byte> payload);
  Landed land_read(Peer& peer, const wire::DataFrame& frame);
  Landed land_answer(Peer& peer, const wire::DataFrame& frame, std::span<const std::byte> payload);
  Landed land_done(Peer& peer, const wire::DataFrame& frame);
  Landed land_atomic(Peer& peer, const wire::DataFrame& frame, std::span<const std::byte> payload);
  void answered(OutMessage& message, Outcome outcome);

  Options options_;
  Host& host_;
  std::vector<RailRecord> rails_;
  std::vector<std::byte> name_;
  std::vector<std::byte> first_name_;  ///< before rename()
  Authenticator authenticator_;
  std::vector<std::unique_ptr<Peer>> peers_;  ///< by PeerId; null: never spoken to
  std::vector<Peer*> spoken_to_;
  WaitingList waiting_;
  AskingList asking_;  ///< messages of the caller's memory whose receivers were asked, and not all is summed
  std::uint64_t committed_bytes_ = 0;  ///< of the unexpected memory
  bool closed_ = false;

  Pool<OutMessage> out_messages_;
  Pool<Vfrag> vfrags_;
  Pool<FragmentBlock> blocks_;
  Pool<OutPacket> packets_;
  Pool<InMessage> in_messages_;
  Pool<ReceiveOp> receives_;
  Buffers buffers_;
  static constexpr std::size_t message_cost = sizeof(OutMessage) + sizeof(Vfrag);
  std::size_t log_bytes_ = 0;
  std::size_t logged_messages_ = 0;
  PostedList posted_[2];          ///< untagged, tagged
  UnexpectedList unexpected_[2];  ///< likewise
};

}  // namespace holdfast::transport
