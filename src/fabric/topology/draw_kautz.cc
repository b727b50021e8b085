#include <string>

#include "fabric/topology/blueprint.h"

namespace holdfast::fabric {
namespace {

/// A word of k letters below d + 1, of which no two neighbours are equal, as a number: the first letter, then for each
/// further one which of the d others it is.
using Word = std::vector<std::uint32_t>;

std::uint32_t number_of(const Word& word, std::uint32_t d) {
  std::uint32_t number = word[0];
  for (std::size_t i = 1; i < word.size(); ++i) number = number * d + word[i] - (word[i] > word[i - 1] ? 1 : 0);
  return number;
}

Word word_of(std::uint32_t number, std::uint32_t d, std::uint32_t k) {
  Word word(k);
  for (std::size_t i = k; i-- > 1;) {
    word[i] = number % d;
    number /= d;
  }
  word[0] = number;
  for (std::size_t i = 1; i < k; ++i) word[i] += word[i] >= word[i - 1] ? 1 : 0;
  return word;
}

}  // namespace

/// The Kautz graph of W. Kautz, "Bounds on Directed (d,k) Graphs", 1968, with a cable for every arc x1..xk -> x2..xk y.
Result<Blueprint> draw_kautz(const Topology& topology) {
  const std::uint32_t d = topology.arguments[0][0];
  const std::uint32_t k = topology.arguments[0][1];
  const std::uint32_t r = topology.links;
  if (d < 1 || k < 1) return cannot_generate(topology, "a Kautz graph needs d and k of 1 or more", "as in kautz(2,4)");
  std::uint64_t switches = std::uint64_t{d} + 1;
  for (std::uint32_t i = 1; i < k && switches <= most_switches && d > 1; ++i) switches *= d;
  if (Status status = check_size(topology, switches, product(product(switches, d), r)); !status.ok()) return status;
  if (k > 64) return cannot_generate(topology, "words of more than 64 letters", "give a smaller k");
  Blueprint plan;
  plan.structure.shape = Shape::kautz;
  plan.structure.extent.assign(k, d + 1);
  plan.switches = static_cast<std::uint32_t>(switches);
  for (std::uint32_t s = 0; s < plan.switches; ++s) {
    const Word word = word_of(s, d, k);
    plan.structure.coordinates.insert(plan.structure.coordinates.end(), word.begin(), word.end());
    Word next(word.begin() + 1, word.end());
    next.push_back(0);
    std::uint32_t leaving = 0;
    for (std::uint32_t letter = 0; letter <= d; ++letter) {
      if (letter == word[k - 1]) continue;
      next[k - 1] = letter;
      // Arcs into a word come from the d words that differ in their first letter; this one is as the letters count.
      const std::uint32_t arriving = word[0] - (word[0] > next[0] ? 1 : 0);
      plan.add_cables(s, leaving++ * r + 1, number_of(next, d), (d + arriving) * r + 1, r);
    }
  }
  plan.hosts_everywhere(1);
  return plan;
}

}  // namespace holdfast::fabric
