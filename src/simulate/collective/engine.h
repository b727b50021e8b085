#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "core/event/counters.h"
#include "core/random/stream.h"
#include "simulate/collective/disturbance.h"
#include "simulate/collective/operands.h"
#include "simulate/collective/packet.h"
#include "simulate/collective/scheme.h"
#include "simulate/collective/tree.h"
#include "simulate/kernel/event_queue.h"

/// The simulation of collectives in the fabric, packet by packet.
///
/// On the way up, a switch takes a packet in whole, checks it, and brings its operand into the sum; when all children
/// have come, the sum goes to the parents one switch delay later. On the way down a packet is forwarded one switch
/// delay after its first bit has come in (cut-through). A packet that turns out bad when it has been forwarded already
/// is ended as bad ("end bad packet"), and the receivers behind know that it was asked for again where the error was
/// found. A receiver acknowledges the first good copy of what it waits for; it asks for a repetition when all copies of
/// a transmission have come, none was good, and at least one went bad on this very link. A sender that hears nothing
/// repeats after the local timeout.
///
/// Acknowledgements travel in a lane of their own with priority: they take their time, and may be hit, but do not delay
/// data. docs/design/fabric-collectives.md works out what follows in closed form.
namespace holdfast::simulate::collective {

enum class Count : std::uint8_t {
  packets,
  corrupted,
  undetected,
  ended_bad,
  duplicates,
  acknowledgements,
  naks,
  control_lost,
  repetitions,
  timeouts,
  link_retries,
  lost,
  given_up,
  count
};
inline constexpr event::CounterRows<Count> count_rows = {{
    {"packets", "packets", "Data packets sent over a link, copies and repetitions included."},
    {"corrupted", "packets", "Data packets that a bit error hit on a link while they were still good."},
    {"undetected", "packets", "Corrupted packets that both checksums took for good."},
    {"ended_bad", "packets", "Packets forwarded by cut-through that were ended as bad."},
    {"duplicates", "packets", "Good packets that brought nothing new and were discarded."},
    {"acknowledgements", "packets", "Acknowledgements sent."},
    {"naks", "packets", "Negative acknowledgements sent."},
    {"control_lost", "packets", "Acknowledgements of either kind that a bit error hit."},
    {"repetitions", "transmissions", "Transmissions repeated after a negative acknowledgement."},
    {"timeouts", "transmissions", "Transmissions repeated because nothing had been heard."},
    {"link_retries", "packets", "Packets repeated by the link itself."},
    {"lost", "packets", "Packets sent into a link that was down, or lost by a routing error or a buffer overrun."},
    {"given_up", "links", "Links given up after as many timeouts as the limit allows."},
}};
using Counts = event::Counters<Count>;

/// One collective to simulate. What it points to must outlive the run.
struct Collective {
  const Tree* tree = nullptr;
  Combine combine = Combine::sum;
  Operand operand = Operand::integer;
  Operation operation = Operation::allreduce;
  std::uint64_t bytes = 256;  ///< of operands a host: a multiple of 8; split into segments of one MTU; 0 for a barrier
  Time start_ps = 0;
  std::uint32_t host = 0;                   ///< reduce: who gets the result; broadcast: who has the data
  std::vector<Contribution> contributions;  ///< by node: hosts' operands; of a switch, what is known of it beforehand
  Contribution total;                       ///< what must come out
  std::span<const double> tolerances;       ///< floating point: by how much each number may differ from it
};

struct Outcome {
  bool complete = false;  ///< every host that waits for the result has got it
  bool correct = false;   ///< complete, and everybody got the right one
  /// When the last segment's reduction was done at the first root to have it, and when the last host had everything.
  /// From the collective's start; meaningful when complete.
  Time root_ps = 0;
  Time last_host_ps = 0;
  Time ended_ps = 0;  ///< when nothing more could happen, for one that is not complete
  Counts counts;      ///< of the whole run
  /// Floating point: whether hosts got results of different bits, and a digest of the first host's.
  bool split = false;
  std::uint64_t digest = 0;
};

/// How much of it is played.
enum class Detail : std::uint8_t {
  needed,      ///< copies that can change nothing any more are counted, not played; good packets' bytes are not made
  everything,  ///< every packet is made, sent and checked byte by byte
};

/// Runs simulations, one after another, and keeps its memory between them. Deterministic. Not thread-safe: one a
/// thread.
class Engine {
 public:
  /// The scheme and assumptions must have passed check().
  Engine(const Scheme& scheme, const Assumptions& assumptions, Detail detail = Detail::needed);

