#include "replicate/launch/plan/injection.h"

#include <optional>

#include "core/fault/fault.h"
#include "core/fault/grammar.h"

namespace holdfast::launch {
namespace {

Status outside(const fault::Fault& fault, std::string_view what, std::optional<std::uint32_t> number, int count,
               const std::string& whole = "this job") {
  if (!number || *number < static_cast<std::uint32_t>(count)) return {};
  return {Code::bad_input, "reading --inject '" + fault::format(fault) + "'",
          "there is no " + std::string(what) + " " + std::to_string(*number),
          whole + " has " + std::to_string(count) + ", numbered from 0"};
}

Status check(const fault::Fault& fault, const replicate::ReplicaMap& map) {
  if (fault.kind != fault::Kind::flip && fault.kind != fault::Kind::corrupt_header)
    return {Code::bad_input, "reading --inject '" + fault::format(fault) + "'",
            "'" + std::string(fault::name(fault.kind)) + "' is not for messages of a run",
            "only flip and corrupt-header are"};
  if (Status status = outside(fault, "rank", fault.place.rank, map.ranks()); !status.ok()) return status;
  if (Status status = outside(fault, "peer", fault.place.peer, map.ranks()); !status.ok()) return status;
  if (!fault.place.rank) return outside(fault, "replica", fault.place.replica, map.degree());
  return outside(fault, "replica", fault.place.replica, map.degree(static_cast<int>(*fault.place.rank)),
                 "rank " + std::to_string(*fault.place.rank));
}

}  // namespace

Result<std::string> check_injection(const std::string& text, const replicate::ReplicaMap& map) {
  auto faults = fault::parse(text, "--inject");
  if (!faults.ok()) return faults.status();
  std::string joined;
  for (const fault::Fault& fault : faults.value()) {
    if (Status status = check(fault, map); !status.ok()) return status;
    joined += (joined.empty() ? "" : "; ") + fault::format(fault);
  }
  return joined;
}

std::vector<std::string> faults_in(const std::string& text) {
  std::vector<std::string> faults;
  const auto parsed = fault::parse(text, "--inject");
  if (!parsed.ok()) return faults;
  for (const fault::Fault& fault : parsed.value()) faults.push_back(fault::format(fault));
  return faults;
}

}  // namespace holdfast::launch
