#include "record/rank_reader.h"

#include "record/totals.h"

/// Any bytes are a rank's file: what is read can be summed up. The first byte chooses between the bytes as they are and
/// as payload of a good block of calls behind a good head, which a checksum would keep a fuzzer from.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::record;
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 1) {
    std::string file;
    EventWriter writer(
        {0, 2, "job", "mpi", "host", 0}, [](std::uint32_t) { return "MPI_Send"; },
        [&file](std::string_view block) { file += block; });
    bytes = file + make_block(BlockKind::calls, 1, bytes) + make_block(BlockKind::end, 2, bytes);
  }
  RankTotals totals;
  const RankFile read = read_rank(bytes, totals);
  if (read.bytes != bytes.size()) __builtin_trap();
  return 0;
}
