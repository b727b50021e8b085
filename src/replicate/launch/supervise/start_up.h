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
  /// `degrees`: replicas by rank; `degree`: the most.
  StartUp(std::vector<int> degrees, int degree);

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

 private:
  struct Member {
    bool exists = false;
    bool there = false;
    bool entered = false;
    bool seen = false;      ///< alive, at some look, or by a connection
    double left = -1;       ///< seconds; -1: it has not been there
    int looks_without = 0;  ///< in a row, at which its process was not there
    std::optional<int> status;
  };
  void note_newcomers(double seconds);
  bool has_ended(Member& member, double seconds, double limit_s, bool sees, bool lives) const;

  int degree_;
  std::vector<Member> members_;
  double waited_for_since_ = -1;
  std::ptrdiff_t seen_ = 0;    ///< members that have been seen
  double last_newcomer_ = -1;  ///< when that number grew, or somebody began to wait
  double first_missing_ = -1;
};

}  // namespace holdfast::launch
