// Runs worlds of the replication engine by the thousand: each is one seed, and one command runs it again, event by
// event. See docs/design/replication-engine.md.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "replicate/world/world.h"

namespace {

using namespace holdfast::replicate;

struct Arguments {
  std::uint64_t worlds = 1000;
  std::uint64_t first = 1;
  std::uint64_t only = 0;
  std::string planted = "none";
};

Planted find_planted(const std::string& name) {
  for (const PlantedName& each : planted_names())
    if (each.name == name) return each.planted;
  return Planted::none;
}

void complain(const WorldReport& report) {
  std::cout << draw_plan(report.seed).describe();
  for (const std::string& complaint : report.complaints) std::cout << "  " << complaint << "\n";
}

int replay(std::uint64_t seed, Planted planted) {
  const WorldReport report = run_world(seed, planted, [](const std::string& event) { std::cout << event << "\n"; });
  complain(report);
  std::cout << (report.good() ? "good" : "BAD") << (report.failed ? ", ended by an incident" : "") << "\n";
  return report.good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Worlds of the replication engine");
  app.add_option("--worlds", arguments.worlds, "How many");
  app.add_option("--first", arguments.first, "The first one's seed");
  app.add_option("--seed", arguments.only, "This one alone, with every event");
  std::vector<std::string> names{"none"};
  for (const PlantedName& each : planted_names()) names.emplace_back(each.name);
  app.add_option("--planted", arguments.planted, "A fault of the engine to plant")->check(CLI::IsMember(names));
  CLI11_PARSE(app, argc, argv);
  const Planted planted = find_planted(arguments.planted);
  if (arguments.only != 0) return replay(arguments.only, planted);
  Counters counters;
  std::uint64_t bad = 0;
  std::uint64_t failed = 0;
  std::uint64_t diverging = 0;
  std::uint64_t noticed = 0;
  std::uint64_t silent = 0;
  std::uint64_t threads = 0;
  std::uint64_t ordered = 0;
  std::uint64_t deliveries = 0;
  std::uint64_t events = 0;
  for (std::uint64_t i = 0; i < arguments.worlds && bad < 20; ++i) {
    const WorldReport report = run_world(arguments.first + i, planted);
    counters += report.counters;
    failed += report.failed ? 1 : 0;
    diverging += report.diverges ? 1 : 0;
    noticed += report.diverges && report.failed ? 1 : 0;
    silent += report.diverges && report.silent ? 1 : 0;
    threads += report.threads ? 1 : 0;
    ordered += report.ordered ? 1 : 0;
    deliveries += report.deliveries;
    events += report.events;
    if (report.good()) continue;
    ++bad;
    complain(report);
  }
  std::cout << arguments.worlds << " worlds from seed " << arguments.first << ": " << bad << " bad, " << failed
            << " ended by an incident, " << deliveries << " deliveries, " << events << " events; " << diverging
            << " with a program that diverges: " << noticed << " ended by the engine, " << silent
            << " left to the silence limit; " << threads << " with threads, " << ordered << " of them in one order\n";
  for (std::size_t i = 0; i < counter_rows.size(); ++i)
    if (counters.values()[i] > 0) std::cout << "  " << counter_rows[i].name << " " << counters.values()[i] << "\n";
  return bad == 0 ? 0 : 1;
}
