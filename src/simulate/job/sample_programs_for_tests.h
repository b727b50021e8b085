#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulate/job/program.h"

/// Programs for the tests of this folder, put together from calls as a recording has them.
namespace holdfast::simulate::job::sample {

using record::Fact;
using Facts = std::vector<record::FactValue>;

class Recording {
 public:
  explicit Recording(std::uint32_t ranks) : builder_("sample", ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) world_.members.push_back(rank);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) builder_.rank(rank).communicator(0, world_);
  }
  /// Facts besides the communicator, which is the world.
  Recording& call(std::uint32_t rank, std::string_view name, Facts facts, std::int64_t before_ns = 0,
                  std::uint32_t thread = 0) {
    facts.insert(facts.begin(), {Fact::communicator, 0});
    record::Call call{name, thread, facts};
    call.before_ns = before_ns;
    builder_.rank(rank).call(call);
    return *this;
  }
  /// The same in all ranks.
  Recording& all(std::string_view name, const Facts& facts, std::int64_t before_ns = 0) {
    for (std::size_t rank = 0; rank < world_.members.size(); ++rank)
      call(static_cast<std::uint32_t>(rank), name, facts, before_ns);
    return *this;
  }
  ProgramBuilder& builder() { return builder_; }
  Program take() { return builder_.finish().value(); }

 private:
  ProgramBuilder builder_;
  record::Communicator world_;
};

}  // namespace holdfast::simulate::job::sample
