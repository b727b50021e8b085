#include "replicate/launch/plan/job_plan.h"

#include <fmt/format.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "core/input/text_file.h"
#include "core/time/duration.h"
#include "core/time/nanoseconds.h"
#include "replicate/engine/tolerance_place.h"
#include "replicate/launch/detect/host_capacity.h"
#include "replicate/launch/detect/launcher.h"
#include "replicate/launch/detect/library.h"
#include "replicate/launch/detect/preload.h"
#include "replicate/launch/plan/injection.h"
#include "replicate/launch/plan/launcher_args.h"
#include "replicate/launch/plan/library_options.h"
#include "replicate/launch/plan/placement.h"
#include "replicate/launch/plan/recording.h"
#include "replicate/launch/plan/run_directory.h"
#include "replicate/launch/plan/same_memory.h"
#include "replicate/launch/plan/shared_memory_folders.h"
#include "replicate/launch/plan/transport.h"

namespace holdfast::launch {
namespace {

using replicate::ReplicaMap;

std::string host_name() {
  std::array<char, 256> text{};
  gethostname(text.data(), text.size() - 1);
  return text.data();
}

bool is_here(const std::string& host) {
  std::string own = host_name();
  return host == "localhost" || host == "127.0.0.1" || host == own || host == own.substr(0, own.find('.'));
}

/// The hosts of a job. `limited` when their slots may not be exceeded.
struct Machine {
  std::vector<Host> hosts;
  bool limited = false;
  bool only_here() const { return hosts.size() == 1 && is_here(hosts[0].name); }
};

Result<Machine> find_machine(const JobRequest& request) {
  if (request.hostfile && request.slots)
    return Status(Code::bad_input, "reading the options", "--slots and --hostfile exclude each other",
                  "write the slots into the host file");
  if (request.slots && *request.slots < 1)
    return Status(Code::bad_input, "reading --slots", std::to_string(*request.slots) + " is below 1",
                  "give at least 1");
  if (request.hostfile) {
    auto text = input::read_text_file(*request.hostfile, "the host file");
    if (!text.ok()) return text.status();
    auto hosts = parse_hostfile(text.value(), *request.hostfile);
    if (!hosts.ok()) return hosts.status();
    return Machine{hosts.value(), true};
  }
  auto allocated = slurm_hosts();
  if (!allocated.ok()) return allocated.status();
  if (!allocated.value().empty() && !request.slots) return Machine{allocated.value(), true};
  return Machine{{{host_name(), request.slots.value_or(usable_cores())}}, request.slots.has_value()};
}

/// The text of the host file for the launcher; empty where it needs none.
Result<std::string> plan_placement(const JobRequest& request, const ReplicaMap& map, const Machine& machine, Mpi mpi,
                                   bool srun) {
  if (!machine.limited) return std::string();
  const bool mapped = !value_of(*request.library, "replicate.map").empty();
  auto placement = mapped ? place_in_order(map, machine.hosts) : place(map, machine.hosts, request.colocate);
  if (!placement.ok()) return placement.status();
  if (const int rank = mapped ? rank_with_replicas_together(map, machine.hosts, placement.value()) : -1;
      rank >= 0 && !request.colocate)
    return Status(Code::bad_input, "placing the processes by the map file",
                  "replicas of rank " + std::to_string(rank) + " share a host, whose failure would take both",
                  "order the file's physical ranks as the hosts' slots, or allow it with --colocate");
  if (machine.only_here()) return std::string();
  bool sequence = srun || mpi == Mpi::openmpi;
  return sequence ? as_host_sequence(placement.value(), machine.hosts)
                  : as_machine_file(placement.value(), machine.hosts);
}

/// Options that the library must be told: what is not its default, and what a variable of ours would set otherwise.
Result<std::vector<Variable>> library_variables(const config::AnySettings& settings, const ReplicaMap& map) {
  std::vector<Variable> variables;
  for (const config::AnySettings::Shown& row : settings.show()) {
    std::string name = config::environment_name(row.option->row.name);
    std::string value = row.value;
    if (row.option->row.name == "replicate.degree" && !(map.partial() && value_of(settings, "replicate.map").empty()))
      value = std::to_string(map.degree());
    std::error_code nowhere;  // the working folder is gone, where the map could not be read
    if (row.option->row.name == "replicate.map" && !value.empty())
      value = std::filesystem::absolute(value, nowhere).string();
    if (row.option->row.name == "replicate.inject") {
      auto faults = check_injection(value, map);
      if (!faults.ok()) return faults.status();
      value = faults.value();
    }
    bool told = row.origin.source != config::Source::row_default || std::getenv(name.c_str()) != nullptr;
    bool seeds = row.option->row.name == "replicate.seed" && !value_of(settings, "replicate.inject").empty();
    if (told || seeds || row.option->row.name == "replicate.degree") variables.emplace_back(name, value);
  }
  return variables;
}

/// What the replicas' clocks show before MPI_Init (replicate/process/standing_clocks.h).
std::string clocks_now() {
  std::string text;
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME}) {
    timespec now{};
    clock_gettime(clock, &now);
    text += std::to_string(time::in_ns(now)) + ":";
  }
  tms used{};
  return text + std::to_string(times(&used));
}

