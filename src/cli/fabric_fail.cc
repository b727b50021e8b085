#include <fmt/format.h>

#include <charconv>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/fabric_subcommands.h"
#include "cli/numbers.h"
#include "core/event/record.h"
#include "core/fault/grammar.h"
#include "fabric/compare/health.h"
#include "fabric/faults/failures.h"
#include "fabric/faults/names.h"
#include "fabric/formats/export.h"

namespace holdfast::cli {
namespace {

struct FailFlags {
  std::string source;
  std::vector<std::string> faults;
  std::string what_if;
  std::string engine;
  unsigned lanes = 8;
  fabric::TableFiles tables;
  std::string at;
  std::uint64_t seed = 1;
  bool critical = false;
  fabric::Ageing ageing;
  std::string link_rate;
  std::string switch_rate;
  std::string adapter_rate;
  std::string ratio;
  std::string format = "ibnetdiscover";
  std::string output;
  bool json = false;
};

Status wrong_flag(const std::string& flag, const std::string& text, const std::string& remedy) {
  return {Code::bad_input, "reading the command line", flag + " " + text + " is not understood", remedy};
}

bool read_real(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// "0.9%"
Status read_percent(const std::string& flag, const std::string& text, double& value) {
  if (text.empty()) return {};
  if (!text.ends_with('%') || !read_real(std::string_view(text).substr(0, text.size() - 1), value))
    return wrong_flag(flag, text, "give a percentage, as 1%");
  value /= 100;
  return {};
}

/// "1:13": switches to links.
Status read_ratio(const std::string& text, std::optional<double>& links_per_switch) {
  if (text.empty()) return {};
  double switches = 0;
  double links = 0;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || !read_real(std::string_view(text).substr(0, colon), switches) ||
      !read_real(std::string_view(text).substr(colon + 1), links) || !(switches > 0) || !(links > 0) ||
      !(links / switches >= 1e-6 && links / switches <= 1e6))
    return wrong_flag("--switch-link-ratio", text, "as in 1:13, one switch for thirteen links");
  links_per_switch = links / switches;
  return {};
}

Status settle(FailFlags& flags, fabric::FailureRules& rules) {
  rules.seed = flags.seed;
  rules.critical_too = flags.critical;
  if (!flags.at.empty()) {
    Result<std::int64_t> at = read_duration("--at", flags.at, 0, std::numeric_limits<std::int64_t>::max());
    if (!at.ok()) return at.status();
    rules.until_ns = at.value();
  }
  Status status = read_percent("--link-rate", flags.link_rate, flags.ageing.link_rate);
  if (status.ok()) status = read_percent("--switch-rate", flags.switch_rate, flags.ageing.switch_rate);
  if (status.ok()) status = read_percent("--hca-rate", flags.adapter_rate, flags.ageing.adapter_rate);
  if (status.ok()) status = read_ratio(flags.ratio, flags.ageing.links_per_switch);
  if (!status.ok()) return status;
  const bool rates = !flags.link_rate.empty() || !flags.switch_rate.empty() || !flags.adapter_rate.empty();
  if (!flags.ratio.empty() && !flags.switch_rate.empty())
    return {Code::bad_input, "reading the command line", "--switch-rate and --switch-link-ratio say the same",
            "give one"};
  if (rates != (flags.ageing.years > 0))
    return {Code::bad_input, "reading the command line", "--years and annual rates belong together",
            "as --years 5 --link-rate 0.9%"};
  if (flags.faults.empty() && !rates)
    return {Code::bad_input, "reading the command line", "nothing is to fail", "give --faults, --years or --what-if"};
  return {};
}

void append(fabric::Failures& all, fabric::Failures more) {
  all.failed.insert(all.failed.end(), more.failed.begin(), more.failed.end());
  all.spared.insert(all.spared.end(), more.spared.begin(), more.spared.end());
}

Result<fabric::Failures> apply(fabric::Fabric& fabric, const FailFlags& flags, const fabric::FailureRules& rules) {
  std::string text;
  for (const std::string& fault : flags.faults) text += fault + "\n";
  Result<std::vector<fault::Fault>> faults = fault::parse(text, "--faults");
  if (!faults.ok()) return faults.status();
  Result<fabric::Failures> failures = fabric::fail(fabric, faults.value(), rules);
  if (!failures.ok() || flags.ageing.years <= 0) return failures;
  Result<fabric::Failures> aged = fabric::age(fabric, flags.ageing, rules);
  if (!aged.ok()) return aged.status();
  append(failures.value(), std::move(aged).value());
  return failures;
}

nlohmann::ordered_json json_of(const fabric::Fabric& fabric, const std::vector<fabric::Failure>& failures) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const fabric::Failure& failure : failures) {
    nlohmann::ordered_json entry = {{"component", fabric::name(failure.component)},
                                    {"name", fabric::describe(fabric, failure)},
                                    {"critical", failure.critical}};
    if (failure.years > 0) entry["years"] = failure.years;
    entry["links"] = nlohmann::ordered_json::array();
    for (fabric::LinkId link : failure.links) entry["links"].push_back(fabric::link_name(fabric, link));
    list.push_back(entry);
  }
  return list;
}

