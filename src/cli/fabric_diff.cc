#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/fabric_subcommands.h"
#include "core/event/record.h"
#include "fabric/faults/difference.h"
#include "fabric/faults/names.h"

namespace holdfast::cli {
namespace {

struct DiffFlags {
  std::string before;
  std::string after;
  bool json = false;
};

std::vector<std::string> nodes(const fabric::Fabric& fabric, const std::vector<fabric::NodeId>& ids) {
  std::vector<std::string> names;
  for (fabric::NodeId id : ids) names.push_back((fabric.is_switch(id) ? "switch " : "host ") + fabric.node(id).name);
  return names;
}

std::vector<std::string> links(const fabric::Fabric& fabric, const std::vector<fabric::LinkId>& ids) {
  std::vector<std::string> names;
  for (fabric::LinkId id : ids) names.push_back(fabric::link_name(fabric, id));
  return names;
}

using Section = std::pair<const char*, std::vector<std::string>>;

/// What there is to say, a list a kind.
std::vector<Section> sections_of(const fabric::Fabric& before, const fabric::Fabric& after,
                                 const fabric::Difference& found) {
  auto rates = [&](const std::vector<fabric::Difference::Rerated>& pairs) {
    std::vector<std::string> texts;
    for (const auto& [was, is] : pairs)
      texts.push_back(fmt::format("{}: {}, was {}", fabric::link_name(after, is), format(after.link(is).rate),
                                  format(before.link(was).rate)));
    return texts;
  };
  std::vector<std::string> renamed;
  for (const auto& [was, is] : found.renamed)
    renamed.push_back(fmt::format("{}, was {}", after.node(is).name, before.node(was).name));
  std::vector<std::string> lids;
  for (const auto& [was, is] : found.new_lids) lids.push_back(after.node(is).name);
  return {{"lost_nodes", nodes(before, found.lost_nodes)},
          {"new_nodes", nodes(after, found.new_nodes)},
          {"lost_links", links(before, found.lost_links)},
          {"new_links", links(after, found.new_links)},
          {"slower_links", rates(found.slower_links)},
          {"faster_links", rates(found.faster_links)},
          {"renamed", renamed},
          {"other_lids", lids}};
}

int diff(const DiffFlags& flags) {
  Result<fabric::Imported> before = open_fabric_with_notes(flags.before);
  if (!before.ok()) return complain(before.status());
  Result<fabric::Imported> after = open_fabric_with_notes(flags.after);
  if (!after.ok()) return complain(after.status());
  const fabric::Difference found = fabric::difference(before.value().fabric, after.value().fabric);
  const std::vector<Section> sections = sections_of(before.value().fabric, after.value().fabric, found);
  if (flags.json) {
    nlohmann::ordered_json record = event::make_record("holdfast.fabric.diff", 1);
    record["same_network"] = found.same_network();
    for (const auto& [title, texts] : sections) record[title] = texts;
    std::cout << event::record_text(record);
  } else {
    for (const auto& [title, texts] : sections) {
      std::string words(title);
      std::ranges::replace(words, '_', ' ');
      for (const std::string& text : texts) std::cout << fmt::format("{:<14}{}\n", words, text);
    }
    if (found.none_at_all()) std::cout << "no difference\n";
  }
  return found.same_network() ? 0 : answer_is_no;
}

}  // namespace

void add_fabric_diff(CLI::App& fabric, Action& action) {
  CLI::App* command = fabric.add_subcommand("diff", "Say what failed, came or changed between two states of a fabric");
  auto flags = std::make_shared<DiffFlags>();
  command->add_option("before", flags->before, "The healthy state")->required()->type_name("FABRIC");
  command->add_option("after", flags->after, "The state today")->required()->type_name("FABRIC");
  command->add_flag("--json", flags->json, "Print a JSON record");
  command->footer(
      "Nodes are the same when their GUIDs are, whatever the order of the files.\n\n"
      "Examples:\n  holdfast fabric diff healthy.ibnetdiscover today.ibnetdiscover\n\n"
      "Ends with 0 when the networks are the same but for names and LIDs, with 1 when they are not.\n");
  command->callback([flags, &action] { action = [flags] { return diff(*flags); }; });
}

}  // namespace holdfast::cli
