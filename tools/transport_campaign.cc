// Runs worlds by the thousand: each is one seed, and one command runs it again. See docs/design/transport.md.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/event/record.h"
#include "transport/engine/planted.h"
#include "transport/world/world.h"

namespace {

using namespace holdfast;
using namespace holdfast::transport;

#ifdef HOLDFAST_PLANTED_FAULTS
const std::map<std::string, Planted> mechanisms = {
    {"none", Planted::none},
    {"accept-duplicates", Planted::accept_duplicates},
    {"ignore-checksums", Planted::ignore_checksums},
    {"ignore-order", Planted::ignore_order},
    {"acknowledge-too-much", Planted::acknowledge_too_much},
    {"forget-retransmission", Planted::forget_retransmission},
    {"lose-completion", Planted::lose_completion},
    {"leak-buffer", Planted::leak_buffer},
    {"ignore-identities", Planted::ignore_identities},
    {"ignore-tags", Planted::ignore_tags},
    {"forget-lost-peers", Planted::forget_lost_peers},
    {"write-before-check", Planted::write_before_check},
};
#endif

struct Arguments {
  std::uint64_t worlds = 1000;
  std::uint64_t first = 1;
  std::uint64_t only = 0;
  double limit_s = 0;
  bool json = false;
  bool keep_going = false;
};

/// Sums over worlds.
struct Totals {
  std::uint64_t worlds = 0;
  std::uint64_t bad = 0;
  std::uint64_t messages = 0;
  std::uint64_t delivered = 0;
  std::uint64_t failed = 0;
  std::uint64_t remote = 0;
  std::uint64_t remote_good = 0;
  std::uint64_t packets = 0;
  std::int64_t simulated_ns = 0;
  Counters counters;
  std::vector<std::uint64_t> bad_seeds;

  void add(const Verdict& verdict) {
    ++worlds;
    messages += verdict.messages;
    delivered += verdict.delivered;
    failed += verdict.failed;
    remote += verdict.remote;
    remote_good += verdict.remote_good;
    packets += verdict.packets;
    simulated_ns += verdict.duration_ns;
    counters += verdict.counters;
    if (verdict.good()) return;
    ++bad;
    if (bad_seeds.size() < 50) bad_seeds.push_back(verdict.seed);
  }
};

void show_verdict(const Verdict& verdict) {
  std::cout << draw_plan(verdict.seed).describe();
  std::cout << "  " << verdict.messages << " messages, " << verdict.delivered << " delivered, " << verdict.failed
            << " operations failed, " << verdict.remote_good << " of " << verdict.remote << " on remote memory good, "
            << verdict.packets << " packets, " << verdict.duration_ns / 1'000'000 << " ms\n";
  for (const std::string& complaint : verdict.complaints) std::cout << "  WRONG: " << complaint << "\n";
}

int replay(const Arguments& arguments) {
  const Verdict verdict = run_world(arguments.only);
  show_verdict(verdict);
  for (std::size_t i = 0; i < counter_rows.size(); ++i) {
    if (verdict.counters.values()[i] > 0)
      std::cout << "  " << counter_rows[i].name << " " << verdict.counters.values()[i] << "\n";
  }
  std::cout << (verdict.good() ? "all promises kept\n" : "a promise was broken\n");
  return verdict.good() ? 0 : 1;
}

void show_table(const Totals& totals, double seconds) {
  std::cout << "| what | how many |\n|---|---|\n";
  const auto row = [](std::string_view what, std::uint64_t value) {
    std::cout << "| " << what << " | " << value << " |\n";
  };
  row("worlds", totals.worlds);
  row("worlds in which a promise was broken", totals.bad);
  row("messages", totals.messages);
  row("messages delivered", totals.delivered);
  row("sends and receives that ended in an error", totals.failed);
  row("operations on remote memory", totals.remote);
  row("operations on remote memory that ended well", totals.remote_good);
  row("packets", totals.packets);
  for (std::size_t i = 0; i < counter_rows.size(); ++i) row(counter_rows[i].name, totals.counters.values()[i]);
  std::cout << "| simulated time | " << totals.simulated_ns / 1'000'000'000 << " s |\n";
  std::cout << "| time | " << static_cast<std::uint64_t>(seconds) << " s |\n";
}

void show_json(const Arguments& arguments, const Totals& totals, double seconds) {
  nlohmann::ordered_json record = event::make_record("holdfast.transport-campaign", 1);
  record["first_seed"] = arguments.first;
  record["worlds"] = totals.worlds;
  record["broken"] = totals.bad;
  record["broken_seeds"] = totals.bad_seeds;
  record["messages"] = totals.messages;
  record["delivered"] = totals.delivered;
  record["failed"] = totals.failed;
  record["remote"] = totals.remote;
  record["remote_good"] = totals.remote_good;
  record["packets"] = totals.packets;
  record["simulated_ns"] = totals.simulated_ns;
  record["seconds"] = seconds;
  record["counters"] = event::counters_json(counter_rows, totals.counters.values());
  std::cout << event::record_text(record);
}

int campaign(const Arguments& arguments) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  Totals totals;
  double shown = 0;
  for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.worlds; ++seed) {
    const Verdict verdict = run_world(seed);
    totals.add(verdict);
    if (!verdict.good()) {
      if (!arguments.json) show_verdict(verdict);
      if (!arguments.keep_going) break;
    }
    const double now = seconds();
    if (arguments.limit_s > 0 && now > arguments.limit_s) break;
    if (now - shown < (terminal ? 0.2 : 30.0)) continue;
    shown = now;
    std::cerr << (terminal ? "\r" : "") << totals.worlds << " of " << arguments.worlds << " worlds, " << totals.bad
              << " broken" << (terminal ? "   " : "\n") << std::flush;
  }
  if (terminal) std::cerr << "\n";
  arguments.json ? show_json(arguments, totals, seconds()) : show_table(totals, seconds());
  return totals.bad == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Runs the transport's protocol engine in simulated worlds: lossy, repeating, reordering and corrupting rails "
      "that "
      "die and return, peers that restart, clocks that jump. An oracle judges every world. Exit code 1 when it found "
      "anything.");
  app.footer(
      "Examples:\n  transport_campaign --worlds 100000\n  transport_campaign --seed 4711        one world again, in "
      "detail\n  transport_campaign_planted --planted accept-duplicates --worlds 100     the oracle must find this\n");
  app.add_option("--worlds", arguments.worlds, "How many")->capture_default_str();
  app.add_option("--first", arguments.first, "The first seed")->capture_default_str();
  app.add_option("--seed", arguments.only, "Run the world of this seed alone, and say all about it");
  app.add_option("--limit", arguments.limit_s, "Stop after this many seconds (0: never)")->capture_default_str();
  app.add_flag("--json", arguments.json, "Print a record instead of a table");
  app.add_flag("--keep-going", arguments.keep_going, "Go on after a world in which a promise was broken");
#ifdef HOLDFAST_PLANTED_FAULTS
  app.add_option("--planted", planted, "Leave out one mechanism of the engine")
      ->transform(CLI::CheckedTransformer(mechanisms))
      ->type_name("MECHANISM");
#endif
  CLI11_PARSE(app, argc, argv);
  return arguments.only != 0 ? replay(arguments) : campaign(arguments);
}
