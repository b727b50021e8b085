#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulate/job/collective.h"
#include "simulate/job/in_network.h"
#include "simulate/job/link_load.h"
#include "simulate/job/matching.h"
#include "simulate/job/open_operations.h"
#include "simulate/job/program.h"
#include "simulate/job/protection.h"
#include "simulate/job/protocol.h"
#include "simulate/job/replica_process.h"
#include "simulate/job/stable_pool.h"
#include "simulate/job/timeline.h"
#include "simulate/packet/traffic.h"

namespace holdfast::simulate::job {

/// A program and where it runs.
struct Job {
  Program program;
  Protocol protocol;
  std::vector<std::uint32_t> hosts;  ///< of each rank; with replicas, of those of replica 0, then of replica 1, ...
  double compute_scale = 1;          ///< of the time between calls
  Protection protection{};           ///< that check() has passed
  bool in_network = false;           ///< collectives that switches can do are theirs: JobTraffic::use()
};

/// What became of one rank, or one process of it.
struct RankOutcome {
  bool ended = false;
  Time end_ps = 0;        ///< when its last call returned, or what it had come to
  Time computing_ps = 0;  ///< of its first thread; the rest of its time it was in MPI
  Time overhead_ps = 0;   ///< of its processor, for messages
  std::string waits_for;  ///< of one that did not end: in words
};

/// How often an algorithm was used: collectives, counted once for all their ranks.
struct AlgorithmUse {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  ///< of the operation, as one rank gives them
};

/// Why the engine of a replicated job ended it, as `holdfast run` would say it.
struct JobIncident {
  replicate::Incident incident{};
  std::uint32_t rank = 0, replica = 0;  ///< who found it
  Time at_ps = 0;
  std::string call;     ///< what that process was at, in words
  std::string message;  ///< the engine's
};

/// What the engine did in a replicated job.
struct ReplicationOutcome {
  replicate::Counters counters;
  std::uint64_t records = 0, record_bytes = 0;  ///< control messages
  std::uint64_t copies = 0, copy_bytes = 0;     ///< whole messages and results beside the program's own
  std::uint64_t uncompared = 0;  ///< messages and accesses that it does not compare in a replay: of windows, neighbours
  bool threads = false;          ///< some rank has several: what its MPI answers is not told to its replicas
  std::map<std::pair<int, int>, std::uint64_t> wrong_copies;  ///< by rank and replica
  std::optional<JobIncident> incident;
};

struct JobOutcome {
  std::vector<RankOutcome> ranks;  ///< with replicas: those of replica 0, then of replica 1, ...
  std::map<std::pair<Operation, Algorithm>, AlgorithmUse> algorithms;
  std::uint64_t messages = 0, message_bytes = 0;  ///< of point-to-point calls and collectives, through the network
  std::uint64_t shared_messages = 0;              ///< likewise, inside hosts
  std::uint64_t rendezvous = 0;                   ///< of both
  std::uint64_t unreceived = 0;                   ///< messages that came and nobody received
  std::string first_unreceived;                   ///< in words
  std::optional<ReplicationOutcome> replication;  ///< of a job with replicas
};

/// Plays jobs on the hosts of a simulated network: their processes compute, call MPI, and exchange messages by its
/// protocol. Ranks of one host exchange them through its memory.
///
/// A process is its threads, each of which does one step after another, and the nonblocking collectives that it has
/// begun; all their overheads take one processor. What comes while no thread is in MPI waits for the next call that
/// does more than begin something, unless MPI makes progress by itself. Every host has its own queue of events; they
/// meet through the network alone, so that a host's events are taken only when the network asks or brings something.
/// The one thread of a rank that MPI makes no progress for may be ahead of the network: it computes and begins messages
/// without an event for each, up to its next call that looks at the network, and not beyond the run's limit.
///
/// With replicas each rank is several processes, and each replica of the job a world of its own, in which its messages
/// travel as they would without the others. What an engine says to another one is a message, too (replica_process.h).
class JobTraffic : public Traffic, private ReplicaWorld {
 public:
  /// Hosts of jobs are below `hosts`.
  JobTraffic(std::vector<Job> jobs, std::uint32_t hosts);

  Answer next(std::uint32_t host, Time now, Message& message) override;
  bool finite() const override { return true; }
  void begin(Player& player) override { player_ = &player, until_ = player.limit(); }
  void sent(std::uint32_t host, std::uint32_t tag, Time now) override;
  bool watches_deliveries() const override { return true; }
  void delivered(std::uint32_t destination, std::uint32_t tag, Time now, std::vector<std::uint32_t>& wake) override;
  bool done() const override { return ended_ == processes_.size(); }
  ~JobTraffic() override;

