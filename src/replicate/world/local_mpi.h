#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "replicate/world/buffer.h"
#include "replicate/world/network.h"
#include "replicate/world/plan.h"

namespace holdfast::replicate {

/// MPI as one process has it: the earliest posted receive that fits takes a message, and a receive takes the message
/// that came first (MPI 3.1, section 3.5). Shares no code with the engine's order of receives.
class LocalMpi {
 public:
  explicit LocalMpi(const Plan& plan) : plan_(plan) {}

  /// A message is here.
  void arrive(Network::Message message);
  /// Gives a receive to MPI, by its source and tag of now.
  void post(Buffer& receive);
  /// It is done, as a cancelled one where it had no message.
  void cancel(Buffer& receive);
  /// The message that such a receive would take now; null when there is none.
  const PlannedMessage* find(std::uint64_t communicator, std::int32_t source, std::int32_t tag) const;
  /// The same, taken out of the queue.
  std::optional<Network::Message> take(std::uint64_t communicator, std::int32_t source, std::int32_t tag);
  /// Ends a receive with that message.
  void give(Buffer& receive, const Network::Message& message) const;
  std::size_t unexpected() const { return unexpected_.size(); }

 private:
  using Queue = std::deque<Network::Message>;
  Queue::const_iterator first(std::uint64_t communicator, std::int32_t source, std::int32_t tag) const;

  const Plan& plan_;
  std::vector<Buffer*> posted_;  ///< in order
  Queue unexpected_;             ///< in order of arrival
};

}  // namespace holdfast::replicate
