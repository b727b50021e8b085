#include "replicate/mpi/io/written.h"

#include <atomic>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"

namespace holdfast::replicate {

namespace {

struct Said {
  WrittenStretch stretch;
  Ballot ballot;
  std::string name;
};
std::mutex written_mutex;
std::vector<Said> said;
std::atomic<bool> anything_said{false};

/// What is known of the present job. One thread at a time works on it, in a hook's turn.
struct WrittenComparison {
  explicit WrittenComparison(int degree) : ballots(degree) {}
  WrittenBallots ballots;
  std::unordered_map<std::uint64_t, std::string> names;        ///< by digest of the path
  std::set<std::pair<std::uint64_t, std::uint64_t>> reported;  ///< openings
};

WrittenComparison& comparison() {
  static WrittenComparison one(runtime().degree);
  return one;
}

std::string listed(const std::vector<int>& replicas) {
  std::string text;
  for (const int k : replicas) text += (text.empty() ? "" : ", ") + std::to_string(k);
  return text;
}

/// Those that are left, and what they said.
struct Voters {
  std::vector<int> replicas;
  std::vector<Ballot> ballots;
};

Voters voters(const std::vector<Ballot>& ballots) {
  Voters left;
  for (std::size_t k = 0; k < ballots.size(); ++k) {
    if (!runtime().here(static_cast<int>(k))) continue;
    left.replicas.push_back(static_cast<int>(k));
    left.ballots.push_back(ballots[k]);
  }
  return left;
}

std::string what_differs(const WrittenStretch& stretch, const Voters& all, const Verdict& verdict) {
  const auto name = comparison().names.find(stretch.path);
  std::vector<int> odd;
  for (std::size_t i = 0; i < all.replicas.size(); ++i) {
    const bool with_most =
        verdict.winner >= 0 && all.ballots[i] == all.ballots[static_cast<std::size_t>(verdict.winner)];
    if (!with_most) odd.push_back(all.replicas[i]);
  }
  return "the replicas of rank " + std::to_string(runtime().rank) + " have written different bytes to " +
         (name == comparison().names.end() ? "a file" : name->second) + ", past the first " +
         std::to_string(stretch.number * written_stretch_bytes) + " that they wrote there" +
         (stretch.opening > 0 ? " since opening it for time " + std::to_string(stretch.opening + 1) : "") + ": " +
         (verdict.winner < 0 ? "no majority among replicas " + listed(odd)
                             : "replica " + listed(odd) + " differs from the majority");
}

void judge(const WrittenStretch& stretch, const std::vector<Ballot>& ballots) {
  const Voters all = voters(ballots);
  const Verdict verdict = vote(all.ballots);
  ++runtime().counters[Count::written];
  if (verdict.unanimous || !comparison().reported.emplace(stretch.path, stretch.opening).second) return;
  const std::string what = what_differs(stretch, all, verdict);
  if (verdict.winner < 0 && runtime().options.on_corruption == OnCorruption::stop) fail(Incident::uncorrected, what);
  const std::size_t speaker = verdict.winner < 0 ? 0 : static_cast<std::size_t>(verdict.winner);
  if (all.replicas[speaker] == runtime().replica) say(what);
}

void file(const WrittenStretch& stretch, int replica, const Ballot& ballot) {
  if (const auto all = comparison().ballots.file(stretch, replica, ballot, runtime().gone)) judge(stretch, *all);
}

void send_to_team(const Said& one) {
  Runtime& state = runtime();
  Record record;
  record.kind = RecordKind::written;
  record.communicator = one.stretch.path;
  record.ordinal = one.stretch.opening;
  record.extra = one.stretch.number;
  record.bytes = one.ballot.bytes;
  record.digest = one.ballot.digest;
  for (int k = 0; k < state.degree; ++k)
    if (k != state.replica && state.here(k)) state.control.send(state.team_physical_rank(k), record);
}

}  // namespace

void say_written(const WrittenStretch& stretch, const Ballot& ballot, const std::string& name) {
  const std::lock_guard hold(written_mutex);
  said.push_back({stretch, ballot, name});
  anything_said.store(true, std::memory_order_release);
}

void compare_what_was_written() {
  if (!anything_said.load(std::memory_order_acquire)) return;
  std::vector<Said> all;
  {
    const std::lock_guard hold(written_mutex);
    all.swap(said);
    anything_said.store(false, std::memory_order_relaxed);
  }
  for (const Said& one : all) {
    comparison().names.emplace(one.stretch.path, one.name);
    send_to_team(one);
    file(one.stretch, runtime().replica, one.ballot);
  }
}

void receive_written(int replica, const Record& record) {
  file({record.communicator, record.ordinal, record.extra}, replica, {record.digest, record.bytes, true});
}

}  // namespace holdfast::replicate