std::uint64_t random_bits() {
  std::random_device entropy;
  return std::uint64_t{entropy()} << 32 | entropy();
}

/// What replicas must have in common before they can talk to each other, each where its option is on.
std::vector<Variable> agreed_before_init(const config::AnySettings& settings) {
  std::vector<Variable> variables;
  const std::uint64_t bits = random_bits();
  auto add = [&](const char* option, const char* variable, const std::string& value) {
    if (value_of(settings, option) == "true") variables.emplace_back(variable, value);
  };
  add("replicate.clocks", "HOLDFAST_RUN_EPOCH", clocks_now());
  add("replicate.random", "HOLDFAST_RUN_ENTROPY", std::to_string(bits));
  add("replicate.clear_blocks", "HOLDFAST_RUN_CLEAR_BLOCKS", "1");
  add("replicate.identity", "HOLDFAST_RUN_IDENTITY", std::to_string(bits));
  return variables;
}

std::string real_path(const std::string& path) {
  std::error_code error;
  auto resolved = std::filesystem::canonical(path, error);
  return error ? path : resolved.string();
}

Result<CommandSpec> plan_command(const JobRequest& request, const JobPlan& plan) {
  CommandSpec spec;
  spec.mpi = plan.program.mpi;
  std::optional<Launcher> wish;
  if (request.launcher) {
    auto launcher = launcher_named(*request.launcher);
    if (!launcher.ok()) return launcher.status();
    wish = launcher.value();
  }
  spec.srun = wish == Launcher::srun;
  auto launcher = find_launcher(spec.mpi, wish, plan.program.library);
  if (!launcher.ok()) return launcher.status();
  spec.launcher = launcher.value();
  spec.ulfm = spec.mpi == Mpi::openmpi && !spec.srun && has_ulfm(spec.launcher);
  auto words = launcher_args(request.launcher_args.value_or(""), spec.mpi, spec.srun);
  if (!words.ok()) return words.status();
  spec.users_words = std::move(words).value();
  // The recording library comes first: it sees what the program calls, and not what replicas say to each other. Without
  // replicas it is alone.
  std::string libraries;
  if (request.record) {
    auto recorder = find_recorder(flavour(plan.program));
    if (!recorder.ok()) return recorder.status();
    libraries = recorder.value();
  }
  if (!request.record || plan.map.degree() > 1) {
    auto library = find_library(flavour(plan.program));
    if (!library.ok()) return library.status();
    libraries += (libraries.empty() ? "" : ":") + library.value();
  }
  const char* users = std::getenv("LD_PRELOAD");
  if (plan.same_memory) {
    auto heap = find_heap();
    if (!heap.ok()) return heap.status();
    libraries += ":" + heap.value();
  }
  // Loaded privately by the program (dlopen with RTLD_LOCAL), MPI is seen by the program alone: neither its functions
  // nor its predefined handles are there for the library that stands before it.
  if (plan.program.loads_mpi && !mpi_library(spec.mpi).empty()) libraries += ":" + std::string(mpi_library(spec.mpi));
  spec.preload =
      join_preload(libraries, users != nullptr ? users : "", value_of(*request.library, "replicate.chain") == "true");
  spec.processes = plan.map.physical_ranks();
  spec.cores = usable_cores();
  spec.as_root = geteuid() == 0;
  spec.slurm_mpi_type_set = std::getenv("SLURM_MPI_TYPE") != nullptr;
  spec.application = request.application;
  spec.application[0] = plan.program.path;
  return spec;
}

