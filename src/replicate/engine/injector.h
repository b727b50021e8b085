#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/fault/fault.h"
#include "core/random/stream.h"
#include "core/status/status.h"
#include "replicate/engine/record.h"

namespace holdfast::replicate {

/// The faults that the user has this process commit (docs/spec/faults.md): `flip` inverts a bit of a message of the
/// application before it is sent, `corrupt-header` one of a control message after it was sealed. Each of the two counts
/// its own messages and draws from its own stream. One thread at a time.
class Injector {
 public:
  /// Where a fault strikes: which one, as listed, and the bit, from the message's first.
  struct Strike {
    std::size_t fault;
    std::uint64_t bit;
  };

  Injector() = default;
  /// Error: bad_input, for what the grammar or this injector does not know.
  static Result<Injector> read(std::string_view faults, std::uint64_t seed, Process self);

  /// Nothing strikes here, ever.
  bool none() const { return faults_.empty(); }
  /// What strikes the next message of this many bits to that rank (-1: to nobody in particular).
  std::vector<Strike> message(int to_rank, std::uint64_t bits) { return messages_.next(faults_, self_, to_rank, bits); }
  std::vector<Strike> control(int to_rank, std::uint64_t bits) { return controls_.next(faults_, self_, to_rank, bits); }

 private:
  struct Victims {
    fault::Kind kind;
    random::Stream draw{0};
    bool any = false;
    std::uint64_t count = 0;
    std::vector<Strike> next(const std::vector<fault::Fault>& faults, Process self, int to_rank, std::uint64_t bits);
    bool strikes(const fault::Fault& fault, Process self, int to_rank);
  };

  std::vector<fault::Fault> faults_;
  Process self_;
  Victims messages_{fault::Kind::flip};
  Victims controls_{fault::Kind::corrupt_header};
};

}  // namespace holdfast::replicate
