#include "fabric/faults/failures.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/random/stream.h"
#include "core/status/hint.h"
#include "fabric/faults/critical.h"
#include "fabric/faults/names.h"

namespace holdfast::fabric {

namespace {

bool between_switches(const Fabric& fabric, LinkId link) {
  return fabric.is_switch(fabric.port(fabric.link(link).a).node) &&
         fabric.is_switch(fabric.port(fabric.link(link).b).node);
}

std::vector<LinkId> working_links(const Fabric& fabric, NodeId node) {
  std::vector<LinkId> links;
  for (std::uint32_t number = 1; number <= fabric.node(node).port_count; ++number) {
    const LinkId link = fabric.port(fabric.node(node).first_port + number).link;
    if (link != none && fabric.link(link).up) links.push_back(link);
  }
  return links;
}

__extension__ using Wide = unsigned __int128;

/// Takes components down one after the other.
class Breaker {
 public:
  Breaker(Fabric& fabric, bool critical_too) : fabric_(fabric), criticality_(fabric), critical_too_(critical_too) {}

  /// What there is of a kind to fail at random, and still works.
  std::vector<std::uint32_t> candidates(Component component) const {
    std::vector<std::uint32_t> found;
    switch (component) {
      case Component::link:
        for (LinkId id = 0; id < fabric_.links().size(); ++id) {
          if (fabric_.link(id).up && between_switches(fabric_, id)) found.push_back(id);
        }
        break;
      case Component::switch_:
      case Component::adapter:
        for (NodeId id = 0; id < fabric_.nodes().size(); ++id) {
          if (fabric_.is_switch(id) == (component == Component::switch_) && !working_links(fabric_, id).empty())
            found.push_back(id);
        }
        break;
      case Component::port:
        for (PortId id = 0; id < fabric_.ports().size(); ++id) {
          if (fabric_.is_switch(fabric_.port(id).node) && fabric_.peer(id) != none) found.push_back(id);
        }
        break;
    }
    return found;
  }

  /// What was named fails in any case.
  void fail_named(Component component, std::uint32_t id, double years = 0) {
    Failure failure = judge(component, id, years);
    take_down(std::move(failure));
  }

  /// What was drawn fails unless that would disconnect hosts. False when it was spared.
  bool fail_drawn(Component component, std::uint32_t id, double years = 0) {
    Failure failure = judge(component, id, years);
    if (failure.links.empty()) return true;  // it went with another component already
    if (failure.critical && !critical_too_ && component != Component::adapter) {
      failures_.spared.push_back(std::move(failure));
      return false;
    }
    take_down(std::move(failure));
    return true;
  }

  /// Fails `count` of the candidates in random order.
  void fail_some(Component component, std::uint64_t count, random::Stream stream) {
    std::vector<std::uint32_t> left = candidates(component);
    for (std::size_t drawn = 0; count > 0 && drawn < left.size(); ++drawn) {
      std::swap(left[drawn], left[drawn + stream.below(left.size() - drawn)]);
      if (fail_drawn(component, left[drawn])) --count;
    }
  }

  Failures finish() { return std::move(failures_); }

 private:
  Failure judge(Component component, std::uint32_t id, double years) {
    Failure failure{component, id, false, years, {}};
    switch (component) {
      case Component::link:
        if (fabric_.link(id).up) failure.links = {id};
        break;
      case Component::port:
        if (fabric_.peer(id) != none) failure.links = {fabric_.port(id).link};
        break;
      case Component::switch_:
      case Component::adapter:
        failure.links = working_links(fabric_, id);
        break;
    }
    if (component == Component::switch_)
      failure.critical = !failure.links.empty() && criticality_.switch_is_critical(id);
    else if (failure.links.size() == 1)
      failure.critical = criticality_.link_is_critical(failure.links.front());
    else if (!failure.links.empty())
      failure.critical = criticality_.loss_without(failure.links).critical();
    return failure;
  }

  void take_down(Failure failure) {
    for (LinkId link : failure.links) fabric_.set_link_up(link, false);
    failures_.failed.push_back(std::move(failure));
  }

