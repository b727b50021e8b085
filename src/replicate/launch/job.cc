#include "replicate/launch/job.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <ostream>
#include <set>

#include "core/event/record.h"
#include "core/output/amounts.h"
#include "core/secret/secret_file.h"
#include "core/status/exit_code.h"
#include "core/status/printable.h"
#include "replicate/launch/compare/closing.h"
#include "replicate/launch/compare/file_comparison.h"
#include "replicate/launch/compare/record_merge.h"
#include "replicate/launch/compare/stream_comparison.h"
#include "replicate/launch/plan/launcher_words.h"
#include "replicate/launch/plan/left_file.h"
#include "replicate/launch/plan/library_options.h"
#include "replicate/launch/plan/rail_files.h"
#include "replicate/launch/plan/recording.h"
#include "replicate/launch/plan/run_directory.h"
#include "replicate/launch/plan/shared_memory_folders.h"
#include "replicate/launch/plan/transport.h"
#include "replicate/launch/report/launched.h"
#include "replicate/launch/report/outcome.h"
#include "replicate/launch/report/summary.h"
#include "replicate/launch/report/tally.h"
#include "replicate/launch/supervise/living.h"
#include "replicate/launch/supervise/lost_peers.h"
#include "replicate/launch/supervise/membership_server.h"
#include "replicate/launch/supervise/output_pipe.h"
#include "replicate/launch/supervise/output_relay.h"
#include "replicate/launch/supervise/supervise.h"
#include "replicate/launch/supervise/tee.h"

namespace holdfast::launch {
namespace {

int report(const Status& status, std::ostream& err) {
  err << "holdfast: " << printable(status.message()) << "\n";
  return static_cast<int>(exit_for(status.code()));
}

/// The command, after the host file as comments that can be copied.
void print_plan(const JobPlan& plan, std::ostream& out) {
  std::string_view text = plan.placement_text;
  if (!text.empty()) out << "# " << plan.run_directory << "/hosts:\n";
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    out << "#   " << text.substr(0, end) << "\n";
    text.remove_prefix(end + 1);
  }
  out << as_shell(plan.command) << "\n";
}

Status write_placement(const JobPlan& plan) {
  if (plan.placement_text.empty()) return {};
  std::string path = plan.run_directory + "/hosts";
  std::ofstream file(path);
  file << plan.placement_text;
  file.close();
  if (file) return {};
  return {Code::io, "writing the host file " + path, "the write failed", "choose another --output folder"};
}

/// What the processes of the job share: with it the membership knows them, and the transport's packets are
/// authenticated.
Status make_secret(const JobRequest& request, const JobPlan& plan, secret::Key& key) {
  if (plan.map.degree() < 2 && !request.transport) return {};
  const std::string path = plan.run_directory + "/" + secret_file_name;
  if (Status written = secret::write_key(path, secret::new_key()); !written.ok()) return written;
  auto read = secret::read_key(path);  // as the processes will
  if (!read.ok()) return read.status();
  key = read.value();
  return {};
}

Status prepare_input(const InputPlan& input) {
  if (input.kind == InputPlan::Kind::tee) return InputTee::make_fifos(input.fifos);
  if (input.kind == InputPlan::Kind::spool) return spool_input(STDIN_FILENO, input);
  return {};
}

/// How the launcher ended, and what the membership saw; the membership is none where there are no replicas.
struct Finished {
  Ended ended;
  std::optional<JobMembership> membership;
  Status streams;                ///< of what was shown and what was read: io where something has not arrived
  bool reader_has_gone = false;  ///< of what was shown
  std::vector<WronglyShown> wrongly_shown = {};
};

/// Members of the membership (rank x degree + replica) that run on this host; none where there are several.
std::optional<std::set<int>> living_members(const JobPlan& plan) {
  if (!plan.one_host) return std::nullopt;
  std::set<int> members;
  for (const int physical : living_processes(plan.job))
    if (physical < plan.map.physical_ranks())
      members.insert(plan.map.virtual_rank(physical) * plan.map.degree() + plan.map.replica(physical));
  return members;
}

Result<Finished> run_launcher(const JobRequest& request, const JobPlan& plan, const secret::Key& key,
                              std::ostream& err) {
  remove_left_shared_memory_folders();
  remove_left_rail_files();
  SignalWatch watch;
  std::unique_ptr<MembershipServer> membership;
  if (plan.map.degree() > 1) {
    const double silence_limit_s = static_cast<double>(plan.silence_limit_ns) / 1e9;
    auto started = MembershipServer::start(
        {.run_directory = plan.run_directory,
         .one_host = plan.one_host,
         .secret = key,
         .living = [&plan] { return living_members(plan); },
         .limit_s = silence_limit_s},
        JobMembership(plan.map.degrees(), plan.goes_on, silence_limit_s),
        [&err](const Death& death) { err << "holdfast: " << printable(death_line(death)) << std::endl; });
    if (!started.ok()) return started.status();
    membership = std::move(started).value();
  }
  std::unique_ptr<LauncherErrors> errors;
  if (plan.map.degree() > 1) {
    auto started = LauncherErrors::start(plan.run_directory + "/launcher.err");
    if (!started.ok()) return started.status();
    errors = std::move(started).value();
  }
  const int others_to = errors ? errors->descriptor() : STDERR_FILENO;
  std::optional<OutputRelay> relay;
  if (plan.goes_on)
    relay.emplace(
        plan.run_directory, plan.map.ranks(), others_to, [&membership] { return membership->leader(); },
        value_of(*request.library, "replicate.files_may_differ"));
  else if (plan.holds_output)
    relay.emplace(plan.run_directory, plan.map.ranks(), others_to, plan.map.degree());
  else if (plan.shows_files)
    relay.emplace(plan.run_directory, plan.map.ranks(), others_to, [] { return 0; });
  std::optional<InputTee> tee;
  if (plan.input.kind == InputPlan::Kind::tee)
    tee.emplace(STDIN_FILENO, plan.input.fifos, plan.run_directory + "/stdin.spool");
  std::unique_ptr<OutputPipe> output;
  if (!relay && ::isatty(STDOUT_FILENO) == 0) {
    auto started = OutputPipe::start(STDOUT_FILENO);
    if (!started.ok()) return started.status();
    output = std::move(started).value();
  }
  SuperviseOptions options;
  if (output) options.output_descriptor = output->descriptor();
  if (errors) options.error_descriptor = errors->descriptor();
  options.time_limit = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::nanoseconds(request.time_limit_ns));
  if (membership) {
    options.end_descriptors.push_back(membership->descriptor());
    options.over_descriptor = membership->over_descriptor();
  }
  std::optional<LostPeerWatch> network;
  if (request.transport && !plan.goes_on) {
    network.emplace(plan.run_directory);
    options.end_descriptors.push_back(network->descriptor());
  }
  auto ended = supervise(plan.command, watch, options);
  if (!plan.shared_memory_folders.empty()) remove_shared_memory_folders(plan.shared_memory_folders, plan.map.degree());
  if (!ended.ok()) return ended.status();
  Finished finished{ended.value(), {}, {}};
  if (tee) finished.streams = tee->finish();
  if (relay || output) {
    const Arrival arrival = relay ? relay->finish() : output->finish();
    if (!arrival.status.ok()) finished.streams = arrival.status;
    finished.reader_has_gone = arrival.reader_has_gone;
    if (relay) finished.wrongly_shown = relay->wrongly_shown();
  }
  if (membership) finished.membership = membership->stop(finished.ended.signal != 0);
  return finished;
}

