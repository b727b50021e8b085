#include "replicate/engine/roll_call_reader.h"

namespace holdfast::replicate {

std::optional<RollCall> RollCallReader::next() {
  if (spoilt_) return std::nullopt;
  const std::size_t end = held_.find('\n');
  if (end == std::string::npos) {
    spoilt_ = held_.size() > longest_roll_call;
    return std::nullopt;
  }
  const std::string line = held_.substr(0, end);
  held_.erase(0, end + 1);
  std::optional<RollCall> message;
  if (line.size() <= longest_roll_call) message = seal_ ? seal_->open(line) : parse_roll_call(line);
  spoilt_ = !message;
  return message;
}

}  // namespace holdfast::replicate
