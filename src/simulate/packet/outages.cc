#include "simulate/packet/outages.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/random/stream.h"
#include "core/time/duration.h"
#include "fabric/faults/failures.h"
#include "fabric/faults/names.h"

namespace holdfast::simulate {
namespace {

Time moment_of(const fault::Fault& fault, Time begin) {
  const auto* time = std::get_if<fault::Time>(&fault.when);
  return time == nullptr ? 0 : time->after_ns * ps_per_ns - begin;
}

constexpr Time most_ns = never / ps_per_ns / 8;  // so that sums of moments fit
constexpr std::size_t most_strikes = 10'000;

Status refuse_fault(const fault::Fault& fault, std::string wrong, std::string remedy) {
  return {Code::bad_input, "applying the fault '" + fault::format(fault) + "'", std::move(wrong), std::move(remedy)};
}

struct Strike {
  Time at;
  std::size_t fault;
  std::uint64_t seed;
};

/// A change of links that the subnet manager can notice.
struct LinkChange {
  Time at;
  fabric::LinkId link;
  bool up;
};

class Planner {
 public:
  Planner(const fabric::Fabric& fabric, const fabric::Forwarding& tables, std::span<const fault::Fault> faults,
          const OutageRules& rules, const SubnetManager& manager, const Route& route)
      : fabric_(fabric), tables_(tables), faults_(faults), rules_(rules), manager_(manager), route_(route) {}

  Result<Outages> run() {
    struck_.resize(faults_.size());
    for (std::size_t i = 0; i < faults_.size(); ++i)
      if (Status status = schedule(i); !status.ok()) return status;
    std::stable_sort(strikes_.begin(), strikes_.end(), [](const Strike& a, const Strike& b) { return a.at < b.at; });
    fabric::Fabric now = fabric_;
    for (const Strike& strike : strikes_)
      if (Status status = take_down(strike, now); !status.ok()) return status;
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const LinkChange& a, const LinkChange& b) { return a.at < b.at; });
    if (route_) manage();
    std::stable_sort(plan_.steps.begin(), plan_.steps.end(),
                     [](const OutageStep& a, const OutageStep& b) { return a.at < b.at; });
    plan_.timeline.seed = rules_.seed;
    return std::move(plan_);
  }

 private:
  Status schedule(std::size_t index) {
    const fault::Fault& fault = faults_[index];
    const auto* moment = std::get_if<fault::Time>(&fault.when);
    if ((moment != nullptr && moment->after_ns > most_ns) || fault.lasts_ns > most_ns)
      return refuse_fault(fault, "the clock does not go so far", "give a shorter time");
    if (fault.kind == fault::Kind::noisy_link) return add_noise(fault);
    if (fault.kind == fault::Kind::slow_link) return add_slowness(fault);
    if (std::holds_alternative<fault::Share>(fault.when))
      return refuse_fault(fault, "a share does not pass", "leave out 'for', or name the parts");
    random::Stream draw = random::Stream(rules_.seed).child("traffic").child("faults").child(index);
    if (const auto* mean = std::get_if<fault::Mean>(&fault.when)) {
      if (rules_.horizon == never) return refuse_fault(fault, "it strikes again and again", "say until when: --limit");
      const double interval = static_cast<double>(mean->interval_ns) * ps_per_ns;
      for (double at = draw.exponential(interval); at < static_cast<double>(rules_.horizon);
           at += draw.exponential(interval)) {
        if (strikes_.size() == most_strikes)
          return refuse_fault(fault, "it strikes more than 10,000 times", "give a longer mean or a shorter --limit");
        strikes_.push_back({static_cast<Time>(at), index, draw.next64()});
      }
      return {};
    }
    const Time at = moment_of(fault, rules_.begin);
    if (at >= rules_.horizon && rules_.later_too) return {};
    if (at >= rules_.horizon) return refuse_fault(fault, "it strikes after the end of the run", "raise --limit");
    strikes_.push_back({at, index, draw.next64()});
    return {};
  }

