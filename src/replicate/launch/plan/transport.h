#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/status/status.h"
#include "replicate/launch/detect/command.h"
#include "replicate/launch/detect/program.h"

/// `holdfast run --transport`: an MPI program over the holdfast libfabric provider.
namespace holdfast::launch {

/// The variables that make the program's MPI use the provider on these rails (empty: those that it finds), with each
/// process's counters left in `folder`, and the transport's options that this process's environment has. Errors:
/// bad_input for an MPICH that does not use libfabric, as Debian's, or that cannot be seen, unavailable without the
/// provider's library.
Result<std::vector<Variable>> transport_variables(const Program& program, const std::string& rails,
                                                  const std::string& folder);

/// The rails of this host, as --rails takes them: "tcp@eth0,udp@eth0,shm". Asks the provider's library at this path,
/// which it loads. Errors: unavailable.
Result<std::string> list_rails(const std::string& provider);

/// The sums of what the processes left in `folder`, and how many of their files cannot be read; null when none did.
nlohmann::ordered_json read_transport_counters(const std::string& folder);

/// Messages that a process was told were sent, and of which nobody knows whether they arrived. None where a process's
/// counters cannot be read, so that nobody knows of any.
std::optional<std::uint64_t> messages_lost(const nlohmann::ordered_json& counters);

/// "transport: 52,311 fragments, 12 sent again, 3 corrupt, 9 duplicates, 1 rail lost, 0 ms without a rail".
std::string transport_line(const nlohmann::ordered_json& counters);

}  // namespace holdfast::launch
