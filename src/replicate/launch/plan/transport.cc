#include "replicate/launch/plan/transport.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "core/arithmetic/totals.h"
#include "core/output/amounts.h"
#include "replicate/launch/detect/elf_file.h"
#include "replicate/launch/detect/library.h"
#include "replicate/launch/plan/left_file.h"
#include "replicate/launch/plan/run_directory.h"

namespace holdfast::launch {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* unreadable =
    "unreadable_records";  ///< beside the counters: files that a process left half-written

std::uint64_t counter(const Json& counters, const char* name) {
  const auto found = counters.find(name);
  return found != counters.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

/// The transport's options that the user has set here must hold on every host: a launcher passes on what it is told to.
void pass_on(std::vector<Variable>& variables) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t end = text.find('=');
    const std::string_view name = text.substr(0, end);
    if (end == text.npos || !(name.starts_with("HOLDFAST_TRANSPORT_") || name.starts_with("HOLDFAST_RAILS_"))) continue;
    const bool ours = std::any_of(variables.begin(), variables.end(),
                                  [name](const Variable& variable) { return variable.first == name; });
    if (!ours) variables.emplace_back(name, text.substr(end + 1));
  }
}

/// An MPICH that has no libfabric (ch4:ucx), or of which that cannot be seen.
Status without_libfabric(const Program& program) {
  if (program.library.empty())
    return {Code::bad_input, "choosing the transport", "it cannot be seen whether the program's MPICH uses libfabric",
            "leave --transport out, or give a program that links its MPI"};
  const auto symbols = read_mpi_symbols(program.library);
  if (!symbols.ok()) return symbols.status();
  if (symbols.value().libfabric) return {};
  return {Code::bad_input, "choosing the transport",
          "the program's MPICH, " + program.library + ", does not use libfabric, as Debian builds it",
          "leave --transport out, or build the program with Open MPI, or with an MPICH of --with-device=ch4:ofi"};
}

std::vector<Variable> variables_for(Mpi mpi) {
  if (mpi == Mpi::openmpi)
    return {{"OMPI_MCA_pml", "cm"},
            {"OMPI_MCA_mtl", "ofi"},
            {"OMPI_MCA_mtl_ofi_provider_include", "holdfast"},
            {"OMPI_MCA_btl", "^ofi"}};
  // MPICH takes a provider's atomic operations for MPI_Accumulate also where they come in no order
  // (src/mpid/ch4/netmod/ ofi/init_provider.c: the order is asked for, and then done without); its own messages come in
  // order.
  return {{"FI_PROVIDER", "holdfast"}, {"MPIR_CVAR_CH4_OFI_ENABLE_ATOMICS", "0"}};
}

}  // namespace

Result<std::vector<Variable>> transport_variables(const Program& program, const std::string& rails,
                                                  const std::string& folder) {
  if (program.mpi == Mpi::mpich) {
    if (Status without = without_libfabric(program); !without.ok()) return without;
  }
  auto provider = find_provider();
  if (!provider.ok()) return provider.status();
  std::vector<Variable> variables = variables_for(program.mpi);
  variables.emplace_back("FI_PROVIDER_PATH", fs::path(provider.value()).parent_path().string());
  variables.emplace_back("HOLDFAST_RAILS_COUNTERS", folder);
  // A path and no secret, which may be seen on the launcher's command line. Who has named a file has it on every host.
  const char* own = std::getenv("HOLDFAST_TRANSPORT_SECRET_FILE");
  variables.emplace_back("HOLDFAST_TRANSPORT_SECRET_FILE", own != nullptr ? own : folder + "/" + secret_file_name);
  if (!rails.empty()) variables.emplace_back("HOLDFAST_RAILS_USE", rails);
  pass_on(variables);
  return variables;
}

Result<std::string> list_rails(const std::string& provider) {
  void* library = dlopen(provider.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays loaded: libfabric has state of its own
  using Rails = const char* (*)();
  const auto rails = library == nullptr ? nullptr : reinterpret_cast<Rails>(dlsym(library, "holdfast_rails"));
  if (rails == nullptr) {
    const char* why = dlerror();
    return Status(Code::unavailable, "looking for rails", why != nullptr ? why : "the library does not list them",
                  "build Holdfast again");
  }
  return std::string(rails());
}

Json read_transport_counters(const std::string& folder) {
  Json sums;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("transport-") || !name.ends_with(".json")) continue;
    const Json one = read_json_file(entry.path().string());
    const auto add = [&sums](const std::string& key, std::uint64_t count) {
      sums[key] = arithmetic::add_or_most(count, sums.contains(key) ? counter(sums, key.c_str()) : 0);
    };
    if (!one.is_object()) {
      add(unreadable, 1);
      continue;
    }
    for (const auto& [key, value] : one.items())
      if (value.is_number_unsigned()) add(key, value.get<std::uint64_t>());
  }
  return sums;
}

std::optional<std::uint64_t> messages_lost(const Json& counters) {
  if (!counters.is_object()) return 0;
  if (counters.contains(unreadable)) return std::nullopt;
  return counter(counters, "messages_lost");
}

std::string transport_line(const Json& counters) {
  const auto n = [&](const char* name) { return output::grouped(counter(counters, name)); };
  return fmt::format(
      "transport: {} fragments, {} sent again, {} corrupt, {} duplicates, {} times a rail lost, {} ms without a rail",
      n("fragments_sent"), n("fragments_retransmitted"),
      output::grouped(counter(counters, "corrupt_fragments") + counter(counters, "corrupt_headers")), n("duplicates"),
      n("rails_lost"), output::grouped(counter(counters, "time_without_rail_ns") / 1'000'000));
}

}  // namespace holdfast::launch
