#include "record/import/imported_rank.h"

#include <algorithm>

namespace holdfast::record {

ImportedRank::ImportedRank(const Head& head)
    : writer_(
          head, [this](std::uint32_t function) -> std::string_view { return names_[function]; },
          [this](std::string_view block) { bytes_ += block; }) {}

std::uint32_t ImportedRank::number_of(std::string_view function) {
  const auto known = numbers_.find(function);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(function);
  numbers_.emplace(function, number);
  return number;
}

void ImportedRank::add(std::string_view function, std::uint32_t thread, std::span<const FactValue> facts,
                       std::int64_t entered_ns, std::int64_t left_ns) {
  if (!began_) began_ns_ = entered_ns;
  began_ = true;
  const std::int64_t before = left_at_ns_.try_emplace(thread, entered_ns).first->second;
  const std::int64_t entered = std::max(entered_ns, before);
  const std::int64_t left = std::max(left_ns, entered);
  left_at_ns_[thread] = left;
  writer_.add(number_of(function), thread, facts, entered - before, 0, left - entered,
              std::max(left, began_ns_) - began_ns_);
}

void ImportedRank::count(std::string_view function, bool local) {
  writer_.count(number_of(function), local, 1);
}

std::string ImportedRank::finish(Ending ending) {
  writer_.end(ending);
  return std::move(bytes_);
}

}  // namespace holdfast::record