std::vector<int> replicas_left(const Evidence& evidence) {
  std::vector<int> left;
  for (int k = 0; k < evidence.degree; ++k)
    if (std::none_of(evidence.deaths.begin(), evidence.deaths.end(), [k](const Death& d) { return d.replica == k; }))
      left.push_back(k);
  return left;
}

Evidence gather(const JobPlan& plan, const Finished& finished) {
  Evidence evidence;
  evidence.ended = finished.ended;
  evidence.goes_on = plan.goes_on;
  if (finished.membership) {
    evidence.deaths = finished.membership->deaths();
    evidence.died_at_start = finished.membership->died_at_start();
    evidence.verdict = finished.membership->verdict();
    evidence.programs_doing = finished.membership->programs_doing();
    evidence.early_end = finished.membership->early_end();
    evidence.entered = finished.membership->entered() || any_left_a_record(plan.run_directory);
    evidence.status = finished.membership->status();
  }
  evidence.record = plan.goes_on ? merge_records(plan.run_directory, plan.job, plan.map.degree())
                                 : read_jobs_file(plan.run_directory + "/record.json", plan.job);
  if (evidence.record.is_null()) evidence.tally = read_tallies(plan.run_directory, plan.job);
  evidence.incidents = read_incidents(plan.run_directory, plan.job);
  evidence.corruption = read_corruption(plan.run_directory, plan.job);
  evidence.faults = plan.faults;
  name_lost_peers(evidence.incidents, plan.run_directory, plan.map);
  evidence.ranks = plan.map.ranks();
  evidence.degree = plan.map.degree();
  if (plan.map.partial()) evidence.degrees = plan.map.degrees();
  const std::vector<int> left = replicas_left(evidence);
  if (plan.goes_on) evidence.missing = missing_record(plan.run_directory, plan.job, left);
  if (evidence.missing.empty() && evidence.degree > 1)
    evidence.missing = missing_evidence(plan.run_directory, plan.job, plan.map, left);
  if (plan.program.library.empty()) evidence.launched = launched_status(plan.run_directory, plan.job, plan.map, left);
  evidence.disk_full = takes_no_more(plan.run_directory);
  evidence.began = evidence.degree < 2 || !evidence.record.is_null() || any_replica_began(plan.run_directory);
  return evidence;
}