  const std::vector<Job>& jobs() const { return jobs_; }
  /// After the run.
  std::vector<JobOutcome> outcomes() const;

  /// Before the run: who does the collectives of jobs that are `in_network`. Only where the network itself plays this
  /// traffic, and nothing fails meanwhile.
  void use(std::unique_ptr<InNetwork> switches) { switches_ = std::move(switches); }

  /// Before the run: keep what its ranks do, in so many bins (timeline.h), of at most `ranks` of the first job, evenly
  /// spread, and who sends how much to whom.
  void observe(std::size_t ranks, std::size_t bins);
  /// The ranks of the timeline's rows.
  const std::vector<std::uint32_t>& observed() const { return observed_; }
  const Timeline& timeline() const { return timeline_; }
  /// Through the network, by hosts; empty unless observed.
  std::vector<Flow> flows() const;

 private:
  static constexpr std::uint32_t none = 0xffffffff;

  /// Who says that something is over: MPI, or the engine when MPI has the receive's message, or the copy.
  enum class Wanted : std::uint8_t { by_program, by_engine, copy };
  /// Something that began and will be over: a send, a receive, a collective, an access to a window.
  struct Pending {
    bool over = false;
    Time at = 0;
    std::uint32_t waiter = none;  ///< a strand
    bool collective = false;
    bool unasked = false;  ///< nobody waits for it: a copy that is sent
    Wanted wanted = Wanted::by_program;
    std::uint32_t number = none;   ///< of a receive, or a copy, there
    std::uint32_t process = none;  ///< whose engine that is
  };
  enum class Part : std::uint8_t { eager, ask, answer, data, put, get, acknowledgement, record, result };
  struct Letter {
    Part part = Part::eager;
    std::uint32_t from = 0, to = 0;  ///< processes
    Envelope envelope;
    std::uint64_t bytes = 0;
    std::uint32_t sends = none, receives = none;  ///< pending
    std::uint64_t name = 0, altered = 0;          ///< of its contents, with replicas
    // Through the network, in segments between which the adapter takes others.
    std::uint64_t unsent = 0;                  ///< bytes, with the header
    std::uint64_t to_take = 0, to_arrive = 0;  ///< segments
  };
  /// How far a collective has come with replicas.
  enum class Phase : std::uint8_t {
    operand,  ///< what the rank gives to it is compared
    entry,    ///< a barrier in which it answers others
    running,
    result,         ///< is compared
    operand_again,  ///< no majority: compared, and then
    entry_again,
    running_again,
    result_again,
    repeated,  ///< the result has no majority: all ranks make the reduction again
  };
  /// A thread, or a collective on its way.
  struct Strand {
    std::uint32_t process = 0;
    std::uint32_t thread = none;  ///< none: a collective
    Time at = 0;
    std::span<const Step> steps;  ///< of a thread; the program's
    std::size_t position = 0;
    bool computed = false;  ///< what stands before the step
    bool inside = false;    ///< in MPI; threads
    bool over = false;
    // Of a collective.
    std::vector<Action> actions;
    std::vector<std::uint32_t> begun;  ///< pending
    std::size_t waited = 0;            ///< of them
    std::uint32_t ends = none;         ///< pending: the collective itself
    std::uint32_t context = 0;
    std::int64_t tag = 0;
    Operation operation{};
    std::uint32_t root = 0;
    // With replicas.
    std::uint8_t answers = 0;  ///< of the step's, that are told
    std::size_t awaited = 0;   ///< waits of one call up to this position are known to the engine
    Phase phase = Phase::running;
    bool comparing = false;
    bool waiting = false;  ///< for that
    bool inner = false;
    std::unique_ptr<Collective> what;  ///< of a collective that is compared
  };
  /// A collective that switches do: who has come to it, by host.
  struct Meeting {
    struct Guest {
      std::uint32_t process = none, pending = none;
    };
    std::vector<std::uint32_t> hosts;  ///< in the order of ranks
    std::vector<Guest> guests;
    std::size_t missing = 0;
    std::size_t root = 0;       ///< an index into them
    Time last = 0;              ///< when the last of those that came did
    std::optional<Time> given;  ///< a broadcast: when the root did
  };
  /// Job, replica, context and tag.
  using MeetingKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t>;
  struct Probing {
    std::uint32_t strand;
    Envelope envelope;
  };
  struct Process {
    std::uint32_t job = 0, rank = 0, replica = 0, host = 0;
    Matching matching;
    std::unique_ptr<ReplicaProcess> engine;       ///< with replicas
    std::vector<std::uint32_t> awaiting_answers;  ///< strands, for what the leader says
    std::vector<std::uint32_t> threads;           ///< strands
    std::uint32_t threads_left = 0;
    std::uint32_t inside = 0;  ///< threads in MPI
    bool ended = false;
    bool alone = false;     ///< its one thread decides when MPI looks at the network, and no engine does
    Time inside_until = 0;  ///< its last call returns then, though the thread went on
    Time end = 0, processor_free = 0;
    std::vector<std::pair<bool, std::uint32_t>> deferred;  ///< a letter (true) or a strand, for the next call
    OpenOperations operations;                             ///< of the program: pending
    std::vector<Probing> probing;
    std::uint32_t accesses = 0;
    std::vector<std::uint32_t> awaiting_accesses;  ///< strands
    Time computing = 0, overhead = 0;
    std::uint32_t row = none;  ///< of the timeline
    Activity activity = Activity::computing;
    Time since = 0;  ///< it does that
  };
  enum class Kind : std::uint8_t { resume, letter };
  struct LocalEvent {
    Time at;
    std::uint64_t order;
    Kind kind;
    std::uint32_t index;
    bool operator>(const LocalEvent& other) const { return at > other.at || (at == other.at && order > other.order); }
  };
  struct Leaving {
    Time at;
    std::uint64_t order;
    std::uint32_t letter;
    bool operator>(const Leaving& other) const { return at > other.at || (at == other.at && order > other.order); }
  };
  struct Host {
    std::priority_queue<LocalEvent, std::vector<LocalEvent>, std::greater<>> events;
    std::priority_queue<Leaving, std::vector<Leaving>, std::greater<>> leaving;
    std::uint64_t order = 0;
    Time asked_at = 0;  ///< when the network asks it next, as far as that was agreed; 0: when its adapter is free

