#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::fabric {

/// Signalling rate of one lane, with what data rate is left after encoding (8b/10b up to QDR, 64b/66b from FDR10 on).
enum class LaneSpeed : std::uint8_t { sdr, ddr, qdr, fdr10, fdr, edr, hdr, ndr, xdr };

/// What a cable carries. `lanes` is 1, 2, 4, 8 or 12.
struct LinkRate {
  std::uint8_t lanes = 4;
  LaneSpeed speed = LaneSpeed::qdr;
  bool operator==(const LinkRate&) const = default;
};

/// "SDR", "FDR10", ...
std::string_view name(LaneSpeed speed);

/// "4xQDR", as ibnetdiscover prints it.
std::string format(LinkRate rate);

/// Reads what format() writes, in any case; nothing for anything else.
std::optional<LinkRate> find_rate(std::string_view text);

}  // namespace holdfast::fabric
