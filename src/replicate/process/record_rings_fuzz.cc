// Any bytes are what the processes of a host write into the memory of their rings, between messages that are read and
// put: what arrives is a message of at most most_bytes from one of them, and each call ends.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "replicate/process/record_rings.h"

namespace {

using holdfast::replicate::RecordRings;

constexpr int processes = 3;

/// As the system gives it: zeros, also after each reset().
struct Memory {
  std::size_t size = RecordRings::bytes(processes);
  std::byte* bytes =
      static_cast<std::byte*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  void reset() const {
    if (bytes == MAP_FAILED || madvise(bytes, size, MADV_DONTNEED) != 0) std::abort();
  }
};

void require(bool held) {
  if (!held) std::abort();
}

void read_some(RecordRings& rings) {
  for (int i = 0; i < 4; ++i) {
    const auto arrived = rings.next();
    if (!arrived) return;
    require(arrived->from >= 0 && arrived->from < processes && arrived->bytes.size() <= RecordRings::most_bytes);
    std::byte sum{};
    for (const std::byte each : arrived->bytes) sum ^= each;
    (void)sum;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Memory memory;
  memory.reset();
  RecordRings rings(memory.bytes, processes, 1), sender(memory.bytes, processes, 0);
  // Six bytes a step: what is done, where, what is written there.
  for (; size >= 6; data += 6, size -= 6) {
    std::uint32_t place = 0;
    std::memcpy(&place, data + 1, 3);
    const std::size_t at = static_cast<std::size_t>(place) * 2 % (memory.size - 1);
    switch (data[0] % 4) {
      case 0:  // the beginning of a ring or of the bells
        memory.bytes[at % 65536] = std::byte{data[4]};
        break;
      case 1:
        std::memcpy(memory.bytes + at, data + 4, 2);
        break;
      case 2: {
        std::byte message[RecordRings::most_bytes] = {};
        (void)sender.put(1, {message, data[4] % RecordRings::most_bytes + 1U});
        break;
      }
      default:
        read_some(rings);
    }
  }
  read_some(rings);
  return 0;
}