void print_outcome(const Evidence& evidence, const Outcome& outcome, bool quiet, std::ostream& err) {
  if (!quiet || outcome.code != 0) err << "holdfast: " << summary_line(evidence) << "\n";
  if (const std::string missed = missed_line(evidence); !missed.empty()) err << "holdfast: " << missed << "\n";
  for (const Incident& incident : evidence.incidents)
    if (incident.kind == "outvoted") err << "holdfast: " << printable(incident.message) << "\n";
  if (outcome.code != 0)
    err << "holdfast: " << printable(outcome.message) << " (exit code " << outcome.code << ": "
        << exit_meaning(outcome.code) << ")\n";
}

/// What the replicas left, held to each other.
struct Comparisons {
  FileComparison files;
  StreamComparison streams;
};

/// A difference without a majority is what the job ends with, unless corruption is to be reported only. On a full disk
/// it is none: what replicas wrote was not kept whole.
template <class Difference>
void tell(const Difference& difference, const JobRequest& request, bool disk_full, Outcome& outcome,
          std::ostream& err) {
  const std::string line = difference_line(difference);
  const bool ends = !difference.settled && value_of(*request.library, "replicate.on_corruption") == "stop";
  if (disk_full && !difference.settled && outcome.code == 0)
    outcome = {
        static_cast<int>(Exit::unavailable),
        "the disk of the run directory is full, so that what the replicas wrote cannot be compared: make room, or "
        "name another folder with --output (" +
            line + ")"};
  else if (ends && outcome.code == 0)
    outcome = {static_cast<int>(Exit::uncorrected), line};
  else
    err << "holdfast: " << printable(line) << "\n";
}

/// After a success: holds the files of the replicas, and what they printed, to each other.
Comparisons compare(const JobRequest& request, const JobPlan& plan, const Evidence& evidence, Outcome& outcome,
                    std::ostream& err) {
  if (plan.map.degree() < 2 || value_of(*request.library, "replicate.files") != "true") return {};
  if (outcome.code != 0) {
    if (shadows_left(plan.run_directory, plan.map.degree()))
      err << "holdfast: files of the other replicas, and what replica 0 overwrote, are left in " << plan.run_directory
          << "/holdfast-files\n";
    return {};
  }
  const std::string patterns = value_of(*request.library, "replicate.files_may_differ");
  const std::vector<int> left = replicas_left(evidence);
  const int complete = *std::min_element(plan.map.degrees().begin(), plan.map.degrees().end());
  Comparisons found{compare_files(plan.run_directory, left, complete, patterns),
                    compare_streams(plan.run_directory, plan.map.degrees(), left, patterns, plan.holds_output)};
  for (const FileDifference& difference : found.files.differences)
    tell(difference, request, evidence.disk_full, outcome, err);
  for (const StreamDifference& difference : found.streams.differences)
    tell(difference, request, evidence.disk_full, outcome, err);
  return found;
}

/// A job that ended well has not when its input or its output was lost on the way.
void judge_streams(const Finished& finished, Outcome& outcome) {
  if (outcome.code == 0 && !finished.streams.ok())
    outcome = {static_cast<int>(exit_for(finished.streams.code())), finished.streams.message()};
}

/// Messages that were lost, or nobody knows: what a process says of them is gone.
void judge_transport(const nlohmann::ordered_json& counters, const std::string& folder, Outcome& outcome) {
  const std::optional<std::uint64_t> lost = messages_lost(counters);
  if (!lost)
    outcome = {static_cast<int>(Exit::unavailable),
               "what a process counted of its messages cannot be read, so that nobody knows whether all arrived: see "
               "that there is room in " +
                   folder + ", or name another folder with --output"};
  else if (*lost > 0)
    outcome = judge_lost_messages(*lost);
}

/// A program that ended well has left a recording of each rank, or the job says that it has not.
void judge_recording(const JobRequest& request, const JobPlan& plan, const Recorded& recorded, Outcome& outcome) {
  if (!request.record || outcome.code != 0) return;
  if (recorded.cut > 0)
    outcome = {static_cast<int>(Exit::unavailable),
               "the program ended well, but the recording of " +
                   output::count(static_cast<std::uint64_t>(recorded.cut), "rank", "ranks") + " in " + *request.record +
                   " has no end: its disk is full, or the replica that recorded was lost"};
  if (recorded.ranks == plan.map.ranks()) return;
  outcome = {
      static_cast<int>(Exit::unavailable),
      "the program ended well, but only " + std::to_string(recorded.ranks) + " of " + std::to_string(plan.map.ranks()) +
          " ranks left a recording in " + *request.record +
          ": it must be a folder that all hosts share and no other job writes to, and the program must call MPI"};
}

