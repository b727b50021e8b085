#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "simulate/predict/prediction.h"
#include "simulate/study/rows_for_fuzz.h"

namespace {

using namespace holdfast::simulate;

/// A question whose runs are never asked for: what it is called comes from the input.
class Asked final : public study::Study {
 public:
  explicit Asked(std::string about) {
    kind = "prediction";
    name = "job";
    text = std::move(about);
  }
  holdfast::Result<study::Finished> run(std::size_t) const override { std::abort(); }
};

}  // namespace

/// The runs of a prediction whose database holds anything, drawn together: the first cell is what is told of all runs.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static sqlite3* const rows = study::rows_for_fuzz::make_database();
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  study::rows_for_fuzz::fill(rows, "prediction", input);
  const auto opened = study::Database::open_to_read(study::rows_for_fuzz::path());
  if (!opened.ok()) std::abort();
  const std::string about(input.substr(0, input.find('\n')));
  const auto records = predict::draw_together(Asked(about), opened.value());
  if (!records.ok()) return 0;
  for (const predict::PredictionRecord& record : records.value()) {
    std::size_t asked = 0;
    for (const predict::Outlook& outlook : record.outlooks) {
      asked += outlook.asked;
      if (outlook.measured > outlook.asked) std::abort();
    }
    if (asked != record.finished || record.finished > record.points) std::abort();
    for (const std::size_t shown : record.shown)
      if (shown >= record.outlooks.size()) std::abort();
  }
  return 0;
}