  Fabric& fabric_;
  Criticality criticality_;
  bool critical_too_;
  Failures failures_;
};

Status cannot(const fault::Fault& fault, std::string wrong, std::string remedy) {
  return {Code::bad_input, "applying the fault '" + fault::format(fault) + "'", std::move(wrong), std::move(remedy)};
}

Result<Component> component_of(const fault::Fault& fault) {
  switch (fault.kind) {
    case fault::Kind::fail_link:
      return Component::link;
    case fault::Kind::fail_switch:
      return Component::switch_;
    case fault::Kind::fail_port:
      return Component::port;
    case fault::Kind::fail_hca:
      return Component::adapter;
    default:
      return cannot(fault, "this does not happen to a fabric", "take fail-link, fail-switch, fail-port or fail-hca");
  }
}

Result<NodeId> named_node(const Fabric& fabric, const fault::Fault& fault, bool is_switch, const std::string& text) {
  const NodeId node = find_node(fabric, text);
  if (node != none && fabric.is_switch(node) == is_switch) return node;
  std::vector<std::string_view> names;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (fabric.is_switch(id) == is_switch) names.push_back(fabric.node(id).name);
  }
  return cannot(fault, std::string("the fabric has no ") + (is_switch ? "switch '" : "adapter '") + text + "'",
                did_you_mean(text, names, "see holdfast fabric show"));
}

/// The one component that a fault names; `none` when it says anywhere.
Result<std::uint32_t> named(const Fabric& fabric, const fault::Fault& fault) {
  const fault::Place& place = fault.place;
  if (place.link) {
    Result<std::vector<LinkId>> links = find_links(fabric, *place.link);
    if (!links.ok()) return cannot(fault, links.status().wrong(), links.status().remedy());
    for (LinkId link : links.value()) {
      if (fabric.link(link).up) return link;
    }
    return cannot(fault, "that link is down already", "leave the fault out");
  }
  const bool at_switch = !place.switch_name.empty();
  if (!at_switch && place.hca.empty()) return none;
  Result<NodeId> node = named_node(fabric, fault, at_switch, at_switch ? place.switch_name : place.hca);
  if (!node.ok() || !place.port) {
    if (node.ok() && fault.kind == fault::Kind::fail_port)
      return cannot(fault, "no port is given", "add port and its number");
    return node;
  }
  if (*place.port == 0 || *place.port > fabric.node(node.value()).port_count)
    return cannot(fault, "it has no port " + std::to_string(*place.port), "ports count from 1");
  return fabric.port_of(node.value(), static_cast<std::uint8_t>(*place.port));
}

/// How often a fault strikes until the moment of the rules.
Result<std::uint64_t> strikes(const fault::Fault& fault, const FailureRules& rules, random::Stream& stream) {
  if (std::holds_alternative<fault::Message>(fault.when) || std::holds_alternative<fault::Rate>(fault.when))
    return cannot(fault, "a fabric counts no messages", "give share, time or mean");
  if (const auto* time = std::get_if<fault::Time>(&fault.when)) {
    const bool struck = rules.until_ns < 0 || time->after_ns <= rules.until_ns;
    const bool over = fault.lasts_ns > 0 && rules.until_ns >= 0 && rules.until_ns - time->after_ns >= fault.lasts_ns;
    return std::uint64_t{struck && !over ? 1U : 0U};
  }
  const auto* mean = std::get_if<fault::Mean>(&fault.when);
  if (mean == nullptr) return std::uint64_t{1};
  if (rules.until_ns < 0) return cannot(fault, "it strikes again and again", "say until when");
  std::uint64_t count = 0;
  double at = stream.exponential(static_cast<double>(mean->interval_ns));
  for (; at <= static_cast<double>(rules.until_ns) && count < 100'000'000; ++count)
    at += stream.exponential(static_cast<double>(mean->interval_ns));
  return count;
}

Status strike(const Fabric& fabric, Breaker& breaker, const fault::Fault& fault, const FailureRules& rules,
              random::Stream stream) {
  Result<Component> component = component_of(fault);
  if (!component.ok()) return component.status();
  Result<std::uint32_t> id = named(fabric, fault);
  if (!id.ok()) return id.status();
  if (const auto* share = std::get_if<fault::Share>(&fault.when)) {
    if (id.value() != none) return cannot(fault, "a share of one thing", "leave out the name or the share");
    const std::uint64_t all = breaker.candidates(component.value()).size();
    const auto part = static_cast<Wide>(all) * share->part.numerator / share->part.denominator;
    breaker.fail_some(component.value(), static_cast<std::uint64_t>(part), stream);
    return {};
  }
  Result<std::uint64_t> count = strikes(fault, rules, stream);
  if (!count.ok()) return count.status();
  if (id.value() == none)
    breaker.fail_some(component.value(), count.value(), stream.child("which"));
  else if (count.value() > 0)
    breaker.fail_named(component.value(), id.value());
  return {};
}

Status check(const Ageing& ageing) {
  auto wrong = [](std::string what, std::string remedy) {
    return Status(Code::bad_input, "ageing the fabric", std::move(what), std::move(remedy));
  };
  for (double rate : {ageing.link_rate, ageing.switch_rate, ageing.adapter_rate}) {
    if (!(rate >= 0 && rate < 1))
      return wrong("an annual rate is not between 0 % and 100 %", "give 1% for one in a hundred");
  }
  if (!(ageing.years >= 0 && ageing.years <= 1000)) return wrong("the years are not between 0 and 1000", "give years");
  if (!(ageing.shape >= 0.01 && ageing.shape <= 100))
    return wrong("the Weibull shape is not between 0.01 and 100", "take 1");
  if (ageing.links_per_switch && !(*ageing.links_per_switch > 0))
    return wrong("the ratio is not above 0", "as in 1:13");
  return {};
}

/// When a component fails, in years: the Weibull distribution, of which `rate` lies below one year, inverted.
double failure_time(random::Stream& stream, double rate, double shape) {
  const double survival = 1 - stream.uniform();  // of (0, 1]
  return std::pow(std::log(survival) / std::log1p(-rate), 1 / shape);
}

}  // namespace

