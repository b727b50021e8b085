#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replicate/engine/membership_message.h"
#include "replicate/launch/supervise/patience.h"
#include "replicate/launch/supervise/start_up.h"

namespace holdfast::launch {

/// A process that ended without a word, or that went another way than the other replicas of its rank.
struct Death {
  int rank = -1;
  int replica = -1;
  double seconds = 0;   ///< after the start of the job
  int degree_left = 0;  ///< replicas that went on
  bool diverged = false;
};

/// Who of a job is there: each process by its connection, and what follows when one ends without a word, or goes
/// another way than most replicas of its rank (docs/design/dead-replicas.md). Where the job is to go on, the process's
/// whole replica is taken out, and everybody is told, in one order. No I/O, no clock; one thread at a time.
class JobMembership {
 public:
  /// `goes_on`: as long as a replica is left; else the launcher ends the job, and the membership only remembers why.
  JobMembership(int ranks, int degree, bool goes_on)
      : JobMembership(std::vector<int>(static_cast<std::size_t>(ranks), degree), goes_on) {}
  /// `degrees`: replicas by rank; the same for all where the job goes on. `silence_limit_s`: of its processes.
  JobMembership(const std::vector<int>& degrees, bool goes_on, double silence_limit_s = 120);

  struct Addressed {
    int member;
    replicate::MembershipMessage message;
  };

  /// A connection's first word. The member it stands for, -1 when it is nobody's, or the member is in MPI already.
  /// Before that a second one takes the place of the first: a shell has started the program and waits for it.
  int join(int rank, int replica);
  /// What a member has said, so many seconds after the start.
  void hear(int member, const replicate::MembershipMessage& message, double seconds = 0);
  /// The connection of a member has ended, so many seconds after the start.
  void close(int member, double seconds);

  /// Whether somebody waits in MPI_Init, which is not over everywhere: then look() is to be called, a few times a
  /// second.
  bool starting() const { return entered_ && !launched_ && verdict_.empty(); }
  /// Whether somebody has been in MPI_Init.
  bool entered() const { return entered_; }
  /// Looks for those who will not come any more (StartUp::look).
  void look(double seconds, const std::optional<std::set<int>>& living, double limit_s);
  /// One has failed in MPI_Init, perhaps for another that had ended before: look() will decide.
  bool failing() const { return failed_at_start_ && starting(); }
  /// The launcher has ended, and all processes with it (`launcher_lost`: by a signal): decides what look() had not yet.
  void conclude(bool launcher_lost);

  /// Whether a process has ended by the program's doing before MPI_Finalize, and the other replicas of its rank may
  /// follow: then follow() is to be called, a few times a second.
  bool undecided() const { return verdict_.empty() && !ended_.empty(); }
  /// Takes out those whom no other replica of their rank has followed in time.
  void follow(double seconds);
  /// "rank 1 ended with status 5 without MPI_Finalize, in its 3 replicas": a rank of which most replicas did, and the
  /// others are gone. Where a launcher ended the job at the first end, that one, once nobody is left. Empty: none.
  std::string early_end() const;

  /// Members have come, and none is there any more.
  bool deserted() const;

  /// What is to be sent; emptied by the caller.
  std::vector<Addressed>& outgoing() { return outgoing_; }
  /// Why the job must be ended now; empty: it need not.
  const std::string& verdict() const { return verdict_; }
  /// The verdict is on the program itself, which did the same in all replicas.
  bool programs_doing() const { return programs_doing_; }
  bool goes_on() const { return goes_on_; }
  /// Somebody was in MPI_Init, which was never over everywhere, when another had ended without a word: whatever status
  /// the launcher gives is perhaps that of one whose MPI_Init failed for it.
  bool died_at_start() const { return entered_ && !launched_ && !deaths_.empty(); }
  /// How many processes the job has.
  std::size_t size() const { return members_.size(); }
  /// The job has outlived a death, and all processes that were left have said how they ended and are gone. (Open MPI's
  /// mpirun does not notice that where the dead one ran on another host.)
  bool over() const;
  /// In the order in which they were noticed. Where the job does not go on: only the first, which the launcher's ending
  /// of all others follows.
  std::vector<Death> deaths() const;
  bool gone(int replica) const { return gone_[static_cast<std::size_t>(replica)]; }
  int degree_left() const;
  /// The replica whose output and files are the job's: the lowest that is left, -1 without one.
  int leader() const;
  /// The job's exit status: the first of the ranks' that is not 0, by what most of the replicas that are left said.
  /// Nothing when a rank said none.
  std::optional<int> status() const;

 private:
  enum class Phase { absent, joined, starting, ready, finishing, finished };
  struct Member {
    bool exists = true;
    Phase phase = Phase::absent;
    bool there = false;
    bool came = false;      ///< it has been there
    bool past_mpi = false;  ///< it has said so
    bool early = false;     ///< it has ended by exit(), _exit() or MPI_Abort since MPI_Init and before MPI_Finalize
    std::optional<int> status;
  };
  /// One that is past MPI_Finalize may end by _exit() and the like, without a word. The launcher knows more, where it
  /// does.
  static std::optional<int> status_of(const Member& member);
  int rank_of(int member) const { return member / degree_; }
  int replica_of(int member) const { return member % degree_; }
  bool all_past(Phase phase) const;
  void tell(int member, replicate::MembershipMessage::Kind kind, int number = -1);
  void lose(int member, double seconds);
  std::string early_end_of(int rank) const;
  void end_by_program();
  void accuse(int member, int replica, double seconds);
  void take_out(const Death& death);
  void answer_waiting(int member, const replicate::MembershipMessage& message, double seconds);
  void start_together();
  void end_together();
  void miss(const StartUp::Missing& missing);

  int ranks_;
  int degree_;
  bool goes_on_;
  bool entered_ = false;   ///< somebody is in MPI_Init
  bool launched_ = false;  ///< MPI_Init was over everywhere
  bool ending_told_ = false;
  bool ended_by_program_ = false;  ///< a process ended by exit() before MPI_Finalize
  std::vector<Member> members_;
  std::vector<bool> gone_;
  std::map<int, std::set<int>> accusers_;  ///< members, by the member that they say has diverged
  std::map<int, double> ended_;            ///< members that ended early and are not taken out yet, and when
  std::vector<Death> deaths_;
  std::vector<Addressed> outgoing_;
  std::string verdict_;
  bool programs_doing_ = false;
  bool failed_at_start_ = false;
  StartUp start_;
  Patience patience_;
};

/// "rank 1 replica 2 died 3.2 s after the start: replica 2 is taken out, 2 replicas go on", for people.
std::string death_line(const Death& death);
/// For the record: [{rank, replica, seconds, degree_left}].
nlohmann::ordered_json death_record(const std::vector<Death>& deaths);

}  // namespace holdfast::launch