    /// When something is to be done for it; never: nothing is.
    Time next() const {
      const Time event = events.empty() ? never : events.top().at;
      return leaving.empty() ? event : std::min(event, leaving.top().at);
    }
  };

  const Job& job_of(const Process& process) const { return jobs_[process.job]; }
  const Protocol& protocol_of(const Process& process) const { return jobs_[process.job].protocol; }
  std::uint64_t segment_of(const Process& process) const;
  /// In the same world.
  std::uint32_t process_of(const Process& near, std::uint32_t rank) const {
    return first_[near.job] + near.replica * ranks_of(near.job) + rank;
  }
  std::uint32_t ranks_of(std::uint32_t job) const {
    return static_cast<std::uint32_t>(jobs_[job].program.ranks.size());
  }

  void push(std::uint32_t host, Time at, Kind kind, std::uint32_t index);
  void ask_for(std::uint32_t host);
  void advance(std::uint32_t host, Time now);
  void resume(std::uint32_t strand, Time now);
  void run_thread(std::uint32_t strand, Time now);
  void compute(Strand& strand, const Step& what);
  void run_collective(std::uint32_t strand, Time now);
  bool step(std::uint32_t strand, const Step& what);
  bool act(std::uint32_t strand, const Action& what);
  bool by_switches(const Process& process, const Collective& collective);
  void meet(std::uint32_t strand, std::uint64_t bytes, std::uint32_t pending);
  void hand_result(const Meeting& meeting, std::size_t guest, std::uint64_t bytes, Time at, std::uint32_t host);
  Meeting open_meeting(const Strand& strand) const;
  void enter(Strand& strand, Time now);
  void leave(Strand& strand);
  void end_thread(std::uint32_t strand, Time now);
  bool makes_progress(const Process& process, Time now) const;
  bool goes_on(const Strand& strand) const;
  void turns_to(const Strand& strand, Activity activity);
  Activity activity_of(Process& process, const Step& what);

  std::uint32_t take_pending();
  void free_pending(std::uint32_t pending);
  void complete(std::uint32_t pending, Time at, std::uint32_t host);
  bool await(std::uint32_t pending, std::uint32_t strand);
  std::uint32_t operation(Process& process, std::uint32_t number);

  std::uint32_t take_letter(const Letter& letter);
  Time spend(Process& process, Time at, Time cost);
  void send(std::uint32_t strand, std::uint32_t to, const Envelope& envelope, std::uint64_t bytes, bool synchronous,
            std::uint32_t pending);
  Time send_at(std::uint32_t process, std::uint32_t to, Time at, const Letter& what, bool synchronous);
  void post_at(std::uint32_t process, Time at, const Envelope& envelope, std::uint32_t pending);
  void post(std::uint32_t strand, const Envelope& envelope, std::uint32_t pending);
  void begin_collective(std::uint32_t strand, const Step& what, std::uint32_t pending);
  void begin_access(std::uint32_t strand, const Step& what);
  void access_over(std::uint32_t process, std::uint32_t pending, Time now);
  void dispatch(std::uint32_t letter, Time at);
  void take_in(std::uint32_t letter, Time now);
  void handle(std::uint32_t letter, Time now);
  void receive_eager(std::uint32_t letter, std::uint32_t pending, Time now);
  void answer(std::uint32_t letter, std::uint32_t pending, Time now);
  void send_data(std::uint32_t letter, Time now);
  bool is_local(const Letter& letter) const { return processes_[letter.from].host == processes_[letter.to].host; }
  std::uint32_t sending_end(const Letter& letter) const;
  bool stopped(std::uint32_t process) const { return stopped_[processes_[process].job]; }
  void start_activity(std::uint32_t strand, const Collective& collective, bool counts);

