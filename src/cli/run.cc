#include <net/if.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "cli/numbers.h"
#include "cli/subcommands.h"
#include "core/config/environment.h"
#include "core/config/reference.h"
#include "core/config/toml_file.h"
#include "core/output/output_file.h"
#include "core/output/standard_output.h"
#include "core/status/exit_code.h"
#include "core/status/hint.h"
#include "replicate/launch/job.h"
#include "replicate/launch/plan/library_options.h"
#include "transport/rail/rail_spec.h"

extern char** environ;

namespace holdfast::cli {
namespace {

/// Short flags for options of the library that people use every day. Each is the same as --<row>.
struct Short {
  const char* flag;
  const char* row;
  const char* value;  ///< placeholder; null: a switch that turns the option on
  const char* doc;
  bool repeats;  ///< several values are joined by ';'
};
constexpr std::array<Short, 13> shorts{{
    {"-r,--replicas", "replicate.degree", "R",
     "Processes that play each rank: 2 detect, 3 correct; 2.5: every second rank three. Default: 3", false},
    {"--protocol", "replicate.protocol", "NAME", "How the copies of a message are compared", false},
    {"--collectives", "replicate.collectives", "NAME", "native, or p2p: on verified messages, in a fixed order", false},
    {"--inject", "replicate.inject", "FAULT", "Flip bits on purpose, as 'rank 1 replica 2 message 40 bit 62'", true},
    {"--seed", "replicate.seed", "N", "Seed of the injected faults", false},
    {"--map", "replicate.map", "FILE",
     "Which process plays which rank and replica; processes fill the hosts in that order", false},
    {"--on-corruption", "replicate.on_corruption", "NAME", "What to do where there is no majority: stop or report",
     false},
    {"--on-failure", "replicate.on_failure", "NAME",
     "When a process dies: abort, or continue without its replica. Default: continue where that can be (auto)", false},
    {"--tolerate", "replicate.tolerate", "PLACE", "Where copies may differ, as 'tag 7': counted, not corrected", true},
    {"--files-may-differ", "replicate.files_may_differ", "PATTERN", "Files that are not compared, as '*.log'", false},
    {"--silence-limit", "replicate.silence_limit", "DURATION", "How long a replica may lag behind the others", false},
    {"--same-thread-order", "replicate.same_thread_order", nullptr,
     "Let threads call MPI in one order in every replica: for threads that share a communicator and a tag", false},
    {"--chain", "replicate.chain", nullptr, "Work beside another preloaded MPI profiling tool", false},
}};

constexpr const char* run_footer =
    "Examples:\n"
    "  holdfast run -n 4 -- ./app arguments             three replicas of each rank: flipped bits are corrected\n"
    "  holdfast run -n 4 --replicas 2 -- ./app          two: flipped bits are detected, and the job stops\n"
    "  holdfast run -n 4 --replicas 1,3:0 -- ./app      three of rank 0 alone: what the others send is not verified\n"
    "  holdfast run -n 2 --inject 'rank 1 replica 2 message 40 bit 62' -- ./app\n"
    "  holdfast run -n 2 --inject 'rate 1/10000' --seed 7 --json record.json -- ./app\n"
    "  holdfast run -n 64 --hostfile hosts -- ./app     replicas of one rank run on different hosts\n"
    "  holdfast run -n 2 --launcher-args '--bind-to none' -- ./app   options of mpirun, mpiexec or srun\n"
    "  holdfast run -n 2 --dry-run -- ./app             shows the command and does not run it\n"
    "  holdfast run -n 4 --replicas 1 --rails tcp@eth0,tcp@eth1 -- ./app     survives a dead link, without replicas\n"
    "  holdfast run -n 4 --record job.trace -- ./app    records what it does, for holdfast trace\n"
    "  holdfast run -n 2 --mpi openmpi -- ./job.sh      a script: say which MPI it uses\n"
    "  holdfast run -n 2 --mpi openmpi -- python3 job.py  what loads MPI by itself\n\n"
    "The application's output is replica 0's; the others' goes to files of the run directory.\n\n";

/// All that the command line gives, alive until the action has run.
struct RunRunFlags {
  launch::JobRequest request;
  std::unique_ptr<config::AnySettings> library = launch::library_settings();
  std::optional<std::string> config_file;
  std::optional<std::string> time_limit;
  Status status;  ///< the first error of an option of the library
};

void set(RunRunFlags& flags, const std::string& row, const std::string& text, const std::string& flag) {
  Status status = flags.library->set(row, text, {config::Source::flag, flag});
  if (!status.ok() && flags.status.ok()) flags.status = status;
}

std::string join(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : "; ") + text;
  return joined;
}

void add_short(CLI::App& run, RunRunFlags& flags, const Short& option) {
  const std::string flag = std::string(option.flag).substr(std::string(option.flag).find("--"));
  if (option.value == nullptr) {
    run.add_flag_callback(
        option.flag, [&flags, option, flag] { set(flags, option.row, "true", flag); }, option.doc);
    return;
  }
  auto use = [&flags, option, flag](const std::vector<std::string>& texts) {
    set(flags, option.row, option.repeats ? join(texts) : texts.back(), flag);
  };
  run.add_option_function<std::vector<std::string>>(option.flag, use, option.doc)
      ->type_name(option.value)
      ->expected(1)
      ->multi_option_policy(option.repeats ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::Throw);
}

void add_library_options(CLI::App& run, RunRunFlags& flags) {
  for (const Short& option : shorts) add_short(run, flags, option);
  for (const config::Option& option : launch::library_table().rows()) {
    std::string flag = config::flag_name(option.row.name);
    std::string row(option.row.name);
    const std::string doc = config::doc_line(option.row);
    run.add_option_function<std::string>(
           flag, [&flags, row, flag](const std::string& text) { set(flags, row, text, flag); }, doc)
        ->type_name(config::placeholder(option))
        ->group("Options of the replication library (also HOLDFAST_REPLICATE_*, or [replicate] of --config)");
  }
}

void add_own_options(CLI::App& run, RunRunFlags& flags) {
  launch::JobRequest& request = flags.request;
  run.add_option("-n,--ranks", request.ranks, "Ranks that the application sees")
      ->type_name("N")
      ->check(whole_number(1, most_ranks));
  run.add_option("--launcher", request.launcher, "mpirun, mpiexec or srun. Default: by the MPI")->type_name("NAME");
  run.add_option("--launcher-args", request.launcher_args, "Further options for it, as '--bind-to none'")
      ->type_name("ARGS");
  run.add_option("--mpi", request.mpi, "openmpi or mpich, where the program does not show it")->type_name("NAME");
  run.add_option("--hostfile", request.hostfile, "Hosts: 'name slots=4' or 'name:4' a line")->type_name("FILE");
  run.add_option("--slots", request.slots, "Processes that this host may run. Default: any number")
      ->type_name("N")
      ->check(whole_number(1, most_ranks));
  run.add_flag("--colocate", request.colocate, "Let replicas of one rank share a host where they must");
  run.add_flag(
      "--same-memory", request.same_memory,
      "Give memory that the program never set the same contents, and all the same addresses, in every replica");
  run.add_flag("--hold-output", request.hold_output,
               "Show a line when most replicas have printed it: never a wrong one, but later");
  run.add_flag("--transport", request.transport,
               "Send messages over the holdfast libfabric provider: checked, sent again, over several rails");
  run.add_option("--rails", request.rails, "Its rails, as tcp@eth0,tcp@eth1,udp; turns --transport on")
      ->type_name("LIST")
      ->each([&request](const std::string&) { request.transport = true; });
  run.add_option("--time-limit", flags.time_limit, "End the job after this time, as 90s or 2h")->type_name("DURATION");
  run.add_option("--output", request.output, "Keep the run directory here")->type_name("DIR");
  run.add_flag("--keep", request.keep, "Keep the run directory after a success too");
  run.add_option("--json", request.json, "Write the record of the job to this file")->type_name("FILE");
  run.add_option("--record", request.record,
                 "Record what the program does into this folder, for 'holdfast trace'; without replicas, unless they "
                 "are asked for")
      ->type_name("DIR");
  run.add_option("--config", flags.config_file, "Read options from this TOML file")->type_name("FILE");
  run.add_flag("--dry-run", request.dry_run, "Print the launcher's command and end");
  run.add_flag("-q,--quiet", request.quiet, "Print nothing of Holdfast's own after a success");
}

/// The program and its arguments, where no "--" marks them. What starts with '-' before any program is a misspelt
/// option.
Status take_application(const CLI::App& run, RunRunFlags& flags) {
  std::vector<std::string> words = run.remaining();
  if (words.empty()) return {};
  if (words.front().starts_with('-')) {
    std::vector<std::string> names;
    for (const CLI::Option* option : run.get_options()) names.push_back(option->get_name());
    std::vector<std::string_view> views(names.begin(), names.end());
    return {Code::bad_input, "reading the command line", "unknown option " + words.front(),
            did_you_mean(words.front().substr(0, words.front().find('=')), views, "see holdfast run --help")};
  }
  if (!flags.request.application.empty())
    return {Code::bad_input, "reading the command line", "'" + words.front() + "' before -- is not understood",
            "put the program after --"};
  flags.request.application = std::move(words);
  return {};
}

Status take_time_limit(RunRunFlags& flags) {
  if (!flags.time_limit) return {};
  auto limit = read_duration("--time-limit", *flags.time_limit, 1, ten_years_ns);
  if (limit.ok()) flags.request.time_limit_ns = limit.value();
  return limit.status();
}

/// Before anything is started: the transport itself would find out in every process of the job.
/// Interfaces are known where all processes run on this host.
Status check_rails(const launch::JobRequest& request) {
  const char* variable = std::getenv("HOLDFAST_RAILS_USE");
  const std::string text = request.rails.value_or(variable != nullptr ? variable : "");
  const std::string doing = request.rails ? "reading --rails" : "reading HOLDFAST_RAILS_USE";
  if (!request.transport) return {};
  auto rails = transport::parse_rails(text);
  if (!rails.ok()) return {Code::bad_input, doing, rails.status().wrong(), rails.status().remedy()};
  const bool elsewhere = request.hostfile.has_value() || std::getenv("SLURM_JOB_ID") != nullptr;
  for (const transport::RailSpec& rail : rails.value()) {
    const bool of_the_kernel = rail.kind == "udp" || rail.kind == "tcp" || rail.kind == "sockets";
    if (elsewhere || !of_the_kernel || rail.interface.empty() || if_nametoindex(rail.interface.c_str()) != 0) continue;
    return {Code::bad_input, doing, "this host has no interface " + rail.interface,
            "'ip link' lists them, 'holdfast doctor' the rails"};
  }
  return {};
}

int run_action(const CLI::App& run, RunRunFlags& flags) {
  config::AnySettings* tables[] = {flags.library.get()};
  Status status = take_application(run, flags);
  if (status.ok()) status = flags.status;
  if (status.ok()) status = config::read_environment(*flags.library, environ);
  if (status.ok() && flags.config_file) status = config::read_toml_file(*flags.config_file, tables);
  if (status.ok()) status = take_time_limit(flags);
  if (status.ok()) status = check_rails(flags.request);
  if (!status.ok()) return complain(status);
  if (flags.request.record && launch::is_default(*flags.library, "replicate.degree"))
    status = flags.library->set("replicate.degree", "1", {config::Source::row_default, ""});
  if (!status.ok()) return complain(status);
  status = output::check_standard_output();
  if (status.ok() && flags.request.json) status = output::check_file(*flags.request.json);
  if (!status.ok()) return complain(status);
  flags.request.library = flags.library.get();
  return launch::run_job(flags.request, std::cout, std::cerr);
}

}  // namespace

void add_run(CLI::App& app, Action& action, const std::vector<std::string>& application) {
  CLI::App* run = app.add_subcommand("run",
                                     "Run an unmodified MPI program in several replicas, so that flipped bits are "
                                     "detected and corrected");
  auto flags = std::make_shared<RunRunFlags>();
  flags->request.application = application;
  run->prefix_command();
  run->footer(run_footer + exit_code_help());
  add_own_options(*run, *flags);
  add_library_options(*run, *flags);
  run->callback([run, flags, &action] { action = [run, flags] { return run_action(*run, *flags); }; });
}

}  // namespace holdfast::cli