Result<Program> plan_program(const JobRequest& request) {
  if (request.application.empty())
    return Status(Code::bad_input, "reading the command line", "no program is given",
                  "as in: holdfast run -n 2 -- ./app arguments");
  std::optional<Mpi> told;
  if (request.mpi) {
    auto mpi = mpi_named(*request.mpi);
    if (!mpi.ok()) return mpi.status();
    told = mpi.value();
  }
  return inspect_program(request.application[0], told);
}

Status contradicts(const std::string& option, const std::string& asked, const std::string& mapped) {
  return {Code::bad_input, "reading the map file",
          "it gives " + mapped + " for " + option + ", but " + asked + " was asked for",
          "leave " + option + " out, or correct the file"};
}

}  // namespace

namespace {

/// Why a job whose user has not chosen ends when a process dies; empty: it goes on. Two replicas could go on as well,
/// but nothing would be verified then, which nobody asked for.
std::string why_it_cannot_go_on(const JobRequest& request, const JobPlan& plan, bool srun) {
  const config::AnySettings& library = *request.library;
  if (srun) return "srun cannot go on without it";
  if (plan.program.mpi != Mpi::openmpi) return "MPICH cannot go on without it";
  if (plan.map.partial()) return "ranks have different numbers of replicas";
  if (plan.map.degree() < 3) return "one replica alone would go on unverified; --on-failure continue lets it";
  if (request.hold_output) return "--hold-output";
  if (request.transport) return "--transport, where a process that is lost to the network ends the job";
  if (value_of(library, "replicate.same_thread_order") == "true") return "--same-thread-order";
  if (plan.protocol == "msg-plus-hash" && !is_default(library, "replicate.protocol")) return "--protocol msg-plus-hash";
  return "";
}

/// Whether the job goes on when a process dies, and what the launcher and the library must be told for that.
Result<bool> plan_failure(const JobRequest& request, JobPlan& plan, CommandSpec& spec) {
  const std::string wish = value_of(*request.library, "replicate.on_failure");
  if (plan.map.degree() == 1) return false;
  if (wish == "auto") {
    plan.ends_because = why_it_cannot_go_on(request, plan, spec.srun);
    plan.goes_on = spec.recovers = plan.ends_because.empty();
    return plan.goes_on;
  }
  if (wish != "continue") {
    plan.ends_because = "--on-failure " + wish;
    return false;
  }
  if (plan.map.partial())
    return Status(Code::bad_input, "reading --on-failure continue",
                  "ranks have different numbers of replicas, so that a replica cannot be taken out of all",
                  "give all ranks the same number, or leave --on-failure out");
  if (plan.program.mpi != Mpi::openmpi || spec.srun)
    return Status(
        Code::bad_input, "reading --on-failure continue",
        spec.srun ? "srun ends a job in which a process is killed" : "MPICH ends a job in which a process is killed",
        "it can go on under Open MPI's mpirun; here leave --on-failure out");
  plan.goes_on = true;
  spec.recovers = true;
  return true;
}

/// What the job reads must not lie where an earlier run's files are removed, and this one's written.
Status keep_inputs_apart(const JobRequest& request, const JobPlan& plan) {
  const std::string map = value_of(*request.library, "replicate.map");
  for (const std::string& path : {request.hostfile.value_or(""), map, plan.program.path}) {
    if (path.empty() || std::filesystem::path(real_path(path)).parent_path() != real_path(plan.run_directory)) continue;
    return {Code::bad_input, "taking " + plan.run_directory + " for the run directory",
            path + " lies in it, which the job reads", "name another folder with --output"};
  }
  return {};
}

/// Whether output is held back until the replicas agree on it.
Result<bool> plan_held_output(const JobRequest& request, JobPlan& plan) {
  plan.holds_output = request.hold_output && plan.map.degree() > 1;
  if (!plan.holds_output) return false;
  const std::string doing = "reading --hold-output";
  if (plan.goes_on)
    return Status(Code::bad_input, doing, "it and --on-failure continue exclude each other", "leave one of them out");
  if (value_of(*request.library, "replicate.files") != "true")
    return Status(Code::bad_input, doing, "replicate.files is off, so that output is not compared",
                  "leave one of them out");
  return true;
}

}  // namespace