  Status add_noise(const fault::Fault& fault) {
    const double rate =
        static_cast<double>(fault.bit_errors.numerator) / static_cast<double>(fault.bit_errors.denominator);
    return on_named_links(fault, "is noisy", "is clean again", [&](fabric::LinkId link, Time from, Time to) {
      plan_.timeline.noise.push_back({link, rate, from, to});
    });
  }

  Status add_slowness(const fault::Fault& fault) {
    const fault::Ratio left = fault.rate_left;
    const std::string part = std::to_string(left.numerator) + "/" + std::to_string(left.denominator);
    return on_named_links(fault, "has " + part + " of its rate", "is as fast as before",
                          [&](fabric::LinkId link, Time from, Time to) {
                            plan_.timeline.slow.push_back({link, left.numerator, left.denominator, from, to});
                          });
  }

  /// What befalls a link that stays up: from when to when, and what is said of it then.
  template <class Add>
  Status on_named_links(const fault::Fault& fault, const std::string& begins, const std::string& ends, Add add) {
    auto links = fabric::find_links(fabric_, *fault.place.link);
    if (!links.ok()) return refuse_fault(fault, links.status().wrong(), links.status().remedy());
    const Time from = std::max<Time>(0, moment_of(fault, rules_.begin));
    const Time to = fault.lasts_ns > 0 ? from + fault.lasts_ns * ps_per_ns : never;
    for (const fabric::LinkId link : links.value()) {
      const std::string name = "link " + fabric::link_name(fabric_, link) + " ";
      add(link, from, to);
      plan_.steps.push_back({from, name + begins});
      if (to != never) plan_.steps.push_back({to, name + ends});
    }
    return {};
  }

  Status take_down(const Strike& strike, fabric::Fabric& now) {
    const fault::Fault& fault = faults_[strike.fault];
    for (LinkChange& change : changes_)
      if (change.up && change.at <= strike.at) now.set_link_up(change.link, true);
    fault::Fault named = fault;
    named.when = fault::AtOnce{};
    fabric::FailureRules rules;
    rules.seed = strike.seed;
    rules.critical_too = rules_.critical;
    auto failures = fabric::fail(now, {&named, 1}, rules);
    const bool again = struck_[strike.fault];
    struck_[strike.fault] = true;
    if (!failures.ok() && again) return {};  // it is down still
    if (!failures.ok()) return failures.status();
    const Time up = fault.lasts_ns > 0 ? strike.at + fault.lasts_ns * ps_per_ns : never;
    for (const fabric::Failure& failure : failures.value().failed) {
      const std::string part = fabric::describe(fabric_, failure);
      if (failure.links.empty() && !std::holds_alternative<fault::Mean>(fault.when))
        return refuse_fault(fault, "it is down already", "leave the fault out");
      if (failure.critical && up == never && !rules_.critical && failure.component != fabric::Component::adapter)
        return refuse_fault(fault, "without " + part + " the fabric is cut in two",
                            "let it come back with 'for'; 'holdfast simulate --critical' lets it stay away");
      for (const fabric::LinkId link : failure.links) {
        plan_.timeline.outages.push_back({link, strike.at, up});
        changes_.push_back({strike.at, link, false});
        if (up != never) changes_.push_back({up, link, true});
      }
      plan_.steps.push_back({strike.at, part + " fails"});
      if (up != never) plan_.steps.push_back({up, part + " is back"});
      if (failure.component != fabric::Component::switch_) continue;
      const std::uint32_t row = tables_.row_of(failure.id);
      plan_.timeline.writes.push_back({strike.at, row, nullptr});
      emptied_.push_back({strike.at, row});
    }
    return {};
  }

  // ----------------------------------------------------------------------------------------------- the subnet manager
  Time noticed(Time change) const {
    if (manager_.sweep == 0) return change + manager_.trap;
    return (change + manager_.sweep - 1) / manager_.sweep * manager_.sweep;
  }