  /// Simulates these collectives, which share wires of the same number, under one disturbance. Ends when all are
  /// complete or nothing more can happen.
  std::vector<Outcome> run(std::span<const Collective> collectives, const Disturbance& disturbance);

  /// The last run's times, from the collective's start, at which each of its hosts had everything; 0 where it had not.
  std::vector<Time> host_times(std::uint32_t collective) const;

  /// When the last data packet of the last run() had left its wire, from the run's start.
  Time quiet_ps() const;
  /// Disturbance::waiting of a run that begins `at` (from the start of the last one): strikes of before that met no
  /// packet. All 0 where strikes do not wait.
  std::vector<std::uint8_t> waiting_at(Time at) const;

  /// A channel of a wire in one direction.
  static std::size_t channel_index(std::uint32_t wire, Direction direction, std::uint32_t channel) {
    return (std::size_t{wire} * 2 + static_cast<std::size_t>(direction)) * most_copies + channel;
  }

 private:
  enum class Fate : std::uint8_t { good, hit, ended_bad, lost };
  enum class Kind : std::uint32_t { good_tail, bad_tail, head, control, ready };

  struct Incoming {  // a packet on its way into a node, or in it
    Time head = 0;
    Time tail = 0;
    Value value;
    std::uint32_t flow = 0;
    std::uint32_t edge = 0;
    std::uint16_t attempt = 0;
    std::uint8_t channel = 0;
    std::uint8_t expected = 1;  // copies of this transmission, over all channels, as its packets say
    Fate fate = Fate::good;
    Direction direction = Direction::up;
  };
  enum class Task : std::uint8_t { arrive, acknowledged, repeat, timeout, sum_ready, start };
  struct Pending {
    Incoming packet;
    Task task = Task::arrive;
    std::uint32_t node = 0;
  };

  struct Side {  // of an edge in one direction, in one flow
    // the sender's
    Time last_tail = 0;
    std::uint16_t attempt = 0;
    std::uint8_t retries = 0;
    std::uint8_t good_sent = 0;
    bool acknowledged = false;
    bool timer = false;
    std::uint8_t burst = 0;        // bits, by cable: a burst hit this attempt, the copies that follow are hit as well
    bool good_on_the_way = false;  // a good copy of this attempt is due: further ones change nothing
    // the receiver's
    bool received = false;
    bool hit_here = false;
    bool active = false;
    std::uint8_t arrived = 0;
    std::uint16_t receiving = 0;  // the attempt that arrives
    std::uint16_t answered = 0;   // the last attempt that was acknowledged
    Incoming current;             // while active: the copy that comes in
  };
  struct NodeState {
    std::uint32_t missing = 0;
    bool summed = false;
    bool holds_result = false;
    bool forwarded_good = false;
    bool sending = false;         // its sum counts as outstanding
    std::uint32_t source = none;  // the edge whose copies are being forwarded
    std::uint16_t source_attempt = 0;
    Value sum;
    Value result;
  };
  struct Flow {
    std::uint32_t collective = 0;
    std::uint32_t segment = 0;
    std::uint32_t hosts_left = 0;
    std::uint32_t words = 0;
    Time duration[2][2] = {};  // of a packet: [the edge is a host's][direction]
    bool root_done = false;
    bool right = true;
    std::vector<NodeState> nodes;
    std::vector<Side> sides;          // edge * 2 + direction
    std::vector<std::uint64_t> sums;  // a row a switch
    std::vector<std::uint64_t> expected;
    std::deque<std::vector<std::uint64_t>> flipped;  // operands that an undetected error changed
    const std::uint64_t* verified = nullptr;
    std::uint64_t verified_shift = 0;
    std::uint64_t digest = 0;  // floating point: of the first result that a host got
  };
  struct Running {  // a collective
    const Collective* what = nullptr;
    std::uint32_t first_flow = 0;
    std::uint32_t segments = 0;
    std::uint32_t flows_left = 0;
    std::vector<std::uint8_t> on_path;       // reduce, broadcast: nodes on the way between the host and the roots
    std::vector<std::uint32_t> outstanding;  // by node
    std::vector<std::uint32_t> started;      // by host: segments begun
    std::vector<std::deque<std::uint32_t>> waiting;  // by node: flows whose sum waits for room
    std::vector<Time> host_done;
    Outcome outcome;
  };
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  const Tree& tree_of(const Flow& flow) const { return *running_[flow.collective].what->tree; }
  Side& side(Flow& flow, std::uint32_t edge, Direction direction) {
    return flow.sides[std::size_t{edge} * 2 + static_cast<std::size_t>(direction)];
  }

