#include <algorithm>
#include <string>

#include "fabric/topology/blueprint.h"
#include "fabric/topology/finite_field.h"

namespace holdfast::fabric {
namespace {

/// The sets X and X' of M. Besta, T. Hoefler, "Slim Fly: A Cost Effective Low-Diameter Network Topology", SC 2014, and
/// of B. McKay, M. Miller, J. Siran, "A Note on Large Graphs of Diameter Two and Given Maximum Degree", 1998, for
/// q = 4w + delta: powers of a generator, closed under negation, that together are all elements but 0.
struct Generators {
  std::vector<bool> even;
  std::vector<bool> odd;
};

Generators generators_of(const FiniteField& field) {
  const std::uint32_t q = field.size();
  Generators sets{std::vector<bool>(q), std::vector<bool>(q)};
  const std::uint32_t w = (q + 1) / 4;
  for (std::uint32_t i = 0; i + 1 < q; ++i) {
    if (q % 4 != 3) {
      (i % 2 == 0 ? sets.even : sets.odd)[field.power(i)] = true;
    } else {  // exponents 0, 2, .., 2w-2, then 2w-1, 2w+1, .., 4w-3; the other set is the first times the generator
      const bool chosen = i < 2 * w - 1 ? i % 2 == 0 : i % 2 == 1;
      if (!chosen) continue;
      sets.even[field.power(i)] = true;
      sets.odd[field.power(i + 1)] = true;
    }
  }
  if (q % 2 == 0) sets.odd[field.power(0)] = true;  // q - 1 is odd: exponent q - 1 belongs to the odd set too
  return sets;
}

/// Links of a half: (x, y) - (x, z) when y - z is in the set. Ports count up as the links come.
void draw_half(Blueprint& plan, const FiniteField& field, const std::vector<bool>& set, std::uint32_t half,
               std::vector<std::uint32_t>& used, std::uint32_t r) {
  const std::uint32_t q = field.size();
  for (std::uint32_t x = 0; x < q; ++x) {
    for (std::uint32_t y = 0; y < q; ++y) {
      for (std::uint32_t z = y + 1; z < q; ++z) {
        if (!set[field.add(y, field.negate(z))]) continue;
        const std::uint32_t a = (half * q + x) * q + y;
        const std::uint32_t b = (half * q + x) * q + z;
        plan.add_cables(a, used[a]++ * r + 1, b, used[b]++ * r + 1, r);
      }
    }
  }
}

}  // namespace

Result<Blueprint> draw_slim_fly(const Topology& topology) {
  const std::uint32_t q = topology.arguments[0][0];
  const std::uint32_t r = topology.links;
  const auto field = FiniteField::make(q);
  if (!field || q < 3)
    return cannot_generate(topology, "q is no power of a prime from 3 to 1024", "take 3, 4, 5, 7, 8, 9, 11, 13, ...");
  const std::uint64_t switches = std::uint64_t{2} * q * q;
  if (Status status = check_size(topology, switches, product(product(switches, q), r)); !status.ok()) return status;
  const Generators sets = generators_of(*field);
  Blueprint plan;
  plan.structure.shape = Shape::slim_fly;
  plan.structure.extent = {2, q, q};
  for (std::uint32_t half = 0; half < 2; ++half) {
    for (std::uint32_t x = 0; x < q; ++x) {
      for (std::uint32_t y = 0; y < q; ++y) plan.add_switch({half, x, y});
    }
  }
  std::vector<std::uint32_t> used(switches);
  draw_half(plan, *field, sets.even, 0, used, r);
  draw_half(plan, *field, sets.odd, 1, used, r);
  for (std::uint32_t x = 0; x < q; ++x) {
    for (std::uint32_t m = 0; m < q; ++m) {
      for (std::uint32_t c = 0; c < q; ++c) {  // (0, x, m x + c) - (1, m, c)
        const std::uint32_t a = x * q + field->add(field->multiply(m, x), c);
        const std::uint32_t b = (q + m) * q + c;
        plan.add_cables(a, used[a]++ * r + 1, b, used[b]++ * r + 1, r);
      }
    }
  }
  const std::uint32_t degree = *std::ranges::max_element(used);
  plan.hosts_everywhere((degree + 1) / 2);
  return plan;
}

}  // namespace holdfast::fabric
