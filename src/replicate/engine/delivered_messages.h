#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "replicate/engine/record.h"
#include "replicate/engine/vote.h"

namespace holdfast::replicate {

/// The last messages that were delivered: their names, their ballots and where the application has them. Another
/// replica may need one that is long past here, when its own was altered after its digest was out. Nothing is copied:
/// it is had for as long as the application leaves its buffer as it is (docs/design/replication.md). One thread at a
/// time; owns none of the memory, which may be gone.
class DeliveredMessages {
 public:
  struct Delivered {
    MessageId name;
    Ballot ballot;
    const std::byte* memory = nullptr;
  };
  void note(const MessageId& name, const Ballot& ballot, const std::byte* memory) {
    last_[next_] = {name, ballot, memory};
    next_ = (next_ + 1) % last_.size();
  }
  /// Null where it is none of the last. Valid until the next note().
  const Delivered* find(const MessageId& name) const {
    for (const Delivered& one : last_)
      if (one.memory && one.name == name) return &one;
    return nullptr;
  }

 private:
  std::array<Delivered, 64> last_;
  std::size_t next_ = 0;
};

}  // namespace holdfast::replicate
