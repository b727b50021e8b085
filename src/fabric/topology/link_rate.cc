#include "fabric/topology/link_rate.h"

#include <algorithm>
#include <array>

namespace holdfast::fabric {

namespace {

constexpr std::array<std::string_view, 9> speed_names = {"SDR", "DDR", "QDR", "FDR10", "FDR",
                                                         "EDR", "HDR", "NDR", "XDR"};
constexpr std::array<std::uint8_t, 5> widths = {1, 2, 4, 8, 12};

char upper(char letter) {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return upper(x) == upper(y); });
}

}  // namespace

std::string_view name(LaneSpeed speed) {
  return speed_names[static_cast<std::size_t>(speed)];
}

std::string format(LinkRate rate) {
  return std::to_string(rate.lanes) + "x" + std::string(name(rate.speed));
}

std::optional<LinkRate> find_rate(std::string_view text) {
  for (std::uint8_t lanes : widths) {
    const std::string width = std::to_string(lanes) + "x";
    if (text.size() <= width.size() || !same_letters(text.substr(0, width.size()), width)) continue;
    for (std::size_t speed = 0; speed < speed_names.size(); ++speed) {
      if (same_letters(text.substr(width.size()), speed_names[speed]))
        return LinkRate{lanes, static_cast<LaneSpeed>(speed)};
    }
  }
  return std::nullopt;
}

}  // namespace holdfast::fabric
