#include "plan/collective_tree.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace holdfast::plan {
namespace {

constexpr double negligible = 1e-30;
constexpr double nak_bytes = 30;

// The distribution of a delay of at least 0: for each value that it can have, the chance that it is greater. Kept as
// tails because what matters is far below 1.
class Delay {
 public:
  // A delay of `first` chances: (value, chance), the rest of the probability at 0.
  explicit Delay(const std::map<std::int64_t, double>& chances = {}) {
    double above = 0;
    for (auto each = chances.rbegin(); each != chances.rend(); ++each) {
      tails_[each->first] = above;
      above += each->second;
    }
    tails_[0] = above;
  }

  double above(std::int64_t value) const {
    auto next = tails_.upper_bound(value);
    return next == tails_.begin() ? 1 : std::prev(next)->second;
  }

  // The greatest of `count` independent delays like this one.
  Delay slowest_of(double count) const {
    Delay slowest;
    slowest.tails_.clear();
    for (const auto& [value, tail] : tails_) slowest.tails_[value] = -std::expm1(count * std::log1p(-tail));
    return slowest;
  }

  // The least of `count` independent delays like this one.
  Delay fastest_of(double count) const {
    Delay fastest;
    fastest.tails_.clear();
    for (const auto& [value, tail] : tails_) fastest.tails_[value] = std::pow(tail, count);
    return fastest;
  }

  // The sum with an independent delay.
  Delay plus(const Delay& other) const {
    std::map<std::int64_t, double> chances;
    for (const auto& [mine, my_chance] : this->chances()) {
      for (const auto& [theirs, their_chance] : other.chances()) {
        if (mine + theirs > 0 && my_chance * their_chance > negligible)
          chances[mine + theirs] += my_chance * their_chance;
      }
    }
    return Delay(chances);
  }

  double mean() const {
    double sum = 0;
    for (auto each = tails_.begin(); std::next(each) != tails_.end(); ++each) {
      sum += each->second * static_cast<double>(std::next(each)->first - each->first);
    }
    return sum;
  }

 private:
  std::vector<std::pair<std::int64_t, double>> chances() const {
    std::vector<std::pair<std::int64_t, double>> all;
    double before = 1;
    for (const auto& [value, tail] : tails_) {
      all.emplace_back(value, before - tail > 0 ? before - tail : 0);
      before = tail;
    }
    return all;
  }

  std::map<std::int64_t, double> tails_;
};

// Of one link: the first good copy of a round, a `gap` later for each lost one; a retransmission when all are lost.
Delay delay_of_link(double loss, int copies, std::int64_t gap_ps, std::int64_t retransmission_ps) {
  std::map<std::int64_t, double> chances;
  double reached = 1;  // the chance that this round is needed
  for (std::int64_t round = 0; round < 100 && reached > negligible; ++round) {
    const std::int64_t start_ps = round * ((copies - 1) * gap_ps + retransmission_ps);
    for (int copy = 0; copy < copies; ++copy) {
      const std::int64_t value = start_ps + copy * gap_ps;
      if (value > 0) chances[value] += reached * std::pow(loss, copy) * (1 - loss);
    }
    reached *= std::pow(loss, copies);
  }
  return Delay(chances);
}

struct Tree {
  double packets;
  Delay leaf, upper;
};

// From the leaves (level 0) or the level above up to the root.
Delay up_from(std::size_t level, const Reduction& reduction, const Tree& tree) {
  Delay total;
  for (; level < reduction.children.size(); ++level) {
    const Delay link = (level == 0 ? tree.leaf : tree.upper).slowest_of(tree.packets);
    total = total.plus(link).slowest_of(static_cast<double>(reduction.children[level]));
  }
  return total;
}

}  // namespace

std::string_view scheme_name(Scheme scheme) {
  switch (scheme) {
    case Scheme::single:
      return "retransmission";
    case Scheme::temporal:
      return "temporal";
    case Scheme::spatial:
      return "spatial";
    case Scheme::several_ports:
      return "spatial, several ports";
  }
  return {};
}

Completion complete(const Reduction& reduction, Scheme scheme, int copies) {
  const auto levels = static_cast<std::int64_t>(reduction.children.size());
  const std::int64_t slot_ps = scheme == Scheme::several_ports ? reduction.packet_ps : copies * reduction.packet_ps;
  Completion completion;
  completion.undisturbed_ps = reduction.hca_delay_ps + levels * (reduction.switch_delay_ps + reduction.packet_ps) +
                              (static_cast<std::int64_t>(reduction.packets) - 1) * slot_ps;
  const double packets = static_cast<double>(reduction.packets);
  const double loss = reduction.packet_loss;
  const std::int64_t again_ps = reduction.retransmission_ps;
  Delay delay;
  if (scheme == Scheme::spatial || scheme == Scheme::several_ports) {
    completion.undisturbed_ps +=
        slot_ps - reduction.packet_ps;  // the first packet crawls over the host's narrow channel
    // A leaf has the packet when one of the host's channels delivered it; each tree above loses its own.
    const Tree tree{packets, delay_of_link(std::pow(loss, copies), 1, 0, again_ps),
                    delay_of_link(loss, 1, 0, again_ps)};
    double leaves = 1;
    for (std::size_t level = 1; level < reduction.children.size(); ++level) {
      leaves *= static_cast<double>(reduction.children[level]);
    }
    const Delay leaf = tree.leaf.slowest_of(packets * static_cast<double>(reduction.children[0]) * leaves);
    delay = leaf.plus(up_from(1, reduction, tree).fastest_of(copies));
  } else {
    const Delay link = delay_of_link(loss, copies, reduction.packet_ps, again_ps);
    delay = up_from(0, reduction, {packets, link, link});
  }
  completion.mean_ps = static_cast<double>(completion.undisturbed_ps) + delay.mean();
  completion.delayed_chance = delay.above(0);
  completion.retransmitted_chance = delay.above(again_ps - 1);
  return completion;
}

std::int64_t retransmission_ps(double packet_bytes, double link_bit_per_s, std::int64_t switch_delay_ps) {
  const double bytes_ps = (nak_bytes + packet_bytes) * 8 / link_bit_per_s * 1e12;
  return static_cast<std::int64_t>(std::llround(bytes_ps)) + 5 * switch_delay_ps;
}

}  // namespace holdfast::plan