std::string_view name(Component component) {
  switch (component) {
    case Component::link:
      return "link";
    case Component::switch_:
      return "switch";
    case Component::port:
      return "port";
    case Component::adapter:
      return "adapter";
  }
  return "";
}

std::string describe(const Fabric& fabric, const Failure& failure) {
  std::string text(name(failure.component));
  text += ' ';
  if (failure.component == Component::link) return text + link_name(fabric, failure.id);
  if (failure.component == Component::port) return text + port_name(fabric, failure.id);
  return text + fabric.node(failure.id).name;
}

Result<Failures> fail(Fabric& fabric, std::span<const fault::Fault> faults, const FailureRules& rules) {
  Breaker breaker(fabric, rules.critical_too);
  const random::Stream root = random::Stream(rules.seed).child("fabric").child("faults");
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (Status status = strike(fabric, breaker, faults[i], rules, root.child(i)); !status.ok()) return status;
  }
  return breaker.finish();
}

Result<Failures> age(Fabric& fabric, const Ageing& ageing, const FailureRules& rules) {
  if (Status status = check(ageing); !status.ok()) return status;
  Breaker breaker(fabric, rules.critical_too);
  const random::Stream root = random::Stream(rules.seed).child("fabric").child("ageing");
  double switch_rate = ageing.switch_rate;
  if (ageing.links_per_switch) {
    const auto links = static_cast<double>(breaker.candidates(Component::link).size());
    const auto switches = static_cast<double>(breaker.candidates(Component::switch_).size());
    switch_rate = switches == 0 ? 0 : ageing.link_rate * links / *ageing.links_per_switch / switches;
    if (switch_rate >= 1)
      return Status(Code::bad_input, "ageing the fabric", "at that ratio every switch fails within a year",
                    "give more links a switch");
  }
  struct Event {
    double years;
    Component component;
    std::uint32_t id;
  };
  std::vector<Event> events;
  for (auto [component, rate] :
       {std::pair(Component::link, ageing.link_rate), std::pair(Component::switch_, switch_rate),
        std::pair(Component::adapter, ageing.adapter_rate)}) {
    if (rate <= 0) continue;
    for (std::uint32_t id : breaker.candidates(component)) {
      random::Stream stream = root.child(name(component)).child(id);
      const double years = failure_time(stream, rate, ageing.shape);
      if (years <= ageing.years) events.push_back({years, component, id});
    }
  }
  std::ranges::stable_sort(events, {}, &Event::years);
  for (const Event& event : events) breaker.fail_drawn(event.component, event.id, event.years);
  return breaker.finish();
}

}  // namespace holdfast::fabric