  void load(const Disturbance& disturbance, std::uint32_t wires);
  void begin(std::span<const Collective> collectives);
  void activate(Flow& flow);
  void play();
  void play_heads();
  void order_instant();
  void dispatch(const Pending& pending);
  void push(Time at, Kind kind, const Pending& pending);

  // sending
  /// The bit of the cable that the packet goes through.
  static std::uint8_t cable_bit(const TreeEdge& edge, std::uint32_t channel) {
    return static_cast<std::uint8_t>(1U << (edge.cables ? channel : 0));
  }
  Time packet_duration(const Flow& flow, bool host_edge, Direction direction) const;
  Fate reserve(Incoming& packet, Time earliest, Time least_tail, bool arrives_bad);
  bool struck(std::span<const Strike> strikes, std::uint32_t& met, std::uint8_t channel, Time start, Time end) const;
  bool hit_data(Side& side, const Incoming& packet, const TreeEdge& edge, Time start, Time end);
  bool hit_control(std::uint32_t wire, Time start, Time end) const;
  Fate corrupt(Incoming& packet);
  void begin_attempt(Flow& flow, std::uint32_t edge, Direction direction);
  void send_copies(std::uint32_t flow, std::uint32_t edge, Direction direction, Time earliest, const Value& value,
                   std::uint32_t copies);
  void send_whole(std::uint32_t flow, std::uint32_t edge, Direction direction, Time earliest, const Value& value);
  void deliver(const Incoming& packet);
  void arm_timer(std::uint32_t flow, std::uint32_t edge, Direction direction);

  // control
  void answer(const Incoming& to, bool good);
  void acknowledged(std::uint32_t flow, std::uint32_t edge, Direction direction);
  void repeat(std::uint32_t flow, std::uint32_t edge, Direction direction, std::uint16_t attempt, bool timeout);

  // receiving
  void start(std::uint32_t collective);
  void sum_ready(std::uint32_t flow, std::uint32_t node);
  void send_sum(std::uint32_t flow, std::uint32_t node);
  void tail_up(const Incoming& packet);
  void head_down(const Incoming& packet);
  void tail_down(const Incoming& packet);
  static bool note_arrival(Side& side, const Incoming& packet);
  void attempt_over(const Incoming& packet);
  void adopt(Flow& flow, std::uint32_t node, std::uint32_t edge);
  void forward(Flow& flow, std::uint32_t node, const Incoming& packet, Time start);
  void forward_stored(std::uint32_t flow, std::uint32_t node);
  void top_up(std::uint32_t flow, std::uint32_t node, const TreeEdge& in);
  void host_done(Flow& flow, std::uint32_t node, const Value& value);
  void judge(Flow& flow, std::uint32_t node, const Value& value);
  /// Whether a node sends its sum up, or gets the result: all do, but in a broadcast and a reduce.
  bool sends_up(const Running& running, std::uint32_t node) const {
    return running.what->operation != Operation::broadcast || running.on_path[node] != 0;
  }
  bool gets_result(const Running& running, std::uint32_t node) const {
    return running.what->operation != Operation::reduce || running.on_path[node] != 0;
  }

  Scheme scheme_;
  Assumptions assumptions_;
  bool everything_;
  EventQueue queue_;
  Time base_ = 0;
  Time now_ = 0;
  std::vector<Pending> slab_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Event> instant_;
  std::vector<Incoming> heads_;
  std::vector<std::pair<std::uint64_t, Event>> ordered_;
  std::vector<Flow> flows_;
  std::uint32_t flow_count_ = 0;
  std::vector<Running> running_;
  std::uint32_t collectives_left_ = 0;
  bool windowed_ = false;
  Counts counts_;

  // by channel_index(): wire, direction, channel
  std::vector<Time> busy_;
  std::vector<std::uint8_t> named_;
  std::vector<std::uint32_t> met_[2];  // waiting strikes that have hit, of everywhere_ and of the wire's own
  std::vector<std::uint8_t> waiting_;  // as Disturbance::waiting, until a packet has been hit
  bool any_named_ = false;
  bool any_strikes_ = false;
  std::vector<Strike> everywhere_;
  std::vector<std::vector<Strike>> by_wire_;
  std::vector<std::uint32_t> struck_wires_;
  std::vector<Time> cut_at_;
  random::Stream bits_{0};
  const Disturbance* disturbance_ = nullptr;
  std::vector<std::byte> bytes_;
};

}  // namespace holdfast::simulate::collective
