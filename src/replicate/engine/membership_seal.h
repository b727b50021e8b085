#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/secret/key.h"
#include "replicate/engine/membership_message.h"

namespace holdfast::replicate {

/// The tags of one direction of a connection that both sides believe in (`join` was answered by `welcome`): a tag
/// behind each line shows that who sent it has the job's secret, and that no line was changed, left out, repeated or
/// put in another place. HMAC-SHA256 over the line and its number, cut to 128 bits. One thread at a time.
class MembershipSeal {
 public:
  enum class From : std::uint8_t { run, process };

  /// Keys are of this connection and this direction alone: both nonces are in them.
  MembershipSeal(const secret::Key& job, const MembershipMessage& join, std::string_view challenge, From from);

  /// The line of the next message, with its tag and its end.
  std::string line(const MembershipMessage& message);

  /// The message in the next line that came, without its end; nothing when the tag is not that of this line.
  std::optional<MembershipMessage> open(std::string_view line);

 private:
  std::string tag(std::string_view words);

  secret::Key key_;
  std::uint64_t number_ = 0;
};

}  // namespace holdfast::replicate