  void manage() {
    fabric::Fabric state = fabric_;
    std::vector<const fabric::Forwarding*> written(tables_.rows(), &tables_);
    Time free = 0;
    for (std::size_t next = 0; next < changes_.size();) {
      const Time first = changes_[next].at;
      const Time begin = std::max(noticed(first), free);
      if (begin >= rules_.horizon) return;
      bool lost = false;
      for (; next < changes_.size() && changes_[next].at <= begin; ++next) {
        state.set_link_up(changes_[next].link, changes_[next].up);
        lost = lost || !changes_[next].up;
      }
      for (const auto& [at, row] : emptied_)
        if (at <= begin && at > free_before_) written[row] = nullptr;
      free_before_ = begin;
      free = reroute(state, begin, written);
      if (lost) plan_.unrouted += std::min(free, rules_.horizon) - first;
    }
  }

  /// Tables for the state of `begin`; when they are all written.
  Time reroute(const fabric::Fabric& state, Time begin, std::vector<const fabric::Forwarding*>& written) {
    ++plan_.rounds;
    plan_.steps.push_back({begin, "the subnet manager computes"});
    const auto clock = std::chrono::steady_clock::now();
    auto routed = route_(state);
    const Time took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - clock).count() * ps_per_ns;
    Time at = begin + manager_.compute.value_or(took);
    if (!routed.ok()) {
      plan_.steps.push_back({at, "the subnet manager has no tables: " + routed.status().wrong()});
      return at;
    }
    plan_.tables.push_back(std::make_unique<fabric::Forwarding>(std::move(routed).value()));
    const fabric::Forwarding& fresh = *plan_.tables.back();
    std::uint64_t changed = 0;
    for (std::uint32_t row = 0; row < fresh.rows(); ++row) {
      if (!reachable(state, fresh.switch_at(row)) || same_row(fresh, written[row], row)) continue;
      at += manager_.write;
      plan_.timeline.writes.push_back({at, row, &fresh});
      written[row] = &fresh;
      ++changed;
    }
    plan_.timeline.paths.push_back({at, &fresh});
    plan_.switches_written += changed;
    plan_.steps.push_back({at, "the subnet manager has written " + std::to_string(changed) + " switches"});
    return at;
  }

  static bool same_row(const fabric::Forwarding& fresh, const fabric::Forwarding* before, std::uint32_t row) {
    if (before == nullptr || fresh.has_lane_maps() || before->has_lane_maps()) return false;
    return std::memcmp(fresh.table(row), before->table(row), fresh.lids()) == 0;
  }

  static bool reachable(const fabric::Fabric& state, fabric::NodeId node) {
    for (std::uint32_t number = 1; number <= state.node(node).port_count; ++number)
      if (state.peer(state.port_of(node, static_cast<std::uint8_t>(number))) != fabric::none) return true;
    return false;
  }

  const fabric::Fabric& fabric_;
  const fabric::Forwarding& tables_;
  std::span<const fault::Fault> faults_;
  const OutageRules& rules_;
  const SubnetManager& manager_;
  const Route& route_;
  std::vector<Strike> strikes_;
  std::vector<LinkChange> changes_;
  std::vector<std::pair<Time, std::uint32_t>> emptied_;  // switches that lost their tables
  Time free_before_ = -1;
  std::vector<bool> struck_;
  Outages plan_;
};

}  // namespace

bool strikes_during_run(const fault::Fault& fault, Time begin) {
  if (fault.kind == fault::Kind::noisy_link || fault.kind == fault::Kind::slow_link) return true;
  if (std::holds_alternative<fault::Time>(fault.when)) return moment_of(fault, begin) > 0 || (begin == 0);
  if (std::holds_alternative<fault::Mean>(fault.when)) return begin == 0;
  return fault.lasts_ns > 0 && begin == 0;
}

Result<Outages> plan_outages(const fabric::Fabric& fabric, const fabric::Forwarding& tables,
                             std::span<const fault::Fault> faults, const OutageRules& rules,
                             const SubnetManager& manager, const Route& route) {
  return Planner(fabric, tables, faults, rules, manager, route).run();
}

}  // namespace holdfast::simulate
