#pragma once

#include <functional>
#include <string>

#include "simulate/study/study.h"

namespace holdfast::simulate::study {

/// A study for tests, whose runs do what a test wants.
class Scripted final : public Study {
 public:
  explicit Scripted(std::size_t count) {
    name = "scripted";
    for (std::size_t i = 0; i < count; ++i) points.push_back({"g", {{"n", i}}, "n" + std::to_string(i)});
  }
  std::function<Result<Finished>(std::size_t)> script = [](std::size_t index) -> Result<Finished> {
    return Finished{"measured", {{"square", index * index}}, 0};
  };
  Result<Finished> run(std::size_t index) const override { return script(index); }
};

}  // namespace holdfast::simulate::study
