// What does a digest cost per message, and are our CRC kernels as fast as the peer's? Peers in the same run: ISA-L's
// crc32_iscsi for CRC32C; SHA-1, which RedMPI used, for scale. Compare the bytes_per_second of one size.
#include <benchmark/benchmark.h>
#include <isa-l.h>

#include <string>
#include <vector>

#include "core/integrity/crc32c.h"
#include "core/integrity/digest.h"
#include "core/integrity/xxh3.h"

#if __has_include(<openssl/evp.h>)
#include <openssl/evp.h>
#endif

namespace {

using holdfast::integrity::Algorithm;
using Bytes = std::span<const std::byte>;

template <class Function>
void measure(benchmark::State& state, Function function) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)), std::byte{0x5A});
  for (auto _ : state) {
    Bytes input = bytes;
    benchmark::DoNotOptimize(input);
    benchmark::DoNotOptimize(function(input));
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

template <class Function>
void add(const std::string& name, Function function) {
  benchmark::RegisterBenchmark(name.c_str(), [function](benchmark::State& state) { measure(state, function); })
      ->Arg(8)
      ->Arg(64)
      ->Arg(1024)
      ->Arg(65536);
}

unsigned isal_crc32c(Bytes bytes) {
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));  // ISA-L's signature
  return ~crc32_iscsi(data, static_cast<int>(bytes.size()), 0xFFFFFFFF);
}

#if __has_include(<openssl/evp.h>)
unsigned char sha1(Bytes bytes) {
  unsigned char hash[EVP_MAX_MD_SIZE];
  EVP_Digest(bytes.data(), bytes.size(), hash, nullptr, EVP_sha1(), nullptr);
  return hash[0];
}
#endif

void add_all() {
  for (const Algorithm algorithm : {Algorithm::xxh3_128, Algorithm::xxh3_64, Algorithm::crc32c}) {
    add("chosen/" + std::string(name(algorithm)),
        [algorithm](Bytes bytes) { return holdfast::integrity::digest(algorithm, bytes).low; });
  }
  for (const auto& kernel : holdfast::integrity::xxh3_kernels()) {
    add("xxh3-64/" + std::string(kernel.name), [kernel](Bytes bytes) { return kernel.digest_64(bytes).low; });
  }
  for (const auto& kernel : holdfast::integrity::crc32c_kernels()) {
    if (!kernel.supported()) continue;
    add("crc32c/" + std::string(kernel.name), [kernel](Bytes bytes) { return kernel.extend(0, bytes); });
  }
  add("peer/isa-l-crc32c", isal_crc32c);
#if __has_include(<openssl/evp.h>)
  add("peer/sha1", sha1);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
