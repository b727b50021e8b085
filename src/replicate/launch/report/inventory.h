#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace holdfast::launch {

/// One thing that `holdfast doctor` looks for.
struct InventoryItem {
  std::string name;  ///< "Open MPI"
  bool found = false;
  std::string detail;      ///< version and path when found
  std::string remedy;      ///< what to do when it is missing
  std::string purpose;     ///< what it is needed for
  std::string packages{};  ///< the Debian packages that bring it, separated by blanks; empty where none does
};

struct Inventory {
  std::vector<InventoryItem> items;
  int cores = 1;
  bool any_mpi = false;  ///< without one no job can run
  bool passed = true;    ///< no self test has failed
};

/// Looks at this machine: every MPI in PATH, Holdfast's libraries and whether each can be loaded, rails, OpenSM, cores,
/// and the programs of the demo. Runs the launchers' --version; writes nothing.
Inventory take_inventory();

/// Whether it all works, by this process's own executable: a program of two ranks in two replicas (self_test.c) with
/// each MPI that is there, the same without replicas over every rail of this host, and OpenSM's routes of a small
/// fabric. Takes seconds. Adds an item for each to the inventory.
void run_self_tests(Inventory& inventory);

/// For people: a line an item, what is missing last, and the one command that gets all of that.
std::string inventory_text(const Inventory& inventory);
/// "holdfast.doctor" record.
nlohmann::ordered_json inventory_json(const Inventory& inventory);

}  // namespace holdfast::launch
