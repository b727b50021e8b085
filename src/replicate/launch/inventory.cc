#include "replicate/launch/inventory.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/event/record.h"
#include "replicate/launch/executable.h"
#include "replicate/launch/hosts.h"
#include "replicate/launch/launcher.h"
#include "replicate/launch/library.h"
#include "replicate/launch/transport.h"

namespace holdfast::launch {
namespace {

InventoryItem look_for_mpi(Mpi mpi, std::string title) {
  InventoryItem item{std::move(title), false, "", "apt-get install " + mpi_packages(mpi),
                     "running programs that link it"};
  auto launcher = find_launcher(mpi, {});
  if (!launcher.ok()) return item;
  item.found = true;
  item.detail = launcher_version(mpi, launcher.value()) + ", " + launcher.value();
  return item;
}

InventoryItem look_for_library(Mpi mpi) {
  auto library = find_library(mpi);
  InventoryItem item{library_file(mpi), library.ok(), "", "", "protecting programs of " + std::string(name(mpi))};
  if (library.ok())
    item.detail = library.value();
  else
    item.remedy = "apt-get install " + mpi_packages(mpi) + ", then build Holdfast again; or set HOLDFAST_LIBRARY_PATH";
  return item;
}

InventoryItem look_for_provider() {
  auto provider = find_provider();
  return {"libholdfast-fi.so", provider.ok(), provider.ok() ? provider.value() : "",
          "apt-get install libfabric-dev, then build Holdfast again; or set HOLDFAST_LIBRARY_PATH",
          "jobs over several rails (--transport)"};
}

InventoryItem look_for_rails() {
  InventoryItem item{"rails", false, "", "install what 'holdfast doctor' misses above, or bring an interface up",
                     "jobs over several rails (--rails)"};
  auto provider = find_provider();
  if (!provider.ok()) return item;
  auto rails = list_rails(provider.value());
  item.found = rails.ok() && !rails.value().empty();
  if (item.found) {
    item.detail = rails.value();
  } else if (!rails.ok()) {
    item.remedy = rails.status().message();
  }
  return item;
}

InventoryItem look_for_program(std::string title, const std::string& program, const std::string& package,
                               std::string purpose) {
  auto path = find_executable(program);
  return {std::move(title), path.ok(), path.ok() ? path.value() : "", "apt-get install " + package, std::move(purpose)};
}

}  // namespace

Inventory take_inventory() {
  Inventory inventory;
  inventory.cores = usable_cores();
  inventory.items.push_back(look_for_mpi(Mpi::openmpi, "Open MPI"));
  inventory.items.push_back(look_for_mpi(Mpi::mpich, "MPICH"));
  inventory.any_mpi = inventory.items[0].found || inventory.items[1].found;
  inventory.items.push_back(look_for_library(Mpi::openmpi));
  inventory.items.push_back(look_for_library(Mpi::mpich));
  inventory.items.push_back(look_for_provider());
  inventory.items.push_back(look_for_rails());
  inventory.items.push_back(look_for_program("srun", "srun", "slurm-client", "jobs in a Slurm allocation (optional)"));
  inventory.items.push_back(look_for_program("LAMMPS", "lmp", "lammps lammps-examples", "./demo (optional)"));
  inventory.items.push_back(look_for_program("HPCC", "hpcc", "hpcc", "./demo and the tests (optional)"));
  return inventory;
}

std::string inventory_text(const Inventory& inventory) {
  std::string text = fmt::format("{:<35} {}\n", "cores of this host", inventory.cores);
  for (const InventoryItem& item : inventory.items)
    if (item.found) text += fmt::format("{:<35} {}\n", item.name, item.detail);
  for (const InventoryItem& item : inventory.items)
    if (!item.found) text += fmt::format("{:<35} missing, needed for {}: {}\n", item.name, item.purpose, item.remedy);
  if (!inventory.any_mpi) text += "No MPI is installed, so no job can run.\n";
  return text;
}

nlohmann::ordered_json inventory_json(const Inventory& inventory) {
  nlohmann::ordered_json record = event::make_record("holdfast.doctor", 1);
  record["holdfast"] = HOLDFAST_VERSION;
  record["cores"] = inventory.cores;
  record["any_mpi"] = inventory.any_mpi;
  record["items"] = nlohmann::ordered_json::array();
  for (const InventoryItem& item : inventory.items)
    record["items"].push_back({{"name", item.name},
                               {"found", item.found},
                               {"detail", item.detail},
                               {"remedy", item.found ? "" : item.remedy},
                               {"purpose", item.purpose}});
  return record;
}

}  // namespace holdfast::launch