Result<ReplicaMap> plan_map(const JobRequest& request) {
  const std::string path = value_of(*request.library, "replicate.map");
  const std::string asked = value_of(*request.library, "replicate.degree");
  const auto degrees = replicate::Degrees::parse(asked);
  if (!degrees.ok()) return degrees.status();
  if (path.empty()) {
    if (!request.ranks)
      return Status(Code::bad_input, "reading the command line", "the number of ranks is not given", "add -n N");
    if (*request.ranks < 1)
      return Status(Code::bad_input, "mapping " + std::to_string(*request.ranks) + " ranks",
                    "ranks and replicas: both must be at least 1", "ask for one rank or more");
    return ReplicaMap::of(degrees.value(), *request.ranks);
  }
  auto text = input::read_text_file(path, "the map file");
  if (!text.ok()) return text.status();
  auto map = ReplicaMap::parse(text.value(), path);
  if (!map.ok()) return map.status();
  if (request.ranks && *request.ranks != map.value().ranks())
    return contradicts("-n", std::to_string(*request.ranks), std::to_string(map.value().ranks()));
  if (is_default(*request.library, "replicate.degree")) return map;
  const auto by_rank = degrees.value().of(map.value().ranks());
  if (!by_rank.ok()) return by_rank.status();
  if (by_rank.value() != map.value().degrees()) return contradicts("--replicas", asked, map.value().degrees_text());
  return map;
}

