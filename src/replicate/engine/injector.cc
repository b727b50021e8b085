#include "replicate/engine/injector.h"

#include <string>
#include <utility>
#include <variant>

#include "core/fault/grammar.h"

namespace holdfast::replicate {

Result<Injector> Injector::read(std::string_view faults, std::uint64_t seed, Process self) {
  Injector injector;
  auto parsed = fault::parse(faults);
  if (!parsed) return parsed.status();
  for (const fault::Fault& fault : parsed.value()) {
    Victims& victims = fault.kind == fault::Kind::flip ? injector.messages_ : injector.controls_;
    const bool when =
        std::holds_alternative<fault::Message>(fault.when) || std::holds_alternative<fault::Rate>(fault.when);
    if (fault.kind != victims.kind || !when) {
      return Status(Code::bad_input, "injecting '" + fault::format(fault) + "'", "it cannot be injected here",
                    "inject flip or corrupt-header, at a message or at a rate");
    }
    victims.any = true;
  }
  injector.faults_ = std::move(parsed).value();
  injector.self_ = self;
  const random::Stream draw = random::Stream(seed).child("replicate").child("inject");
  const auto rank = static_cast<std::uint64_t>(self.rank);
  const auto replica = static_cast<std::uint64_t>(self.replica);
  injector.messages_.draw = draw.child(rank).child(replica);
  injector.controls_.draw = draw.child("control").child(rank).child(replica);
  return injector;
}

std::vector<Injector::Strike> Injector::Victims::next(const std::vector<fault::Fault>& faults, Process self,
                                                      int to_rank, std::uint64_t bits) {
  if (!any) return {};
  ++count;
  std::vector<Strike> struck;
  for (std::size_t i = 0; i < faults.size() && bits > 0; ++i) {
    if (faults[i].kind != kind || !strikes(faults[i], self, to_rank)) continue;
    struck.push_back({i, faults[i].bit ? *faults[i].bit % bits : draw.below(bits)});
  }
  return struck;
}

bool Injector::Victims::strikes(const fault::Fault& fault, Process self, int to_rank) {
  const fault::Place& place = fault.place;
  if (place.rank && *place.rank != static_cast<unsigned>(self.rank)) return false;
  if (place.replica && *place.replica != static_cast<unsigned>(self.replica)) return false;
  if (place.peer && *place.peer != static_cast<unsigned>(to_rank)) return false;
  if (const auto* at = std::get_if<fault::Message>(&fault.when)) return at->number == count;
  if (const auto* rate = std::get_if<fault::Rate>(&fault.when)) {
    return draw.chance(rate->chance.numerator, rate->chance.denominator);
  }
  return false;
}

}  // namespace holdfast::replicate
