#include "replicate/engine/membership_reader.h"

namespace holdfast::replicate {

std::optional<MembershipMessage> MembershipReader::next() {
  if (spoilt_) return std::nullopt;
  const std::size_t end = held_.find('\n');
  if (end == std::string::npos) {
    spoilt_ = held_.size() > longest_membership_message;
    return std::nullopt;
  }
  const std::string line = held_.substr(0, end);
  held_.erase(0, end + 1);
  std::optional<MembershipMessage> message;
  if (line.size() <= longest_membership_message) message = seal_ ? seal_->open(line) : parse_membership_message(line);
  spoilt_ = !message;
  return message;
}

}  // namespace holdfast::replicate
