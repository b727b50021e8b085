#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "simulate/study/analysis.h"
#include "simulate/study/database.h"
#include "simulate/study/rows_for_fuzz.h"

namespace {

using namespace holdfast::simulate::study;

void check(const StudyRecord& record) {
  std::size_t outcomes = 0;
  for (const auto& [outcome, count] : record.outcomes) outcomes += count;
  if (outcomes != record.finished || record.finished > record.points) std::abort();
  for (const Panel& panel : record.panels)
    for (const Series& series : panel.series)
      for (const ScenarioSummary& scenario : series.scenarios) {
        const Quartiles& q = scenario.gbytes_per_s;
        if (scenario.measured > scenario.asked) std::abort();
        if (!(q.least <= q.lower && q.lower <= q.median && q.median <= q.upper && q.upper <= q.greatest)) std::abort();
      }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static sqlite3* const rows = rows_for_fuzz::make_database();
  const std::string_view kinds[] = {"throughput", "collectives", ""};
  rows_for_fuzz::fill(rows, kinds[size % 3], {reinterpret_cast<const char*>(data), size});
  const auto opened = Database::open_to_read(rows_for_fuzz::path());
  if (!opened.ok()) std::abort();
  (void)opened.value().keys().ok();
  const auto record = analyse(opened.value());
  if (record.ok()) check(record.value());
  return 0;
}
