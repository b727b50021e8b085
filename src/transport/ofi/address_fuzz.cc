// Any bytes are either no address, or one that is written, and read, and written as the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "transport/ofi/address.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using holdfast::transport::ofi::Address;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  Address address, again;
  if (!Address::read(bytes, address)) return 0;
  Address::Raw raw, rewritten;
  if (size != raw.size() || !address.write(raw) || !Address::read(raw, again)) std::abort();
  if (again.partial != address.partial || again.host != address.host || again.number != address.number ||
      again.rails.size() != address.rails.size())
    std::abort();
  if (!again.write(rewritten) || rewritten != raw) std::abort();
  return 0;
}
