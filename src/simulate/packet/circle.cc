#include "simulate/packet/circle.h"

namespace holdfast::simulate {

std::vector<std::uint32_t> find_circle(const std::vector<std::uint32_t>& waits_for) {
  constexpr std::uint32_t nobody = 0xffffffff;
  std::vector<std::uint32_t> visit(waits_for.size(), 0);
  for (std::uint32_t begin = 0; begin < waits_for.size(); ++begin) {
    std::uint32_t at = begin;
    while (at != nobody && visit[at] == 0) {
      visit[at] = begin + 1;
      at = waits_for[at];
    }
    if (at == nobody || visit[at] != begin + 1) continue;
    std::vector<std::uint32_t> circle{at};
    for (std::uint32_t next = waits_for[at]; next != at; next = waits_for[next]) circle.push_back(next);
    return circle;
  }
  return {};
}

}  // namespace holdfast::simulate
