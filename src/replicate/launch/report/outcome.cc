#include "replicate/launch/report/outcome.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <map>
#include <set>
#include <tuple>

#include "core/status/exit_code.h"

namespace holdfast::launch {
namespace {

Outcome make(Exit code, std::string message) {
  return {static_cast<int>(code), std::move(message)};
}

std::string place(const Incident& incident) {
  return "rank " + std::to_string(incident.rank) + " replica " + std::to_string(incident.replica);
}

std::string words(const Incident& incident) {
  if (!incident.message.empty()) return incident.message;
  return place(incident) + ": " + (incident.kind.empty() ? "an incident of no kind" : incident.kind);
}

const Incident* first_of(const std::vector<Incident>& incidents, std::initializer_list<std::string_view> kinds) {
  for (std::string_view kind : kinds)
    for (const Incident& incident : incidents)
      if (incident.kind == kind) return &incident;
  return nullptr;
}

/// The time of a file is that of the kernel's last tick, which may be before a clock that was read just before.
constexpr std::int64_t clock_grain_ns = 20'000'000;

/// The corruption from which an end may have followed: the earliest that had been seen until then, of the replica
/// itself where there is some. A corrupt replica can harm others too: processes of a host share MPI's memory.
const Corruption* cause_of(const Evidence& evidence, const Incident* incident) {
  const Corruption* first = nullptr;
  for (const Corruption& seen : evidence.corruption) {
    if (incident && incident->written_ns > 0 && seen.at_ns > incident->written_ns + clock_grain_ns) continue;
    if (!first) first = &seen;
    if (incident && seen.replica == incident->replica) return &seen;
  }
  return first;
}

std::string after(const Evidence& evidence, const Corruption* cause) {
  return cause ? "; before that " + corruption_line(*cause, evidence.faults) : "";
}

/// What a replica did that the others of its rank did not: the first of these.
const Incident* first_odd(const std::vector<Incident>& incidents) {
  const std::array<std::string_view, 5> kinds{"diverged", "crash", "abort", "silent", "unreadable"};
  const Incident* first = nullptr;
  for (const std::string_view kind : kinds)
    for (const Incident& incident : incidents)
      if (incident.kind == kind && (!first || incident.written_ns < first->written_ns)) first = &incident;
  return first;
}

bool ends_a_replica(const Incident& incident) {
  return incident.kind == "crash" || incident.kind == "abort";
}

/// A crash or abort that all replicas of its rank had alike (same kind, same signal): a fault of the application, since
/// a flipped bit strikes one replica only.
const Incident* alike_in_all_replicas(const Evidence& evidence) {
  using Manner = std::tuple<int, std::string, int>;
  std::map<Manner, std::set<int>> replicas;
  for (const Incident& incident : evidence.incidents) {
    if (!ends_a_replica(incident)) continue;
    std::set<int>& seen = replicas[{incident.rank, incident.kind, incident.signal}];
    seen.insert(incident.replica);
    if (static_cast<int>(seen.size()) >= degree_of(evidence, incident.rank)) return &incident;
  }
  return nullptr;
}

Outcome judge_incidents(const Evidence& evidence) {
  const auto& incidents = evidence.incidents;
  if (const Incident* found = first_of(incidents, {"bad_input"})) return make(Exit::bad_input, words(*found));
  if (const Incident* found = first_of(incidents, {"refused"})) return make(Exit::refused, words(*found));
  if (const Incident* found = first_of(incidents, {"uncorrected"})) return make(Exit::uncorrected, words(*found));
  if (const Incident* found = first_of(incidents, {"lost_peer"})) return make(Exit::lost_peer, words(*found));
  if (const Incident* found = first_of(incidents, {"application"})) return make(Exit::application, words(*found));
  if (const Incident* found = alike_in_all_replicas(evidence)) {
    const int degree = degree_of(evidence, found->rank);
    std::string all = degree > 1 ? ", in all " + std::to_string(degree) + " replicas alike" : "";
    const Corruption* cause = cause_of(evidence, found);
    // Replicas that decide alike are right about it; that crash alike, perhaps not.
    const bool doubtful = degree > 1 && cause && found->kind == "crash";
    return make(doubtful ? Exit::diverged : Exit::application,
                (doubtful ? "" : "the application failed: ") + words(*found) + all + after(evidence, cause));
  }
  if (const Incident* found = first_odd(incidents))
    return make(Exit::diverged, words(*found) + after(evidence, cause_of(evidence, found)));
  return make(Exit::internal, words(incidents.front()));
}

/// What ended a replica without which the job went on.
bool was_survived(const Evidence& evidence, const Incident& incident) {
  return evidence.goes_on && evidence.verdict.empty() && ends_a_replica(incident) &&
         std::any_of(evidence.deaths.begin(), evidence.deaths.end(),
                     [&](const Death& death) { return death.replica == incident.replica; });
}

/// The program ended well: can it be shown that what it did was verified?
Outcome judge_proof(const Evidence& evidence) {
  if (evidence.degree < 2) return {};
  if (evidence.disk_full && (evidence.record.is_null() || !evidence.missing.empty()))
    return make(Exit::unavailable,
                "the program ended well, but nothing shows that it was verified: the disk of the run directory is "
                "full: make room, or name another folder with --output");
  if (evidence.record.is_null() && !evidence.early_end.empty())
    return make(Exit::application, "the application failed by itself: " + evidence.early_end);
  if (evidence.record.is_null())
    return make(Exit::internal,
                "the program ended well, but nothing shows that it was verified: it never went through MPI_Init and "
                "MPI_Finalize with Holdfast's library, or the record of it is gone");
  if (!evidence.missing.empty())
    return make(Exit::internal, "the program ended well, but it cannot be shown that it was verified: " +
                                    evidence.missing + ": see that nothing else writes to the run directory");
  return {};
}

/// The program ended well, and was none that could be verified: it calls no MPI, or another one.
bool called_no_mpi(const Evidence& evidence) {
  const int status = evidence.launched.value_or(evidence.ended.exit_status);
  return evidence.degree > 1 && evidence.record.is_null() && !evidence.entered && !evidence.disk_full && status == 0 &&
         evidence.ended.exit_status == 0 && evidence.ended.signal == 0 && evidence.deaths.empty();
}

/// Launchers report a process that a signal ended as 128 + n.
std::string ending(const Ended& ended) {
  int signal = ended.signal != 0 ? ended.signal : ended.exit_status > 128 ? ended.exit_status - 128 : 0;
  if (signal > 0 && signal < 65) return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ") ended it";
  return "its status is " + std::to_string(ended.exit_status);
}

/// The launcher failed, and no process has begun.
Outcome judge_launcher(const Ended& ended) {
  return make(Exit::unavailable,
              "no process of the job began with Holdfast's library: " + ending(ended) +
                  ": the launcher says why above, or the run directory is not visible on the hosts of the job: name "
                  "one that is with --output");
}

/// The launcher that goes on when processes die has no word for how the others ended.
Outcome judge_survivors(const Evidence& evidence) {
  const std::optional<int> said = evidence.launched ? evidence.launched : evidence.status;
  if (!said && !evidence.began && evidence.ended.exit_status != 0) return judge_launcher(evidence.ended);
  if (!said) return make(Exit::diverged, "processes ended without a status, after the launcher or at its end");
  const bool alone = evidence.deaths.empty();  // then the launcher may know more
  if (const int status = *said != 0 ? *said : alone ? evidence.ended.exit_status : 0; status != 0)
    return make(Exit::application, "the application failed by itself: its status is " + std::to_string(status));
  return judge_proof(evidence);
}

/// Whether the launcher says that a signal ended a process: 128 + n, and n with MPICH's hydra.
bool by_signal(const Ended& ended) {
  return ended.signal == 0 && (ended.exit_status > 128 || ended.exit_status == SIGKILL || ended.exit_status == SIGSEGV);
}

}  // namespace

Outcome judge(const Evidence& evidence) {
  const Ended& ended = evidence.ended;
  if (ended.user_signal != 0)
    return {128 + ended.user_signal,
            "ended by signal " + std::to_string(ended.user_signal) + " (" + strsignal(ended.user_signal) + ")"};
  if (ended.timed_out) return make(Exit::time_limit, "the time limit passed, so the job was ended");
  const bool mended = std::all_of(evidence.incidents.begin(), evidence.incidents.end(), [&](const Incident& incident) {
    return incident.kind == "outvoted" || was_survived(evidence, incident);
  });
  if (!mended) return judge_incidents(evidence);
  if (!evidence.verdict.empty())
    return evidence.programs_doing ? make(Exit::application, "the application failed by itself: " + evidence.verdict)
                                   : make(Exit::diverged, evidence.verdict);
  if (called_no_mpi(evidence))
    return make(Exit::bad_input,
                "the program ended well, but no process called MPI_Init with Holdfast's library, so that nothing was "
                "verified: check its name and arguments, and --mpi: a script must start a program of that MPI");
  if (evidence.goes_on) return judge_survivors(evidence);
  const bool failed = ended.exit_status != 0 || ended.signal != 0;
  // A job that reached its end has compared statuses; one that did not, and was corrupt, did not fail by itself.
  const bool corrupt = failed && evidence.degree > 1 && evidence.record.is_null() && !evidence.corruption.empty();
  if (!evidence.deaths.empty() && (by_signal(ended) || corrupt || (failed && evidence.died_at_start)))
    return make(Exit::diverged, death_line(evidence.deaths.front()) + after(evidence, cause_of(evidence, nullptr)));
  if (corrupt)
    return make(Exit::diverged,
                "a process of the job failed: " + ending(ended) + after(evidence, cause_of(evidence, nullptr)));
  if (ended.signal != 0)
    return make(Exit::diverged, "the launcher itself was lost: " + ending(ended) +
                                    ": it may have been killed from outside, or for want of memory");
  const bool killed = ended.exit_status == SIGKILL || ended.exit_status == 128 + SIGKILL;
  if (killed && !evidence.began)
    return make(Exit::diverged, "a process of the job was killed before any had begun with Holdfast's library");
  if (failed && !evidence.began) return judge_launcher(ended);
  if (failed)
    return make(Exit::application, "the application failed by itself: " + ending(ended) +
                                       (evidence.record.is_null() ? after(evidence, cause_of(evidence, nullptr)) : ""));
  return judge_proof(evidence);
}

Outcome judge_lost_messages(std::uint64_t messages) {
  return make(Exit::lost_peer, std::to_string(messages) +
                                   " messages that were reported as sent were never acknowledged: their receivers may "
                                   "have done without them");
}

}  // namespace holdfast::launch