void print_text(std::ostream& out, const fabric::Fabric& fabric, const fabric::Failures& failures, std::uint64_t seed) {
  std::size_t links = 0;
  std::size_t critical = 0;
  for (const fabric::Failure& failure : failures.failed) {
    links += failure.links.size();
    critical += failure.critical ? 1 : 0;
    std::string line = fabric::describe(fabric, failure);
    if (failure.component != fabric::Component::link) line += fmt::format(", {} links", failure.links.size());
    if (failure.years > 0) line += fmt::format(", after {:.2f} years", failure.years);
    out << "failed        " << line << (failure.critical ? ", critical" : "") << "\n";
  }
  out << fmt::format("{} failures with {} links, {} critical; {} spared because hosts would be lost; seed {}\n",
                     failures.failed.size(), links, critical, failures.spared.size(), seed);
}

Status write_output(const fabric::Fabric& fabric, const FailFlags& flags) {
  if (flags.output.empty()) return {};
  Result<std::string> text = fabric::write_fabric(fabric, flags.format);
  if (!text.ok()) return text.status();
  return fabric::write_text_file(flags.output, text.value());
}

/// May this link be isolated? It answers for all the links that the text means, and writes the fabric without them.
int what_if(fabric::Fabric& fabric, const FailFlags& flags) {
  Result<std::vector<fabric::LinkId>> links = fabric::find_links(fabric, flags.what_if);
  if (!links.ok()) return complain(links.status());
  fabric::WhatIfOptions options;
  options.engine = flags.engine;
  options.routing.lanes = flags.lanes;
  std::optional<fabric::ImportedTables> tables;
  if (!flags.tables.forwarding.empty()) {
    Result<fabric::ImportedTables> read = fabric::open_tables(fabric, flags.tables);
    if (!read.ok()) return complain(read.status());
    tables = std::move(read).value();
    for (const std::string& note : tables->notes) std::cerr << "holdfast: note: " << note << "\n";
    options.tables = &tables->forwarding;
  }
  Result<fabric::WhatIf> answer = fabric::what_if(fabric, links.value(), options);
  if (!answer.ok()) return complain(answer.status());
  for (const fabric::LinkId link : links.value()) fabric.set_link_up(link, false);
  if (Status status = write_output(fabric, flags); !status.ok()) return complain(status);
  std::ostream& out = flags.output == "-" ? std::cerr : std::cout;
  out << (flags.json ? event::record_text(fabric::what_if_record(answer.value()))
                     : fabric::what_if_text(answer.value()));
  return answer.value().allowed() ? 0 : answer_is_no;
}

int fail(FailFlags flags) {
  Result<fabric::Imported> opened = open_fabric_with_notes(flags.source);
  if (!opened.ok()) return complain(opened.status());
  fabric::Fabric& fabric = opened.value().fabric;
  fabric::FailureRules rules;
  const bool asks = !flags.what_if.empty();
  if (Status status = check_table_flags(flags.tables); !status.ok()) return complain(status);
  if (!asks && (!flags.tables.forwarding.empty() || !flags.engine.empty()))
    return complain(
        {Code::bad_input, "reading the command line", "--tables and --engine belong to --what-if", "give the link"});
  if (!asks || !flags.faults.empty() || flags.ageing.years > 0) {
    if (Status status = settle(flags, rules); !status.ok()) return complain(status);
  }
  Result<fabric::Failures> failures = apply(fabric, flags, rules);
  if (!failures.ok()) return complain(failures.status());
  if (asks) return what_if(fabric, flags);
  if (Status status = write_output(fabric, flags); !status.ok()) return complain(status);
  // With the fabric on standard output, the report goes beside it.
  std::ostream& out = flags.output == "-" ? std::cerr : std::cout;
  if (!flags.json) {
    print_text(out, fabric, failures.value(), rules.seed);
    return 0;
  }
  nlohmann::ordered_json record = event::make_record("holdfast.fabric.fail", 1);
  record["fabric"] = flags.source;
  record["seed"] = rules.seed;
  record["failed"] = json_of(fabric, failures.value().failed);
  record["spared"] = json_of(fabric, failures.value().spared);
  out << event::record_text(record);
  return 0;
}

}  // namespace

