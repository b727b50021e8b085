#include "plan/regression_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/event/record.h"

namespace holdfast::plan {
namespace {

using Json = nlohmann::ordered_json;

bool one_line(const std::string& text) {
  return !text.empty() && text.size() <= 500 &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

class Reader {
 public:
  explicit Reader(std::string_view name) : doing_("reading the regression " + std::string(name)) {}

  Result<RegressionFile> read(const Json& record) {
    RegressionFile file;
    Status status = text(record, "title", file.title);
    if (status.ok()) status = text(record, "source", file.source);
    if (status.ok()) status = text(record, "unit", file.unit);
    if (status.ok()) status = text(record, "failures", file.failures);
    if (!status.ok()) return status;
    constexpr std::array counted{"links", "switches", "links and switches"};
    if (std::find(counted.begin(), counted.end(), file.failures) == counted.end()) {
      return wrong("\"failures\" says not what is counted", "write \"links\", \"switches\" or \"links and switches\"");
    }
    const auto engines = record.find("engines");
    if (engines == record.end() || !engines->is_array() || engines->empty() || engines->size() > 1000) {
      return wrong("\"engines\" is no list of 1 to 1,000 engines", "see docs/spec/regression.md");
    }
    for (const Json& each : *engines) {
      if (status = engine(each, file); !status.ok()) return status;
    }
    return file;
  }

 private:
  Status wrong(const std::string& what, const std::string& remedy) const {
    return {Code::bad_input, doing_, what, remedy};
  }

  Status text(const Json& object, const char* name, std::string& into) const {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string() || !one_line(found->get_ref<const std::string&>())) {
      return wrong("\"" + std::string(name) + "\" is no line of text", "see docs/spec/regression.md");
    }
    into = found->get<std::string>();
    return {};
  }

  // A number within +-1e15, or `absent` when there is none (and there may be none).
  Status number(const Json& object, const std::string& engine, const char* name, std::optional<double> absent,
                double& into) const {
    const auto found = object.find(name);
    if (found == object.end() && absent) {
      into = *absent;
      return {};
    }
    if (found == object.end() || !found->is_number() || !(std::abs(found->get<double>()) <= 1e15)) {
      return wrong("\"" + std::string(name) + "\" of '" + engine + "' is no number", "see docs/spec/regression.md");
    }
    into = found->get<double>();
    return {};
  }

  Status engine(const Json& object, RegressionFile& file) const {
    EngineLine line;
    if (!object.is_object()) return wrong("an engine is no object", "see docs/spec/regression.md");
    Status status = text(object, "engine", line.engine);
    if (status.ok()) status = number(object, line.engine, "intercept", std::nullopt, line.intercept);
    if (status.ok()) status = number(object, line.engine, "slope", std::nullopt, line.slope);
    if (status.ok()) status = number(object, line.engine, "r2", std::nan(""), line.r2);
    if (status.ok()) status = number(object, line.engine, "most_failures", std::nan(""), line.most_failures);
    if (!status.ok()) return status;
    if (line.intercept <= 0)
      return wrong("\"intercept\" of '" + line.engine + "' is not above 0", "give the throughput");
    for (const EngineLine& other : file.engines) {
      if (other.engine == line.engine) return wrong("'" + line.engine + "' stands there twice", "keep one of them");
    }
    file.engines.push_back(std::move(line));
    return {};
  }

  std::string doing_;
};

}  // namespace

double EngineLine::at(double failures) const {
  return std::max(0.0, intercept + slope * failures);
}

Result<RegressionFile> read_regression(std::string_view text, std::string_view name) {
  const auto record = event::read_record(text, "holdfast.regression", name);
  if (!record.ok()) return record.status();
  return Reader(name).read(record.value());
}

}  // namespace holdfast::plan
