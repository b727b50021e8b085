#include "record/import/dumpi_rank.h"
#include "record/rank_reader.h"
#include "record/totals.h"

/// Any two texts are the ranks of a job: what is made of them is a recording that can be read without damage.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::record;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(all.find('\0'), size);
  const std::string_view texts[] = {all.substr(0, cut), all.substr(std::min(cut + 1, size))};
  DumpiCommunicators communicators(2);
  std::map<std::int64_t, std::int64_t> sizes[2];
  for (std::uint64_t rank = 0; rank < 2; ++rank) {
    DumpiReader reader(texts[rank]);
    DumpiCall call;
    while (true) {
      const auto more = reader.next(call);
      if (!more.ok() || !more.value()) break;
      communicators.take(rank, call);
    }
    sizes[rank] = reader.datatype_bytes();
  }
  communicators.resolve();
  for (std::uint64_t rank = 0; rank < 2; ++rank) {
    ImportedRank made({rank, 2, "job", "dumpi", "host", 0});
    DumpiRank calls(rank, communicators, sizes[rank], made);
    DumpiReader reader(texts[rank]);
    DumpiCall call;
    while (true) {
      const auto more = reader.next(call);
      if (!more.ok() || !more.value()) break;
      calls.take(call);
    }
    RankTotals totals;
    if (!read_rank(made.finish(calls.ending()), totals).whole() && calls.ending() == Ending::finalized)
      __builtin_trap();
  }
  return 0;
}
