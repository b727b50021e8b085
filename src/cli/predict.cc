#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/fabric_subcommands.h"
#include "cli/numbers.h"
#include "cli/settings_flags.h"
#include "cli/study_pool.h"
#include "core/config/environment.h"
#include "core/config/toml_file.h"
#include "core/event/record.h"
#include "core/output/output_file.h"
#include "report/prediction_report.h"
#include "simulate/predict/prediction.h"

extern char** environ;

namespace holdfast::cli {
namespace {

constexpr const char* predict_footer =
    "Examples:\n"
    "  holdfast predict job.trace --fabric 'torus(5,5) links=6 hosts=275' --engines dfsssp,torus-2qos\n"
    "  holdfast predict job.trace --fabric 16-ary-2-tree --fail 'fail-link share 1%' --fail 'fail-switch share 5%'\n"
    "  holdfast predict job.trace --fabric cluster.ibnetdiscover --tables opensm-lfts.dump --page job.html\n"
    "  holdfast predict job.trace --fabric cluster.ibnetdiscover --placements block,random --config machine.toml\n"
    "  holdfast predict job.trace --fabric 16-ary-2-tree --replicas 1,2,3 --inject 'flip rate 1/10000'\n"
    "  holdfast predict job.trace --fabric 16-ary-2-tree --senders plain,transport --fail 'fail-link time 2s for 1s'\n"
    "  mpirun -n 64 --enable-recovery holdfast predict job.trace --fabric 14-ary-3-tree --fail 'fail-link share 1%'\n\n"
    "JOB is what 'holdfast run --record' wrote. Every engine is tried with every placement, number of replicas,\n"
    "sender and way of collectives, on the fabric as it is given and with each --fail; scenarios in which something "
    "is\n"
    "random are run with several seeds. What failed is routed around by the engines; by --tables it is not. A part "
    "can\n"
    "fail while the job runs ('fail-link time 2s', '... for 1s', 'noisy-link', 'slow-link'): packets are lost and go\n"
    "again, and the subnet manager writes new tables. Replicas are processes of their own, with the protocol engine of "
    "'holdfast run'. Sender\n"
    "'transport' is the engine of Holdfast's transport, as 'holdfast simulate --transport' has it.\n"
    "Finished runs are kept in the database, and the same command goes on after Ctrl-C or a crash. Equal arguments\n"
    "give equal answers, whatever the number of workers.\n"
    "Parameters of the MPI that nobody gave are named as assumed; 'holdfast calibrate' measures them.\n"
    "Exit code 1: in some run the job did not end.\n";

struct PredictFlags {
  simulate::predict::Question question;
  std::string engines, placements = "block", replicas = "1", senders = "plain", collectives = "mpi",
                       protocol = "msg-plus-hash";
  std::string hosts, host_file;
  std::optional<std::string> limit, config_file;
  std::string database, json, page;
  unsigned workers = 0;
  std::string silence = "60s";
  bool quiet = false;
  Status status;  ///< the first error of a flag of a setting
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = list.find(',', begin);
    std::string part = list.substr(begin, end == std::string::npos ? end : end - begin);
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(std::move(part));
  }
  return parts;
}

Status read_settings(PredictFlags& flags) {
  if (!flags.status.ok()) return flags.status;
  config::AnySettings* tables[] = {&flags.question.parameters, &flags.question.protocol,
                                   &flags.question.replication_costs, &flags.question.engine_options,
                                   &flags.question.datagrams};
  Status status;
  for (config::AnySettings* settings : tables)
    if (status.ok()) status = config::read_environment(*settings, environ);
  if (status.ok() && flags.config_file) status = config::read_toml_file(*flags.config_file, tables);
  return status.ok() ? simulate::check(flags.question.parameters.options()) : status;
}

Status read_question(PredictFlags& flags) {
  simulate::predict::Question& question = flags.question;
  if (Status status = read_settings(flags); !status.ok()) return status;
  if (Status status = check_table_flags(question.tables); !status.ok()) return status;
  if (flags.engines.empty() && question.tables.forwarding.empty()) flags.engines = "dfsssp";
  if (!flags.engines.empty()) {
    auto engines = fabric::parse_contenders(flags.engines);
    if (!engines.ok()) return engines.status();
    question.engines = std::move(engines).value();
  }
  question.placements = split(flags.placements);
  question.senders = split(flags.senders);
  question.collectives = split(flags.collectives);
  question.replicas.clear();
  for (const std::string& each : split(flags.replicas)) {
    int degree = 0;
    const auto [end, error] = std::from_chars(each.data(), each.data() + each.size(), degree);
    if (error != std::errc() || end != each.data() + each.size() || degree < 1 || degree > 16)
      return {Code::bad_input, "reading --replicas", "'" + each + "' is no number of replicas",
              "give numbers from 1 to 16, as 1,2,3"};
    question.replicas.push_back(degree);
  }
  auto protocol = simulate::job::parse_protocol(flags.protocol);
  if (!protocol.ok()) return protocol.status();
  question.replica_protocol = protocol.value();
  if (!flags.hosts.empty() || !flags.host_file.empty()) {
    auto hosts = flags.host_file.empty() ? simulate::job::parse_node_list(flags.hosts, "--hosts")
                                         : simulate::job::read_host_file(flags.host_file);
    if (!hosts.ok()) return hosts.status();
    question.hosts = std::move(hosts).value();
  }
  if (!flags.limit) return {};
  auto limit = read_duration("--limit", *flags.limit, 1, simulate::never / simulate::ps_per_ns);
  if (!limit.ok()) return limit.status();
  question.limit_ps = limit.value() * simulate::ps_per_ns;
  return {};
}

int answer(const PredictFlags& flags, const simulate::study::Study& study, const simulate::study::Database& database,
           int signal) {
  auto drawn = simulate::predict::draw_together(study, database);
  if (!drawn.ok()) return complain(drawn.status());
  simulate::predict::PredictionRecord& record = drawn.value().front();
  if (!flags.page.empty()) {
    if (Status status = simulate::predict::draw_fabrics(flags.question, record); !status.ok()) return complain(status);
    if (Status status = output::write_file(flags.page, report::prediction_html(record)); !status.ok())
      return complain(status);
  }
  if (flags.json == "-") {
    std::cout << event::record_text(report::prediction_json(record));
  } else {
    std::cout << report::prediction_text(record);
    if (!flags.json.empty())
      if (Status status = event::write_record_file(flags.json, report::prediction_json(record)); !status.ok())
        return complain(status);
  }
  if (signal != 0) return 128 + signal;
  for (const simulate::predict::Outlook& outlook : record.outlooks)
    if (outlook.measured < outlook.asked) return answer_is_no;
  return 0;
}

int coordinate(const PredictFlags& flags, const simulate::study::Study& study, std::int64_t silence_ns,
               simulate::study::Messages* messages) {
  const std::string path = flags.database.empty() ? study.name + ".predict.sqlite" : flags.database;
  auto opened = simulate::study::Database::open_to_write(path, study);
  if (!opened.ok()) return complain(opened.status());
  auto finished = opened.value().keys();
  if (!finished.ok()) return complain(finished.status());
  std::vector<std::size_t> todo;
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < study.points.size(); ++i)
    if (seen.insert(study.points[i].key).second && !finished.value().contains(study.points[i].key)) todo.push_back(i);
  std::size_t added = 0;
  const simulate::study::PoolEnd end = run_points(study, todo, {flags.workers, flags.quiet, silence_ns, messages},
                                                  seen.size() - todo.size(), opened.value(), added);
  if (!end.status.ok()) return complain(end.status);
  return answer(flags, study, opened.value(), end.signal);
}

