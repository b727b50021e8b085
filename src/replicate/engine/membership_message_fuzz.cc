#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/secret/key.h"
#include "replicate/engine/membership_reader.h"
#include "replicate/engine/membership_seal.h"

/// Any bytes give messages that their own lines give again, or spoil the stream; nothing grows without end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::replicate;
  MembershipReader reader;
  reader.push({reinterpret_cast<const char*>(data), size});
  while (const auto message = reader.next()) {
    std::string line = format_membership_message(*message);
    line.pop_back();
    if (parse_membership_message(line) != message) std::abort();
  }
  // Nobody who lacks the secret, as this fuzzer does, finds a line with its tag.
  holdfast::secret::Key job{};
  job[7] = std::byte{99};
  MembershipReader sealed;
  sealed.expect(MembershipSeal(job, {}, "", MembershipSeal::From::run));
  sealed.push({reinterpret_cast<const char*>(data), size});
  if (sealed.next()) std::abort();
  return 0;
}