int conclude(const JobRequest& request, const JobPlan& plan, const Finished& finished, RunDirectory& directory,
             std::ostream& err) {
  const Evidence evidence = gather(plan, finished);
  Outcome outcome = judge(evidence);
  const auto transport = request.transport ? read_transport_counters(plan.run_directory) : nlohmann::ordered_json();
  if (outcome.code == 0) judge_transport(transport, plan.run_directory, outcome);
  const bool ended_well = outcome.code == 0;
  Comparisons found = compare(request, plan, evidence, outcome, err);
  for (const WronglyShown& shown : finished.wrongly_shown) {
    if (!ended_well) break;  // who was ended has not written all that it would have
    found.streams.differences.push_back(
        difference_shown(plan.run_directory, shown.rank, shown.ending, shown.replica, shown.against, shown.byte));
    tell(found.streams.differences.back(), request, evidence.disk_full, outcome, err);
  }
  const std::string said = launcher_said(plan.run_directory + "/launcher.err");
  if (outcome.code == static_cast<int>(Exit::unavailable)) err << said;  // nobody else knows what is wrong
  judge_streams(finished, outcome);
  const Recorded recorded = request.record ? find_recorded(*request.record, plan.job, plan.map.ranks()) : Recorded{};
  judge_recording(request, plan, recorded, outcome);
  print_outcome(evidence, outcome, request.quiet, err);
  if (found.files.paths > 0 && !request.quiet) err << "holdfast: " << comparison_line(found.files) << "\n";
  if (!transport.is_null() && !request.quiet) err << "holdfast: " << transport_line(transport) << "\n";
  if (request.record && !request.quiet)
    err << "holdfast: recorded " << recorded.ranks << " ranks in " << *request.record << ", " << recorded.bytes
        << " bytes; 'holdfast trace show' reads it\n";
  Status written;
  if (request.json) {
    auto record =
        final_record(evidence, outcome, {plan.protocol, std::string(name(plan.program.mpi)), plan.program.path});
    record["files"] = found.files.record();
    record["streams"] = found.streams.record();
    if (!transport.is_null()) record["transport"] = transport;
    written = event::write_record_file(*request.json, record);
  }
  bool kept = directory.conclude(outcome.code == 0);
  if (kept && (!request.quiet || outcome.code != 0))
    err << "holdfast: output of the other replicas and what is known: " << directory.path()
        << (said.empty() ? "" : "; what the launcher said: launcher.err in it") << "\n";
  if (!written.ok() && outcome.code == 0) return report(written, err);
  if (!written.ok()) err << "holdfast: " << written.message() << "\n";
  if (outcome.code == 0 && finished.reader_has_gone) return static_cast<int>(Exit::signal_base) + SIGPIPE;
  return outcome.code;
}

}  // namespace

int run_job(const JobRequest& request, std::ostream& out, std::ostream& err) {
  auto plan = plan_job(request);
  if (!plan.ok()) return report(plan.status(), err);
  if (request.dry_run) {
    print_plan(plan.value(), out);
    return 0;
  }
  auto directory = RunDirectory::create(plan.value().run_directory, request.keep || request.output);
  if (!directory.ok()) return report(directory.status(), err);
  Status ready = write_placement(plan.value());
  secret::Key key{};
  if (ready.ok()) ready = make_secret(request, plan.value(), key);
  if (ready.ok()) ready = prepare_input(plan.value().input);
  std::optional<RecordingFolder> recording;  // locked until the job has been judged
  if (ready.ok() && request.record) {
    auto taken = RecordingFolder::take(*request.record);
    if (taken.ok())
      recording.emplace(std::move(taken).value());
    else
      ready = taken.status();
  }
  if (ready.ok() && !plan.value().seed.empty())
    err << "holdfast: injecting faults with seed " << plan.value().seed << std::endl;
  if (ready.ok() && plan.value().map.degree() > 1 && !request.quiet)
    err << "holdfast: " << death_notice(plan.value().map.degree(), plan.value().goes_on, plan.value().ends_because)
        << std::endl;
  auto finished = ready.ok() ? run_launcher(request, plan.value(), key, err) : Result<Finished>(ready);
  if (finished.ok()) return conclude(request, plan.value(), finished.value(), directory.value(), err);
  directory.value().conclude(true);
  return report(finished.status(), err);
}

}  // namespace holdfast::launch
