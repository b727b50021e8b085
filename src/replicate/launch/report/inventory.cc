#include "replicate/launch/report/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/event/record.h"
#include "replicate/launch/detect/capture.h"
#include "replicate/launch/detect/executable.h"
#include "replicate/launch/detect/launcher.h"
#include "replicate/launch/detect/library.h"
#include "replicate/launch/plan/hosts.h"
#include "replicate/launch/plan/transport.h"

namespace holdfast::launch {
namespace {

constexpr std::string_view from_packages = "apt-get install ";

InventoryItem missing(std::string title, std::string purpose, const std::string& packages) {
  return {std::move(title), false, "", std::string(from_packages) + packages, std::move(purpose), packages};
}

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

/// Whether this is a Debian package's: what is missing beside it comes in another of its packages.
bool is_packaged() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/exe", failed) == "/usr/bin/holdfast";
}

/// A library of Holdfast's own.
InventoryItem missing_library(std::string file, std::string purpose, const std::string& needed_to_build,
                              const std::string& package) {
  InventoryItem item = missing(std::move(file), std::move(purpose), is_packaged() ? package : needed_to_build);
  if (!is_packaged()) item.remedy += ", then build Holdfast again; or set HOLDFAST_LIBRARY_PATH";
  return item;
}

/// An item for each launcher in PATH, so that a module's MPI is seen beside the system's.
std::vector<InventoryItem> look_for_mpi(Mpi mpi, const std::string& title) {
  std::vector<InventoryItem> items;
  for (const std::string& launcher : launchers_in_path(mpi))
    items.push_back({title, true,
                     launcher_version(mpi, launcher) + ", " + launcher + ", served by " + library_file(name(mpi)), "",
                     "", ""});
  if (items.empty()) items.push_back(missing(title, "running programs that link it", mpi_packages(mpi)));
  return items;
}

/// What the dynamic loader says when it is to preload this library; empty: it does.
std::string cannot_be_loaded(const std::string& library) {
  const auto said = capture({"/usr/bin/env", "LD_PRELOAD=" + library, "/bin/true"}, {"LD_PRELOAD"});
  if (!said.ok()) return said.status().message();
  const std::string& text = said.value().errors;
  return text.empty() && said.value().exit_status != 0 ? "a program that it is preloaded into fails"
                                                       : text.substr(0, text.find('\n'));
}

constexpr std::string_view standard = "abi";

/// What programs an own library or self test of that flavour is for.
std::string purpose_of(std::string_view flavour) {
  if (flavour == standard) return "protecting programs for the standard's interface, libmpi_abi.so.1 (optional)";
  return "protecting programs of " + std::string(flavour);
}

/// A library of that flavour that is there, or what the loader says against it.
InventoryItem judge_library(std::string_view flavour, const std::string& library) {
  const std::string trouble = cannot_be_loaded(library);
  return {library_file(flavour), trouble.empty(), library, "build Holdfast again: " + trouble, purpose_of(flavour), ""};
}

InventoryItem look_for_library(Mpi mpi) {
  auto library = find_library(name(mpi));
  if (library.ok()) return judge_library(name(mpi), library.value());
  return missing_library(library_file(name(mpi)), purpose_of(name(mpi)), mpi_packages(mpi),
                         mpi == Mpi::mpich ? "holdfast-mpich" : "holdfast");
}

InventoryItem look_for_standard_library() {
  auto library = find_library(standard);
  if (library.ok()) return judge_library(standard, library.value());
  return {library_file(standard),
          false,
          "",
          "build Holdfast with -DHOLDFAST_MPI_ABI_MPICC=/opt/mpi/bin/mpicc_abi; or set HOLDFAST_LIBRARY_PATH",
          purpose_of(standard),
          ""};
}

InventoryItem look_for_provider() {
  const std::string purpose = "jobs over several rails (--transport)";
  auto provider = find_provider();
  if (!provider.ok()) return missing_library("libholdfast-fi.so", purpose, "libfabric-dev", "holdfast-libfabric");
  return {"libholdfast-fi.so", true, provider.value(), "", purpose, ""};
}

InventoryItem look_for_rails() {
  InventoryItem item{"rails",
                     false,
                     "",
                     "install what 'holdfast doctor' misses above, or bring an interface up",
                     "jobs over several rails (--rails)",
                     ""};
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

InventoryItem look_for_program(std::string title, const std::string& program, const std::string& packages,
                               std::string purpose) {
  auto path = find_executable(program);
  if (!path.ok()) path = find_executable(program, "/usr/sbin:/sbin");  // where daemons are, in no user's PATH
  if (!path.ok()) return missing(std::move(title), std::move(purpose), packages);
  return {std::move(title), true, path.value(), "", std::move(purpose), ""};
}

/// A command of this holdfast that must end with 0 and, unless `expected` is empty, print just that.
InventoryItem self_test(const std::string& subject, std::string purpose, std::vector<std::string> words,
                        std::string_view expected) {
  InventoryItem item{"self test of " + subject, false, "", "", std::move(purpose), ""};
  constexpr auto limit = std::chrono::seconds(60);
  std::error_code failed;
  words.insert(words.begin(), std::filesystem::read_symlink("/proc/self/exe", failed).string());
  const auto ended = capture(words, {"LD_PRELOAD"}, limit);
  if (!ended.ok()) {
    item.remedy = ended.status().message();
    return item;
  }
  const Captured& said = ended.value();
  item.found = said.exit_status == 0 && (expected.empty() || said.output == expected);
  (item.found ? item.detail : item.remedy) =
      said.errors.empty() ? said.output.substr(0, said.output.find('\n')) : last_line(said.errors);
  return item;
}

constexpr std::string_view verified = "self-test: verified\n";

void test_flavour(std::string_view flavour, Inventory& inventory) {
  const auto program = find_self_test(flavour);
  if (!program.ok()) return;
  inventory.items.push_back(self_test(std::string(flavour), purpose_of(flavour),
                                      {"run", "-n", "2", "--replicas", "2", "--", program.value()}, verified));
}

void test_mpi(Mpi mpi, Inventory& inventory) {
  if (!launchers_in_path(mpi).empty()) test_flavour(name(mpi), inventory);
}

/// Over every rail of this host.
void test_rails(Inventory& inventory) {
  const auto program = find_self_test(name(Mpi::openmpi));
  const auto provider = find_provider();
  if (!program.ok() || !provider.ok() || launchers_in_path(Mpi::openmpi).empty()) return;
  const auto rails = list_rails(provider.value());
  if (!rails.ok() || rails.value().empty()) return;
  inventory.items.push_back(
      self_test("rails", "jobs over several rails (--rails)",
                {"run", "-n", "2", "--replicas", "1", "--rails", rails.value(), "--", program.value()}, verified));
}

void test_opensm(Inventory& inventory) {
  for (const char* program : {"opensm", "ibsim"})
    if (!find_executable(program).ok() && !find_executable(program, "/usr/sbin:/sbin").ok()) return;
  inventory.items.push_back(self_test("OpenSM", "routing by the real OpenSM (optional)",
                                      {"fabric", "route", "tree(2,2)", "--engine", "opensm:updn"}, ""));
}

}  // namespace

Inventory take_inventory() {
  Inventory inventory;
  inventory.cores = usable_cores();
  for (const auto& [mpi, title] : {std::pair(Mpi::openmpi, "Open MPI"), std::pair(Mpi::mpich, "MPICH")}) {
    for (InventoryItem& item : look_for_mpi(mpi, title)) {
      inventory.any_mpi = inventory.any_mpi || item.found;
      inventory.items.push_back(std::move(item));
    }
  }
  inventory.items.push_back(look_for_library(Mpi::openmpi));
  inventory.items.push_back(look_for_library(Mpi::mpich));
  inventory.items.push_back(look_for_standard_library());
  inventory.items.push_back(look_for_provider());
  inventory.items.push_back(look_for_rails());
  inventory.items.push_back(look_for_program("srun", "srun", "slurm-client", "jobs in a Slurm allocation (optional)"));
  inventory.items.push_back(look_for_program("OpenSM", "opensm", "opensm", "routing by the real OpenSM (optional)"));
  inventory.items.push_back(
      look_for_program("ibsim", "ibsim", "ibsim-utils libumad2sim0", "the fabric below OpenSM (optional)"));
  inventory.items.push_back(look_for_program("LAMMPS", "lmp", "lammps lammps-examples", "./demo (optional)"));
  inventory.items.push_back(look_for_program("HPCC", "hpcc", "hpcc", "./demo and the tests (optional)"));
  return inventory;
}

void run_self_tests(Inventory& inventory) {
  const std::size_t before = inventory.items.size();
  test_mpi(Mpi::openmpi, inventory);
  test_mpi(Mpi::mpich, inventory);
  test_flavour(standard, inventory);  // whose launcher it is, its library says
  test_rails(inventory);
  test_opensm(inventory);
  inventory.passed = std::all_of(inventory.items.begin() + static_cast<std::ptrdiff_t>(before), inventory.items.end(),
                                 [](const InventoryItem& item) { return item.found; });
}

std::string inventory_text(const Inventory& inventory) {
  std::string text = fmt::format("{:<35} {}\n", "cores of this host", inventory.cores);
  for (const InventoryItem& item : inventory.items)
    if (item.found) text += fmt::format("{:<35} {}\n", item.name, item.detail);
  for (const InventoryItem& item : inventory.items)
    if (!item.found) text += fmt::format("{:<35} missing, needed for {}: {}\n", item.name, item.purpose, item.remedy);
  std::string packages;
  for (const InventoryItem& item : inventory.items)
    if (!item.found && !item.packages.empty()) packages += " " + item.packages;
  if (!packages.empty()) text += fmt::format("{:<35} apt-get install{}\n", "to get all that is missing", packages);
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
