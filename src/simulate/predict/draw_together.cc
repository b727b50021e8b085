#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "core/event/json.h"
#include "core/stats/confidence.h"
#include "core/stats/moments.h"
#include "simulate/predict/isolation.h"
#include "simulate/predict/prediction.h"

namespace holdfast::simulate::predict {
namespace {

using study::Database;
using study::Json;

constexpr double confidence = 0.95;
constexpr std::size_t links_told = 3;

/// Rows come from a file: what is not there, or of another kind, is nothing.
double number_in(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::uint64_t whole_in(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string text_in(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> texts_in(const Json& object, const char* name) {
  std::vector<std::string> texts;
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end() || !found->is_array()) return texts;
  for (const Json& each : *found)
    if (each.is_string()) texts.push_back(each.get<std::string>());
  return texts;
}

Estimate estimate(const stats::Moments& moments) {
  Estimate found{moments.mean()};
  const auto interval = stats::mean_interval(moments, confidence);
  if (!interval.ok()) return found;
  found.low = interval.value().low;
  found.high = interval.value().high;
  return found;
}

RunTimeline timeline_of(const Json& result) {
  RunTimeline timeline;
  const auto found = result.find("timeline");
  if (found == result.end()) return timeline;
  timeline.bin_s = number_in(*found, "bin_ps") / 1e12;
  if (const auto ranks = found->find("ranks"); ranks != found->end() && ranks->is_array())
    for (const Json& rank : *ranks)
      if (rank.is_number_unsigned()) timeline.ranks.push_back(rank.get<std::uint32_t>());
  timeline.computing = texts_in(*found, "computing");
  timeline.message = texts_in(*found, "message");
  timeline.collective = texts_in(*found, "collective");
  return timeline;
}

RunLoad load_of(const Json& result) {
  RunLoad load;
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (const auto busy = result.find("busy"); busy != result.end() && busy->is_array())
    for (const Json& one : *busy)
      if (one.is_array() && one.size() == 2 && one[0].is_number_unsigned() && one[1].is_number() &&
          one[0].get<std::uint64_t>() <= most)
        load.busy[one[0].get<std::uint32_t>()] = one[1].get<double>();
  if (const auto down = result.find("down"); down != result.end() && down->is_array())
    for (const Json& one : *down)
      if (one.is_number_unsigned() && one.get<std::uint64_t>() <= most) load.down.push_back(one.get<std::uint32_t>());
  return load;
}

/// A scenario under way.
struct Open {
  Outlook outlook;
  stats::Moments time, computing, waiting, failed;
  stats::Moments lost, sent_again, stall_s;  ///< of runs in which parts failed
  stats::Moments verified, records, copies, copy_bytes, mismatches, corrections;
  std::map<std::uint64_t, double> time_by_seed;
  std::map<std::string, FullLink> links;
};

void add(Open& open, const Json& parameters, const study::Finished& finished) {
  Outlook& outlook = open.outlook;
  ++outlook.asked;
  ++outlook.outcomes[finished.outcome];
  const Json& result = finished.result;
  open.failed.add(number_in(result, "failed_links") + number_in(result, "failed_switches") +
                  number_in(result, "failed_others"));
  if (finished.outcome != "measured") {
    if (outlook.reason.empty()) outlook.reason = text_in(result, "reason");
    return;
  }
  ++outlook.measured;
  const double time_s = number_in(result, "time_ps") / 1e12;
  open.time.add(time_s);
  open.time_by_seed[whole_in(parameters, "seed")] = time_s;
  open.computing.add(number_in(result, "computing_share"));
  open.waiting.add(number_in(result, "waiting_share"));
  if (const auto links = result.find("links"); links != result.end() && links->is_array())
    for (const Json& link : *links) {
      FullLink& full = open.links[text_in(link, "name")];
      full.bytes += number_in(link, "bytes");
      full.share += number_in(link, "share");
      ++full.runs;
    }
  if (const auto faults = result.find("faults"); faults != result.end() && faults->is_object()) {
    open.lost.add(number_in(*faults, "lost"));
    open.sent_again.add(number_in(*faults, "sent_again"));
    open.stall_s.add(number_in(*faults, "longest_stall_ps") / 1e12);
  }
  if (const auto work = result.find("replication"); work != result.end() && work->is_object()) {
    open.verified.add(number_in(*work, "verified"));
    open.records.add(number_in(*work, "records"));
    open.copies.add(number_in(*work, "copies"));
    open.copy_bytes.add(number_in(*work, "copy_bytes"));
    open.mismatches.add(number_in(*work, "mismatches"));
    open.corrections.add(number_in(*work, "corrections"));
    if (number_in(*work, "corrections") > 0) ++outlook.corrected;
  }
  if (!outlook.timeline) outlook.timeline = timeline_of(result);
  if (!outlook.load && result.contains("busy")) outlook.load = load_of(result);
}

/// Its times by those of another scenario, seed against seed where that has seeds, too: its placement is the same.
std::optional<Estimate> ratio_to(const Open& open, const Open* base) {
  if (base == nullptr || base->time_by_seed.empty()) return std::nullopt;
  stats::Moments ratio;
  for (const auto& [seed, time] : open.time_by_seed) {
    const auto same = base->time_by_seed.find(seed);
    const double other = (same != base->time_by_seed.end() ? same : base->time_by_seed.begin())->second;
    if (other > 0) ratio.add(time / other);
  }
  if (ratio.count() == 0) return std::nullopt;
  return estimate(ratio);
}

/// The same scenario but for one thing.
struct Others {
  const Open* healthy = nullptr;
  const Open* unprotected = nullptr;
  const Open* plain = nullptr;
  const Open* messages = nullptr;
};

void close(Open& open, const Others& others) {
  Outlook& outlook = open.outlook;
  if (outlook.asked > 0) outlook.failed = open.failed.mean();
  if (outlook.measured == 0) return;
  outlook.time_s = estimate(open.time);
  outlook.computing = open.computing.mean();
  outlook.waiting = open.waiting.mean();
  if (open.lost.count() > 0)
    outlook.interruption = Interruption{open.lost.mean(), open.sent_again.mean(), open.stall_s.mean()};
  for (auto& [name, link] : open.links) {
    link.name = name;
    link.bytes /= static_cast<double>(link.runs);
    link.share /= static_cast<double>(link.runs);
    outlook.links.push_back(link);
  }
  std::stable_sort(outlook.links.begin(), outlook.links.end(),
                   [](const FullLink& one, const FullLink& other) { return one.bytes > other.bytes; });
  if (outlook.links.size() > links_told) outlook.links.resize(links_told);
  outlook.ratio = ratio_to(open, others.healthy);
  if (outlook.replicas > 1) outlook.to_unprotected = ratio_to(open, others.unprotected);
  if (outlook.sender != "plain") outlook.to_plain = ratio_to(open, others.plain);
  if (outlook.collectives != "mpi") outlook.to_mpi = ratio_to(open, others.messages);
  if (open.records.count() > 0)
    outlook.replication = ReplicationWork{open.verified.mean(),   open.records.mean(),    open.copies.mean(),
                                          open.copy_bytes.mean(), open.mismatches.mean(), open.corrections.mean()};
}

bool is_apart(const Estimate& less, const Estimate& more) {
  return less.high.value_or(less.mean) < more.low.value_or(more.mean);
}

/// The mean time of an engine over all scenarios, where the job ended in all runs.
struct Standing {
  std::string engine;
  stats::Moments time;
  std::size_t runs = 0, ended = 0;
  std::string otherwise;
};

std::vector<Standing> standings(const std::vector<Outlook>& outlooks) {
  std::vector<Standing> all;
  for (const Outlook& outlook : outlooks) {
    auto found = std::ranges::find(all, outlook.engine, &Standing::engine);
    if (found == all.end()) found = all.insert(all.end(), {outlook.engine, {}, 0, 0, ""});
    found->runs += outlook.asked;
    found->ended += outlook.measured;
    if (outlook.measured > 0) found->time.add(outlook.time_s.mean);
    for (const auto& [outcome, count] : outlook.outcomes)
      if (outcome != "measured" && found->otherwise.empty())
        found->otherwise =
            fmt::format("'{}' with {}", outcome, outlook.failures == "none" ? "nothing failed" : outlook.failures);
  }
  return all;
}

/// The outlooks of scenarios in which some engine's run ended; of the others, what is told of them.
std::vector<Outlook> where_engines_matter(const std::vector<Outlook>& outlooks, std::vector<std::string>& told) {
  std::vector<Outlook> kept;
  std::set<std::string> hopeless;
  for (const Outlook& outlook : outlooks) {
    const bool some = std::ranges::any_of(outlooks, [&](const Outlook& other) {
      return other.placement == outlook.placement && other.failures == outlook.failures && other.measured > 0;
    });
    if (some)
      kept.push_back(outlook);
    else if (outlook.asked > 0 && hopeless.insert(outlook.failures + outlook.placement).second)
      told.push_back(fmt::format("No engine helps with {}, {}: {}.", outlook.failures, outlook.placement,
                                 outlook.outcomes.begin()->first));
  }
  return kept;
}

void advise_engine(const std::vector<Outlook>& outlooks, std::vector<std::string>& advice) {
  std::vector<std::string> hopeless;
  std::vector<Standing> all = standings(where_engines_matter(outlooks, hopeless));
  std::vector<Standing> whole;
  for (const Standing& one : all)
    if (one.runs > 0 && one.ended == one.runs) whole.push_back(one);
  std::stable_sort(whole.begin(), whole.end(),
                   [](const Standing& one, const Standing& other) { return one.time.mean() < other.time.mean(); });
  if (whole.empty()) {
    advice.push_back("With no engine did the job end in every run.");
  } else if (all.size() > 1 && whole.size() == 1) {
    advice.push_back(fmt::format("Take {}: with it alone did the job end in every run.", whole.front().engine));
  } else if (whole.size() > 1) {
    const double more = whole[1].time.mean() / whole[0].time.mean() - 1;
    advice.push_back(more < 0.01
                         ? fmt::format("Take {} or {}: the job's times differ by {:.2f} % over all scenarios.",
                                       whole[0].engine, whole[1].engine, 100 * more)
                         : fmt::format("Take {}: over all scenarios the job takes {:.1f} % longer with the next, {}.",
                                       whole[0].engine, 100 * more, whole[1].engine));
  }
  for (const Standing& one : all)
    if (one.ended < one.runs)
      advice.push_back(fmt::format("{}: in {} of {} runs the job did not end ({}).", one.engine, one.runs - one.ended,
                                   one.runs, one.otherwise));
  for (std::string& words : hopeless) advice.push_back(std::move(words));
}

/// Engines are compared where there are fewest replicas.
std::vector<Outlook> with_fewest_replicas(const std::vector<Outlook>& outlooks) {
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  for (const Outlook& outlook : outlooks) fewest = std::min(fewest, outlook.replicas);
  std::vector<Outlook> kept;
  for (const Outlook& outlook : outlooks)
    if (outlook.replicas == fewest) kept.push_back(outlook);
  return kept;
}

/// What so many replicas cost and did, over all scenarios.
struct ReplicaStanding {
  stats::Moments ratio;
  double least = 0, most = 0;
  std::size_t runs = 0, stopped = 0, corrected = 0;  ///< runs; ended by the replicas; with corrections
};

void advise_replicas(const std::vector<Outlook>& outlooks, std::vector<std::string>& advice) {
  std::map<std::uint64_t, ReplicaStanding> standings;
  for (const Outlook& outlook : outlooks) {
    if (outlook.replicas < 2) continue;
    ReplicaStanding& one = standings[outlook.replicas];
    one.runs += outlook.asked;
    for (const auto& [outcome, count] : outlook.outcomes)
      if (outcome == "uncorrected" || outcome == "diverged") one.stopped += count;
    one.corrected += outlook.corrected;
    if (!outlook.to_unprotected) continue;
    const double ratio = outlook.to_unprotected->mean;
    one.least = one.ratio.count() == 0 ? ratio : std::min(one.least, ratio);
    one.most = one.ratio.count() == 0 ? ratio : std::max(one.most, ratio);
    one.ratio.add(ratio);
  }
  for (const auto& [degree, one] : standings) {
    std::string words = fmt::format("{} replicas take {} times the places", degree, degree);
    if (one.ratio.count() > 0) {
      words += fmt::format(", and the job {:.3f} times as long as without", one.ratio.mean());
      if (one.most - one.least >= 0.0005) words += fmt::format(" ({:.3f} to {:.3f})", one.least, one.most);
    }
    if (one.stopped > 0)
      words += fmt::format("; in {} of {} runs flips ended it, which so many cannot correct", one.stopped, one.runs);
    if (one.corrected > 0) words += fmt::format("; in {} of {} runs flips were corrected", one.corrected, one.runs);
    advice.push_back(words + ".");
  }
}

/// Another way to do the same, over all scenarios.
struct Alternative {
  stats::Moments ratio;
  double least = 0, most = 0;
  std::size_t runs = 0, ended = 0;

  void add(const Outlook& outlook, const std::optional<Estimate>& to_other) {
    runs += outlook.asked;
    ended += outlook.measured;
    if (!to_other) return;
    least = ratio.count() == 0 ? to_other->mean : std::min(least, to_other->mean);
    most = ratio.count() == 0 ? to_other->mean : std::max(most, to_other->mean);
    ratio.add(to_other->mean);
  }
  std::string in_words(const char* how, const char* than) const {
    std::string words = fmt::format("{} the job ended in {} of {} runs", how, ended, runs);
    if (ratio.count() > 0)
      words += fmt::format(", and took {:.3f} times as long as {} ({:.3f} to {:.3f})", ratio.mean(), than, least, most);
    return words + ".";
  }
};

/// What the transport costs, what collectives in the network gain, and where the job ended by them alone.
void advise_alternatives(const std::vector<Outlook>& outlooks, std::vector<std::string>& advice) {
  Alternative transport, in_network;
  for (const Outlook& outlook : outlooks) {
    if (outlook.sender != "plain") transport.add(outlook, outlook.to_plain);
    if (outlook.collectives != "mpi") in_network.add(outlook, outlook.to_mpi);
  }
  if (transport.runs > 0) advice.push_back(transport.in_words("Over the transport", "over plain connections"));
  if (in_network.runs > 0)
    advice.push_back(in_network.in_words("With collectives of switches", "with those of messages"));
}

void advise(PredictionRecord& record) {
  if (record.finished < record.points) {
    record.advice.push_back(fmt::format("Only {} of {} runs have ended.", record.finished, record.points));
  }
  advise_engine(with_fewest_replicas(record.outlooks), record.advice);
  advise_replicas(record.outlooks, record.advice);
  advise_alternatives(record.outlooks, record.advice);
  for (std::string& words : advise_isolation(record.outlooks)) record.advice.push_back(std::move(words));
  const Outlook* worst = nullptr;
  for (const Outlook& outlook : record.outlooks)
    if (outlook.ratio && !outlook.healthy && (worst == nullptr || outlook.ratio->mean > worst->ratio->mean))
      worst = &outlook;
  if (worst != nullptr) {
    const Estimate& ratio = *worst->ratio;
    const bool slower = is_apart({1}, ratio);
    record.advice.push_back(
        slower ? fmt::format("At worst ({}, {}, {}) it takes {:.3f} times as long as on the healthy fabric.",
                             worst->engine, worst->placement, worst->failures, ratio.mean)
               : "No failure that was asked for makes it slower than its spread over seeds shows.");
  }
}

/// The fabric as it is given, and the slowest with failures.
std::vector<std::size_t> worth_showing(const std::vector<Outlook>& outlooks) {
  std::optional<std::size_t> healthy, slowest;
  for (std::size_t i = 0; i < outlooks.size(); ++i) {
    if (outlooks[i].measured == 0) continue;
    if (outlooks[i].healthy && !healthy) healthy = i;
    if (!outlooks[i].healthy && (!slowest || outlooks[i].time_s.mean > outlooks[*slowest].time_s.mean)) slowest = i;
  }
  std::vector<std::size_t> shown;
  for (const auto& one : {healthy, slowest})
    if (one) shown.push_back(*one);
  return shown;
}

/// What is told of all runs of a recording on a fabric, and those.
PredictionRecord draw_one(const std::string& name, const Json& about, const std::vector<const Database::Row*>& rows) {
  PredictionRecord record;
  record.trace = name;
  record.group = text_in(about, "group");
  record.fabric = text_in(about, "fabric");
  record.mpi = text_in(about, "rules");
  record.ranks = static_cast<std::uint32_t>(whole_in(about, "ranks"));
  record.recorded_s = number_in(about, "recorded_ns") / 1e9;
  record.assumed = texts_in(about, "assumed");
  record.notes = texts_in(about, "notes");
  std::vector<Open> all;
  for (const Database::Row* one : rows) {
    const Database::Row& row = *one;
    const std::string engine = text_in(row.parameters, "engine"), placement = text_in(row.parameters, "placement"),
                      failures = text_in(row.parameters, "failures");
    const std::uint64_t replicas = std::max<std::uint64_t>(whole_in(row.parameters, "replicas"), 1);
    const std::string sender = row.parameters.contains("sender") ? text_in(row.parameters, "sender") : "plain";
    const std::string collectives =
        row.parameters.contains("collectives") ? text_in(row.parameters, "collectives") : "mpi";
    auto found = std::ranges::find_if(all, [&](const Open& open) {
      const Outlook& outlook = open.outlook;
      return outlook.engine == engine && outlook.placement == placement && outlook.failures == failures &&
             outlook.replicas == replicas && outlook.sender == sender && outlook.collectives == collectives;
    });
    if (found == all.end()) {
      found = all.insert(all.end(), Open{});
      found->outlook.engine = engine;
      found->outlook.placement = placement;
      found->outlook.failures = failures;
      found->outlook.replicas = replicas;
      found->outlook.sender = sender;
      found->outlook.collectives = collectives;
      found->outlook.healthy = failures == "none";
    }
    ++record.points;
    if (!row.finished) continue;
    ++record.finished;
    add(*found, row.parameters, *row.finished);
  }
  for (Open& open : all) {
    const Outlook& own = open.outlook;
    const auto other = [&](const std::string& failures, std::uint64_t replicas, const std::string& sender,
                           const std::string& collectives) {
      const auto found = std::ranges::find_if(all, [&](const Open& each) {
        return each.outlook.engine == own.engine && each.outlook.placement == own.placement &&
               each.outlook.failures == failures && each.outlook.replicas == replicas &&
               each.outlook.sender == sender && each.outlook.collectives == collectives;
      });
      return found == all.end() ? nullptr : &*found;
    };
    close(open, {other("none", own.replicas, own.sender, own.collectives),
                 other(own.failures, 1, own.sender, own.collectives),
                 other(own.failures, own.replicas, "plain", own.collectives),
                 other(own.failures, own.replicas, own.sender, "mpi")});
  }
  for (Open& open : all) record.outlooks.push_back(std::move(open.outlook));
  record.shown = worth_showing(record.outlooks);
  advise(record);
  return record;
}

}  // namespace

Result<std::vector<PredictionRecord>> draw_together(const study::Study& study, const Database& database) {
  auto rows = database.rows();
  if (!rows.ok()) return rows.status();
  const Json about = event::parse_json(study.text);
  std::vector<PredictionRecord> records;
  const auto parts = about.is_object() ? about.find("parts") : about.end();
  if (parts == about.end() || !parts->is_array()) {
    std::vector<const Database::Row*> all;
    for (const Database::Row& row : rows.value()) all.push_back(&row);
    records.push_back(draw_one(study.name, about, all));
    return records;
  }
  for (const Json& part : *parts) {
    std::vector<const Database::Row*> own;
    for (const Database::Row& row : rows.value())
      if (row.group == text_in(part, "group") && text_in(row.parameters, "trace") == text_in(part, "trace") &&
          text_in(row.parameters, "fabric") == text_in(part, "fabric"))
        own.push_back(&row);
    records.push_back(draw_one(text_in(part, "trace"), part, own));
  }
  return records;
}

}  // namespace holdfast::simulate::predict
