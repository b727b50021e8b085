#include "simulate/collective/scheme.h"

#include <string>

namespace holdfast::simulate::collective {
namespace {

bool replicates(Protection protection) {
  return protection == Protection::temporal || protection == Protection::spatial || protection == Protection::hybrid;
}

Status bad(std::string wrong, std::string remedy) {
  return {Code::bad_input, "checking the collective's scheme", std::move(wrong), std::move(remedy)};
}

}  // namespace

Status check(const Scheme& scheme, const Assumptions& assumptions) {
  if (scheme.copies < 1 || scheme.copies > most_copies) {
    return bad(std::to_string(scheme.copies) + " copies", "give 1 to " + std::to_string(most_copies));
  }
  const std::string name(protection_names[static_cast<std::size_t>(scheme.protection)]);
  if (!replicates(scheme.protection) && scheme.copies != 1) {
    return bad(name + " sends one copy, not " + std::to_string(scheme.copies),
               "set copies to 1, or choose temporal, spatial or hybrid");
  }
  if (scheme.dual_port && scheme.protection != Protection::spatial) {
    return bad(name + " has no use for several ports an adapter", "dual ports belong to spatial");
  }
  if (scheme.protection == Protection::spatial && !scheme.dual_port && assumptions.port_lanes % scheme.copies != 0) {
    return bad("a port of " + std::to_string(assumptions.port_lanes) + " lanes cannot be split into " +
                   std::to_string(scheme.copies) + " channels of equal rate",
               "set port_lanes to a multiple of copies (12: a 12X port), or take fewer copies");
  }
  if (assumptions.mtu_bytes < 8 || assumptions.mtu_bytes > 4096 || assumptions.mtu_bytes % 8 != 0) {
    return bad("an MTU of " + std::to_string(assumptions.mtu_bytes) + " bytes", "give a multiple of 8 up to 4096");
  }
  if (assumptions.byte_ps < 1 || assumptions.byte_ps > ps_per_us) return bad("a byte's duration", "give 1 ps to 1 us");
  if (assumptions.timeout_exponent > 31) return bad("a timeout exponent above 31", "give 0 to 31");
  if (assumptions.port_lanes < 1 || assumptions.port_lanes > 12) return bad("a port's lanes", "give 1 to 12");
  if (assumptions.window_segments == 0) return bad("a window of no segment", "give at least 1");
  if (assumptions.adapter_delay_ps < 0 || assumptions.switch_delay_ps < 0 || assumptions.cable_delay_ps < 0 ||
      assumptions.link_retry_ps < 0) {
    return bad("a negative delay", "give delays of at least 0");
  }
  return {};
}

std::string describe(const Scheme& scheme) {
  std::string text(protection_names[static_cast<std::size_t>(scheme.protection)]);
  if (replicates(scheme.protection)) text += " x" + std::to_string(scheme.copies);
  if (scheme.dual_port) text += " (dual port)";
  if (scheme.regenerate) text += " (regenerating)";
  return text;
}

}  // namespace holdfast::simulate::collective
