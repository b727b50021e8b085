#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

namespace holdfast::launch {

/// Whether the processes of a job still come together in MPI_Init, which none leaves before all have entered it: one
/// that has ended before makes the others wait for ever, inside MPI. Members are numbered rank x degree + replica. No
/// I/O, no clock: what is known is looked at from time to time.
class StartUp {
 public:
  /// `degrees`: replicas by rank; `degree`: the most; `goes_on`: the launcher ends nobody because another has ended.
  StartUp(std::vector<int> degrees, int degree, bool goes_on);

  /// The member has said who it is: again, where it was a shell that has become the program.
  void come(int member);
  /// It has entered MPI_Init.
  void enter(int member);
  /// Its connection has ended, after it had said with which status it would end, or without a word.
  void leave(int member, std::optional<int> status, double seconds);

  /// One that will not come any more.
  struct Missing {
    int member;
    double seconds;  ///< when that was noticed or it left
    /// All replicas of its rank have ended so, or have said the same status other than 0: the program's doing.
    bool alike = false;
    std::optional<int> status{};  ///< with which it ended, if it said so
  };
  /// Nothing as long as all may still come, or nobody waits for them. `living`: members whose process is seen on this
  /// host; none where that cannot be seen. `limit_s`: how long those are waited for of whom nothing is known.
  std::optional<Missing> look(double seconds, const std::optional<std::set<int>>& living, double limit_s);
  /// Somebody has left before it was in MPI_Init, and may be why others fail there.
  bool misses_somebody() const;
  /// The launcher and all processes have ended: who left first. `launcher_lost`: a signal ended it; then nothing is the
  /// program's doing.
  std::optional<Missing> conclude(bool launcher_lost) const;

 private:
  struct Member {
    bool exists = false;
    bool there = false;
    bool entered = false;
    bool seen = false;         ///< alive, at some look, or by a connection
    double left = -1;          ///< seconds; -1: it has not been there
    double unseen_since = -1;  ///< the first of the last looks at which its process was not there; -1: it was
    std::optional<int> status;
  };
  void note_newcomers(double seconds);
  bool has_ended(const Member& member, double seconds, double limit_s, bool sees, bool lives) const;
  std::optional<Missing> earliest(const std::vector<bool>& ended, double seconds) const;
  bool may_be_followed(int member, const std::vector<bool>& ended) const;

  int degree_;
  bool goes_on_;
  std::vector<Member> members_;
  double waited_for_since_ = -1;
  std::ptrdiff_t seen_ = 0;    ///< members that have been seen
  double last_newcomer_ = -1;  ///< when that number grew, or somebody began to wait
  double first_missing_ = -1;
};

}  // namespace holdfast::launch