  // With replicas (job_traffic_replicas.cc).
  static constexpr std::uint32_t copies_context = 0xffffffff;  ///< of messages that engines exchange
  /// Of the program's own messages; what collectives and windows send is MPI's.
  static bool is_compared(std::uint32_t context) { return context % 2 == 0; }
  ReplicationOutcome& replication_of(std::uint32_t process) { return *outcomes_[processes_[process].job].replication; }
  void hand_to_engine(const Letter& letter, std::uint32_t pending);
  void make_replicas();
  /// Calls the engine of a process, where it has one and its job goes on.
  template <class Call>
  void with_engine(std::uint32_t process, Call call) {
    if (!processes_[process].engine || stopped(process)) return;
    try {
      call(*processes_[process].engine);
    } catch (const JobEnds& why) {
      stop(process, why);
    }
  }
  void stop(std::uint32_t process, const JobEnds& why);
  void look(std::uint32_t process, Time at);
  void post_compared(std::uint32_t strand, const Step& what, std::uint32_t pending);
  void came(std::uint32_t pending, Time at);
  void expect(std::uint32_t strand, std::uint32_t pending);
  void expect_row(std::uint32_t strand);
  bool hears_leader(std::uint32_t strand, const Step& what);
  void tell_answers(std::uint32_t strand, const Step& what);
  bool may_probe(std::uint32_t strand, const Step& what);
  void begin_phases(std::uint32_t strand, Collective collective, bool inner);
  bool next_phase(std::uint32_t strand);
  void enter_phase(std::uint32_t strand, Phase phase);
  void compare(std::uint32_t strand);
  void read_record(std::uint32_t letter, Time now);
  std::string doing_in_words(const Process& process) const;

  Time spend(std::uint32_t process, Time at, Time cost) override { return spend(processes_[process], at, cost); }
  Time carry(std::uint32_t process, std::uint32_t to, Time at, std::vector<std::byte> record) override;
  Time carry_copy(std::uint32_t process, std::uint32_t to, Time at, std::uint64_t number, std::uint64_t bytes) override;
  void await_copy(std::uint32_t process, Time at, std::uint32_t from, std::uint64_t number,
                  std::uint64_t token) override;
  void post(std::uint32_t process, Time at, const Envelope& envelope, std::uint32_t pending) override;
  void deliver(std::uint32_t process, Time at, std::uint32_t pending) override;
  void settle(std::uint32_t process, Time at, const ResultContent& result) override;
  void told(std::uint32_t process, Time at) override;
  void all_ended(std::uint32_t process, Time at) override;
  std::string waiting_in_words(const Process& process) const;

  Player* player_ = nullptr;
  Time until_ = 0;  ///< threads that are alone may be ahead of the network up to here
  std::unique_ptr<InNetwork> switches_;
  std::map<MeetingKey, Meeting> meetings_;
  std::vector<Job> jobs_;
  std::vector<std::uint32_t> first_;  ///< by job: its rank 0 among the processes
  std::vector<Process> processes_;
  std::vector<Host> hosts_;
  StablePool<Strand> strands_;  ///< strands begin strands
  std::vector<std::uint32_t> free_strands_;
  std::vector<Pending> pending_;
  std::vector<std::uint32_t> free_pending_;
  std::vector<Letter> letters_;
  std::vector<std::uint32_t> free_letters_;
  std::vector<JobOutcome> outcomes_;
  std::size_t ended_ = 0;
  std::vector<std::unique_ptr<Replicas>> replicas_;                    ///< by job; none of one without
  std::vector<bool> stopped_;                                          ///< by job: its engine has ended it
  std::unordered_map<std::uint32_t, std::vector<std::byte>> records_;  ///< by letter
  bool observes_ = false;
  std::vector<std::uint32_t> observed_;
  Timeline timeline_{0, 2};
  std::unordered_map<std::uint64_t, std::uint64_t> sent_;  ///< bytes, by sending host << 32 | receiving host
};

}  // namespace holdfast::simulate::job
