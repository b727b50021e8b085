#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace holdfast::launch {

/// One thing that `holdfast doctor` looks for.
struct InventoryItem {
  std::string name;  ///< "Open MPI"
  bool found = false;
  std::string detail;   ///< version and path when found
  std::string remedy;   ///< what to do when it is missing: the Debian package
  std::string purpose;  ///< what it is needed for
};

struct Inventory {
  std::vector<InventoryItem> items;
  int cores = 1;
  bool any_mpi = false;  ///< without one no job can run
};

/// Looks at this machine: MPIs and their launchers, Holdfast's libraries, cores, and the programs of the demo. Runs the
/// launchers' --version; writes nothing.
Inventory take_inventory();

/// For people: a line an item, what is missing last.
std::string inventory_text(const Inventory& inventory);
/// "holdfast.doctor" record.
nlohmann::ordered_json inventory_json(const Inventory& inventory);

}  // namespace holdfast::launch
