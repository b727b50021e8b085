// What does it cost to sum a fragment while it is copied? Peers in the same run: memcpy, which any transport that
// copies pays; the fastest CRC32C alone (ours, ISA-L's); a copy and then a sum over all of it. 16 KiB is a fragment, in
// the first- level cache; 256 KiB is in the second, 8 MiB (source and destination together) in the third, 256 MiB in
// memory.
#include <benchmark/benchmark.h>
#include <isa-l.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/integrity/checksum.h"
#include "core/integrity/crc32c.h"

namespace {

using namespace holdfast::integrity;
using Bytes = std::span<const std::byte>;

template <class Function>
void measure(benchmark::State& state, Function function) {
  const auto size = static_cast<std::size_t>(state.range(0));
  std::vector<std::byte> from(size, std::byte{0x5A});
  std::vector<std::byte> to(size, std::byte{1});
  for (auto _ : state) {
    benchmark::DoNotOptimize(from.data());
    benchmark::DoNotOptimize(function(to.data(), Bytes(from)));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

template <class Function>
void add(const std::string& name, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), [function](benchmark::State& state) { measure(state, function); })
      ->Arg(256)
      ->Arg(16 << 10)
      ->Arg(256 << 10)
      ->Arg(8 << 20)
      ->Arg(128 << 20);
}

std::uint64_t isal(std::byte*, Bytes from) {
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(from.data()));  // ISA-L's signature
  return crc32_iscsi(data, static_cast<int>(from.size()), 0xFFFFFFFF);
}

void add_all() {
  add("memcpy", [](std::byte* to, Bytes from) {
    std::memcpy(to, from.data(), from.size());
    return to;
  });
  add("crc32c-alone/isa-l", isal);
  for (const Crc32cKernel& kernel : crc32c_kernels()) {
    if (!kernel.supported()) continue;
    const std::string name(kernel.name);
    add("crc32c-alone/" + name, [kernel](std::byte*, Bytes from) { return kernel.extend(0, from); });
    add("crc32c-fused/" + name, [kernel](std::byte* to, Bytes from) { return kernel.copy_extend(0, to, from); });
  }
  add("crc32c-after-copy", [](std::byte* to, Bytes from) {
    std::memcpy(to, from.data(), from.size());
    return crc32c_extend(0, {to, from.size()});
  });
  for (std::size_t i = 0; i < checksum_names.size(); ++i) {
    const auto algorithm = static_cast<Checksum>(i);
    add("fused/" + std::string(checksum_names[i]),
        [algorithm](std::byte* to, Bytes from) { return copy_with_checksum(algorithm, to, from); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