Result<JobPlan> plan_job(const JobRequest& request) {
  JobPlan plan;
  auto map = plan_map(request);
  if (!map.ok()) return map.status();
  plan.map = map.value();
  auto variables = library_variables(*request.library, plan.map);
  if (!variables.ok()) return variables.status();
  auto program = plan_program(request);
  if (!program.ok()) return program.status();
  plan.program = program.value();
  plan.same_memory = request.same_memory && plan.map.degree() > 1;
  plan.protocol = value_of(*request.library, "replicate.protocol");
  if (plan.map.partial() && plan.protocol == "msg-plus-hash") plan.protocol = "msg-plus-vote";
  plan.faults = faults_in(value_of(*request.library, "replicate.inject"));
  if (!plan.faults.empty()) plan.seed = value_of(*request.library, "replicate.seed");

  const auto tolerated = replicate::parse_tolerance(value_of(*request.library, "replicate.tolerate"));
  if (!tolerated.ok()) return tolerated.status();
  const auto silence = time::parse_duration(value_of(*request.library, "replicate.silence_limit"));
  if (!silence.ok()) return silence.status();
  plan.silence_limit_ns = silence.value();

  auto machine = find_machine(request);
  if (!machine.ok()) return machine.status();
  auto spec = plan_command(request, plan);
  if (!spec.ok()) return spec.status();
  auto placement = plan_placement(request, plan.map, machine.value(), spec.value().mpi, spec.value().srun);
  if (!placement.ok()) return placement.status();
  plan.placement_text = placement.value();
  plan.one_host = machine.value().only_here();
  if (Status status = check_capacity(static_cast<std::uint64_t>(plan.map.physical_ranks()), plan.one_host);
      !status.ok())
    return status;
  if (auto goes_on = plan_failure(request, plan, spec.value()); !goes_on.ok()) return goes_on.status();
  if (plan.goes_on && plan.protocol == "msg-plus-hash") plan.protocol = "msg-plus-vote";
  if (auto holds = plan_held_output(request, plan); !holds.ok()) return holds.status();
  plan.job = fmt::format("{:016x}{:016x}", random_bits(), random_bits());
  plan.run_directory = RunDirectory::plan(request.output);
  if (Status apart = keep_inputs_apart(request, plan); !apart.ok()) return apart;
  if (!plan.placement_text.empty()) spec.value().placement_file = plan.run_directory + "/hosts";
  plan.input = plan_input(STDIN_FILENO, plan.run_directory, plan.map.degree(0), !machine.value().only_here());

  spec.value().variables = variables.value();
  if (plan.goes_on && value_of(*request.library, "replicate.on_failure") == "auto")
    spec.value().variables.emplace_back(config::environment_name("replicate.on_failure"), "continue");
  for (Variable variable :
       {Variable("HOLDFAST_RUN_RANKS", std::to_string(plan.map.ranks())), Variable("HOLDFAST_RUN_JOB", plan.job),
        Variable("HOLDFAST_RUN_DIRECTORY", plan.run_directory), Variable("HOLDFAST_RUN_STDIN", plan.input.path),
        Variable("HOLDFAST_RUN_PROGRAM", real_path(plan.program.path))})
    spec.value().variables.push_back(std::move(variable));
  if (plan.program.library.empty()) {
    spec.value().variables.emplace_back("HOLDFAST_RUN_STARTER", "1");
    if (const std::string_view mpi = mpi_library(plan.program.mpi); !mpi.empty() && !plan.program.loads_mpi)
      spec.value().variables.emplace_back("HOLDFAST_RUN_MPI_LIBRARY", mpi);
  }
  if (plan.map.degree() > 1) {
    plan.shared_memory_folders = shared_memory_folders(random_bits());
    spec.value().variables.emplace_back("HOLDFAST_RUN_SHARED_MEMORY", plan.shared_memory_folders);
  }
  if (request.record) {
    if (plan.same_memory)
      return Status(Code::bad_input, "reading --record", "it and --same-memory exclude each other: one replica records",
                    "leave one of them out");
    auto recording = recording_variables(*request.record, plan.map);
    if (!recording.ok()) return recording.status();
    for (Variable& variable : recording.value()) spec.value().variables.push_back(std::move(variable));
  }
  for (Variable& variable : agreed_before_init(*request.library)) spec.value().variables.push_back(std::move(variable));
  if (request.transport) {
    auto transport = transport_variables(plan.program, request.rails.value_or(""), plan.run_directory);
    if (!transport.ok()) return transport.status();
    for (Variable& variable : transport.value()) spec.value().variables.push_back(std::move(variable));
  }
  // Who leads may change, or what is shown depends on all, or a program is not to have another buffer for a pipe than
  // for a file, or the launcher is PRRTE, which shows pieces of lines twice, late or not at all
  // (docs/results/debian-13.md), or something starts the program, whose output is recorded from MPI_Init on, and what
  // is in a buffer by then must be the same in all replicas: what all write goes to files, from which it is shown.
  const bool garbled = spec.value().ulfm && plan.one_host;
  const bool started = plan.program.library.empty() && plan.one_host;
  plan.shows_files =
      plan.goes_on || plan.holds_output || plan.same_memory || (plan.map.degree() > 1 && (garbled || started));
  if (plan.shows_files) {
    spec.value().variables.emplace_back("HOLDFAST_RUN_OUTPUT", "files");
    spec.value().variables.emplace_back("GFORTRAN_UNBUFFERED_PRECONNECTED", "y");
  }
  if (plan.same_memory) {
    auto same = same_memory_variables();
    if (!same.ok()) return same.status();
    for (Variable& variable : same.value()) spec.value().variables.push_back(std::move(variable));
  }
  plan.command = build_command(spec.value());
  return plan;
}

}  // namespace holdfast::launch
