#include "core/event/json.h"
#include "fabric/topology/generate.h"
#include "simulate/collective/study.h"
#include "simulate/study/provenance.h"
#include "simulate/study/study.h"

namespace holdfast::simulate::study {
namespace {

/// The collectives of docs/spec/study.md: each point is one sample of collectives on one fabric.
class CollectiveStudy final : public Study {
 public:
  CollectiveStudy(collective::Study study, fabric::Fabric fabric)
      : study_(std::move(study)), fabric_(std::move(fabric)) {
    name = study_.name;
    kind = "collectives";
    title = "Collectives in the network on " + study_.fabric;
    for (const collective::StudyPoint& point : study_.points) {
      Json parameters = {{"fabric", study_.fabric}};
      parameters.update(collective::parameters_json(point));
      parameters["computed_by"] = computed_by(kind);
      std::string key = event::json_line(parameters);
      points.push_back({point.group, std::move(parameters), std::move(key)});
    }
  }

  Result<Finished> run(std::size_t index) const override {
    const double before = cpu_seconds();
    auto sampled = collective::sample(fabric_, nullptr, study_.points[index].plan);
    if (!sampled.ok()) return sampled.status();
    return Finished{"measured", collective::sample_json(sampled.value()), cpu_seconds() - before};
  }

 private:
  collective::Study study_;
  fabric::Fabric fabric_;
};

}  // namespace

Result<std::unique_ptr<Study>> read_collective_study(std::string_view text, std::string_view name) {
  auto study = collective::read_study(text, name);
  if (!study.ok()) return study.status();
  auto fabric = fabric::generate(study.value().fabric);
  if (!fabric.ok()) return fabric.status();
  auto made = std::make_unique<CollectiveStudy>(std::move(study).value(), std::move(fabric).value());
  made->text = text;
  return std::unique_ptr<Study>(std::move(made));
}

}  // namespace holdfast::simulate::study
