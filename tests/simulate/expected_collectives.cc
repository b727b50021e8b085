/// For each line 'operation bytes root ranks' of the standard input: the messages that the replay sends by Open MPI's
/// rules, in the form of real_collectives.c. The blocks of v collectives are what that program takes.
#include <iostream>
#include <map>
#include <string>

#include "simulate/job/collective.h"

using namespace holdfast::simulate::job;

namespace {

Operation operation_of(const std::string& wanted) {
  for (std::size_t i = 0; i < operations; ++i)
    if (name(static_cast<Operation>(i)) == wanted) return static_cast<Operation>(i);
  std::cerr << "there is no collective '" << wanted << "'\n";
  std::exit(2);
}

}  // namespace

/// With an argument, that algorithm instead of the rules'.
int main(int argc, char** argv) {
  const auto chosen = [&](const Collective& what) {
    for (std::size_t i = 0; argc > 1 && i < algorithms; ++i)
      if (name(static_cast<Algorithm>(i)) == argv[1]) return static_cast<Algorithm>(i);
    return choose(Rules::openmpi, what);
  };
  std::string operation;
  std::uint64_t bytes = 0;
  std::uint32_t root = 0, size = 0;
  while (std::cin >> operation >> bytes >> root >> size) {
    Collective what;
    std::string blocking = operation;
    if (operation[0] == 'i') {
      what.nonblocking = true;
      blocking.erase(0, 1);
    }
    what.operation = operation_of(blocking);
    what.root = root;
    what.size = size;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::uint64_t, std::uint64_t>> flows;
    Algorithm used{};
    for (what.me = 0; what.me < size; ++what.me) {
      what.bytes = bytes;
      what.to.clear();
      what.from.clear();
      for (std::uint32_t other = 0; other < size; ++other) {
        if (blocking == "alltoallv") {
          what.to.push_back(bytes * ((what.me + 2 * other) % 3));
          what.from.push_back(bytes * ((other + 2 * what.me) % 3));
        } else if (blocking == "allgatherv" || blocking == "reduce_scatter" ||
                   (blocking == "gatherv" && what.me == root)) {
          what.from.push_back(bytes * (other % 3));
        } else if (blocking == "scatterv" && what.me == root) {
          what.to.push_back(bytes * (other % 3));
        }
      }
      if (blocking == "gatherv" || blocking == "scatterv" || blocking == "allgatherv")
        what.bytes = bytes * (what.me % 3);
      for (const Action& action : schedule(what, chosen(what), Rules::openmpi, &used)) {
        if (action.kind != Action::Kind::send && action.kind != Action::Kind::synchronous_send) continue;
        auto& [messages, sum] = flows[{what.me, action.peer}];
        ++messages;
        sum += action.bytes;
      }
    }
    std::cout << operation << " " << bytes << " " << root << " " << size << " " << name(used) << ":";
    for (const auto& [pair, flow] : flows)
      std::cout << " " << pair.first << ">" << pair.second << " " << flow.first << " " << flow.second;
    std::cout << "\n";
  }
  return 0;
}
