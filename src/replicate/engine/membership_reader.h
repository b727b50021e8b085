#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "replicate/engine/membership_message.h"
#include "replicate/engine/membership_seal.h"

namespace holdfast::replicate {

/// Cuts a stream of bytes into messages. A line that is too long, says nothing or lacks its tag ends it: nothing after
/// it is believed.
class MembershipReader {
 public:
  void push(std::string_view bytes) { held_ += bytes; }
  /// From the next line on, lines carry tags.
  void expect(MembershipSeal seal) { seal_ = seal; }
  /// The next message; nothing when none is complete, or the stream is spoilt.
  std::optional<MembershipMessage> next();
  bool spoilt() const { return spoilt_; }

 private:
  std::string held_;
  std::optional<MembershipSeal> seal_;
  bool spoilt_ = false;
};

}  // namespace holdfast::replicate