int predict(PredictFlags& flags) {
  auto silence = read_duration("--silence", flags.silence, one_second_ns, one_day_ns);
  if (!silence.ok()) return complain(silence.status());
  if (Status status = read_question(flags); !status.ok()) return complain(status);
  auto study = simulate::predict::make_prediction(flags.question);
  if (!study.ok()) return complain(study.status());
  return run_in_job(*study.value(), silence.value(), [&](simulate::study::Messages* messages) {
    return coordinate(flags, *study.value(), silence.value(), messages);
  });
}

void add_question_flags(CLI::App& command, PredictFlags& flags) {
  simulate::predict::Question& question = flags.question;
  command.add_option("JOB", question.trace, "The folder of a recording")->required()->type_name("");
  command.add_option("--fabric", question.fabric, "A file, or a topology such as 'tree(16,2)'")
      ->required()
      ->type_name("FABRIC");
  command.add_option("--engines", flags.engines, "Routing engines, as dfsssp,opensm:ftree. Default: dfsssp")
      ->type_name("LIST");
  add_table_flags(command, question.tables);
  command.add_option("--lanes", question.lanes, "Virtual lanes that engines may use. Default: 8")
      ->type_name("N")
      ->check(whole_number(1, 15));
  command
      .add_option(
          "--fail", question.failures,
          "A scenario: what has failed or fails, as 'fail-link share 1%' or 'fail-link time 2s'; again for more")
      ->type_name("FAULTS")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--seeds", question.seeds, "Seeds of random failures and placements. Default: 3")
      ->type_name("N")
      ->check(whole_number(1, 100'000));
  command.add_option("--placements", flags.placements, "Of block, round-robin and random. Default: block")
      ->type_name("LIST");
  command.add_option("--ranks-per-host", question.ranks_per_host, "Places of a host. Default: 1")
      ->type_name("N")
      ->check(whole_number(1, 4096));
  auto* hosts = command.add_option("--hosts", flags.hosts, "The hosts, as a Slurm node list: node[01-16]");
  hosts->type_name("LIST");
  command.add_option("--host-file", flags.host_file, "The hosts, one a line: NAME [slots=N]")
      ->type_name("FILE")
      ->excludes(hosts);
  command.add_option("--replicas", flags.replicas, "Processes of each rank, as 1,2,3. Default: 1")->type_name("LIST");
  command
      .add_option("--protocol", flags.protocol,
                  "How replicas compare: msg-plus-hash, msg-plus-vote or all-to-all. Default: msg-plus-hash")
      ->type_name("NAME");
  command
      .add_option("--place-replicas", question.place_replicas,
                  "apart, together, or a map file of 'holdfast run'. Default: apart")
      ->type_name("HOW");
  command
      .add_option("--senders", flags.senders,
                  "Of plain (InfiniBand's connections) and transport (the engine of Holdfast's). Default: plain")
      ->type_name("LIST");
  command
      .add_option("--collectives", flags.collectives,
                  "Of mpi (as messages) and in-network (switches do what they can). Default: mpi")
      ->type_name("LIST");
  command.add_option("--inject", question.inject, "Flip bits in hosts of replicas, as 'flip rate 1/10000'")
      ->type_name("FAULT");
  command.add_option("--compute-scale", question.compute_scale, "Multiply the time between calls by this. Default: 1")
      ->type_name("FACTOR")
      ->check(real_number(0, 1e6));
  command.add_option("--limit", flags.limit, "End a run after this simulated time, as 20s")->type_name("DURATION");
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("predict", "Say how long a recorded job takes on a fabric, as engines and failures change it");
  auto flags = std::make_shared<PredictFlags>();
  command->footer(predict_footer);
  add_question_flags(*command, *flags);
  command->add_option("-d,--database", flags->database, "Where runs are kept. Default: JOB.predict.sqlite here")
      ->type_name("FILE");
  command->add_option("--json", flags->json, "Write the record to this file; - for the standard output")
      ->type_name("FILE");
  command->add_option("--page", flags->page, "Write a page with pictures, which needs nothing else")->type_name("FILE");
  add_pool_flags(*command, flags->workers, flags->silence);
  command->add_flag("-q,--quiet", flags->quiet, "No progress");
  command->add_option("--config", flags->config_file, "Read options from this TOML file")->type_name("FILE");
  add_settings_flags(*command, flags->question.protocol, flags->status,
                     "MPI's protocol (also HOLDFAST_MPI_*, or [mpi] of --config)");
  add_settings_flags(*command, flags->question.replication_costs, flags->status,
                     "What replicas cost (also HOLDFAST_REPLAY_*, or [replay] of --config)");
  add_settings_flags(*command, flags->question.engine_options, flags->status, "The transport");
  add_settings_flags(*command, flags->question.datagrams, flags->status, "The transport");
  add_settings_flags(*command, flags->question.parameters, flags->status,
                     "The model (also HOLDFAST_SIMULATE_*, or [simulate] of --config)");
  command->callback([flags, &action] { action = [flags] { return predict(*flags); }; });
}

}  // namespace holdfast::cli