void add_fabric_fail(CLI::App& fabric, Action& action) {
  CLI::App* command =
      fabric.add_subcommand("fail", "Let links, switches, ports and adapters fail, or ask what would happen");
  auto flags = std::make_shared<FailFlags>();
  add_fabric_argument(*command, flags->source);
  command->add_option("--faults", flags->faults, "What fails, as 'fail-link share 1%'; may be given again")
      ->type_name("FAULTS")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--at", flags->at, "The moment up to which faults with a time or mean have struck")
      ->type_name("DURATION");
  command->add_option("--years", flags->ageing.years, "Age the fabric by annual failure rates")
      ->type_name("N")
      ->check(real_number(0, 1000));
  command->add_option("--link-rate", flags->link_rate, "Switch-to-switch links that fail in a year, as 0.9%")
      ->type_name("P%");
  command->add_option("--switch-rate", flags->switch_rate, "Switches that fail in a year, as 1%")->type_name("P%");
  command->add_option("--switch-link-ratio", flags->ratio, "In place of --switch-rate: 1:13, a switch for 13 links")
      ->type_name("A:B");
  command->add_option("--hca-rate", flags->adapter_rate, "Adapters that fail in a year")->type_name("P%");
  command->add_option("--shape", flags->ageing.shape, "Weibull shape: below 1 early failures, above 1 wear. Default: 1")
      ->check(real_number(0.01, 100))
      ->type_name("K");
  command->add_option("--seed", flags->seed, "Which random failures. Default: 1")
      ->type_name("N")
      ->check(whole_number());
  command->add_flag("--critical", flags->critical, "Let random failures disconnect hosts");
  command->add_option("--what-if", flags->what_if, "May this link be isolated? 'NODE/PORT' or 'NODE - NODE'")
      ->type_name("LINK");
  command
      ->add_option("--engine", flags->engine,
                   "For --what-if: the engine that routes and mends. Default: updn; with --tables one that keeps "
                   "what they promise")
      ->type_name("NAME");
  command->add_option("--lanes", flags->lanes, "For --what-if: virtual lanes for data. Default: 8")
      ->type_name("N")
      ->check(whole_number(1, 15));
  add_table_flags(*command, flags->tables);
  command->add_option("--to", flags->format, "Format of -o, as for export. Default: ibnetdiscover")
      ->type_name("FORMAT");
  command->add_option("-o,--output", flags->output, "Write the fabric without what failed; - is standard output")
      ->type_name("FILE");
  command->add_flag("--json", flags->json, "Print a JSON record");
  command->footer(
      "Random failures never disconnect hosts unless --critical is given; what is named fails in any case.\n\n"
      "Examples:\n"
      "  holdfast fabric fail 16-ary-2-tree --faults 'fail-link share 1%' --seed 3 -o degraded\n"
      "  holdfast fabric fail tsubame2 --years 8 --link-rate 0.9% --switch-link-ratio 1:13 --to svg -o aged.svg\n"
      "  holdfast fabric fail cluster --faults 'fail-switch switch spine-3' -o - | holdfast fabric show /dev/stdin\n"
      "  holdfast fabric fail cluster --what-if 'leaf-1/17'\n"
      "  holdfast fabric fail cluster --what-if 'leaf-1/17' --tables opensm-lfts.dump --json\n\n"
      "--what-if says yes when no host is lost and the tables, mended, lose no pair and have no credit loop that was "
      "not\n"
      "there before. It ends with 0 for yes and 1 for no.\n");
  command->callback([flags, &action] { action = [flags] { return fail(*flags); }; });
}

}  // namespace holdfast::cli
