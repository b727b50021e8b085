#include "replicate/world/local_mpi.h"

#include <algorithm>
#include <utility>

namespace holdfast::replicate {

namespace {

bool fits(std::uint64_t communicator, std::int32_t source, std::int32_t tag, const PlannedMessage& message) {
  return communicator == message.communicator && (source == any_source || source == message.from) &&
         (tag == any_tag || tag == message.tag);
}

}  // namespace

void LocalMpi::arrive(Network::Message message) {
  const PlannedMessage& planned = plan_.messages[message.index];
  const auto found = std::find_if(posted_.begin(), posted_.end(), [&](const Buffer* receive) {
    return fits(receive->communicator, receive->posted_source, receive->posted_tag, planned);
  });
  if (found == posted_.end()) {
    unexpected_.push_back(std::move(message));
    return;
  }
  Buffer& receive = **found;
  posted_.erase(found);
  give(receive, message);
}

void LocalMpi::post(Buffer& receive) {
  receive.native = Buffer::Native::posted;
  receive.posted_source = receive.source;
  receive.posted_tag = receive.tag;
  if (const auto message = take(receive.communicator, receive.source, receive.tag)) {
    give(receive, *message);
  } else {
    posted_.push_back(&receive);
  }
}

void LocalMpi::cancel(Buffer& receive) {
  if (std::erase(posted_, &receive) > 0) receive.native = Buffer::Native::cancelled;
}

LocalMpi::Queue::const_iterator LocalMpi::first(std::uint64_t communicator, std::int32_t source,
                                                std::int32_t tag) const {
  return std::find_if(unexpected_.begin(), unexpected_.end(), [&](const Network::Message& message) {
    return fits(communicator, source, tag, plan_.messages[message.index]);
  });
}

const PlannedMessage* LocalMpi::find(std::uint64_t communicator, std::int32_t source, std::int32_t tag) const {
  const auto found = first(communicator, source, tag);
  return found == unexpected_.end() ? nullptr : &plan_.messages[found->index];
}

std::optional<Network::Message> LocalMpi::take(std::uint64_t communicator, std::int32_t source, std::int32_t tag) {
  const auto found = first(communicator, source, tag);
  if (found == unexpected_.end()) return std::nullopt;
  Network::Message message = *found;
  unexpected_.erase(found);
  return message;
}

void LocalMpi::give(Buffer& receive, const Network::Message& message) const {
  const PlannedMessage& planned = plan_.messages[message.index];
  receive.native = Buffer::Native::done;
  receive.message = message.index;
  receive.from = planned.from;
  receive.with_tag = planned.tag;
  const bool cut = message.bytes.size() > receive.room;
  receive.refused = cut && plan_.says_cut;
  receive.length = receive.refused ? 0 : std::min(message.bytes.size(), receive.room);
  std::copy_n(message.bytes.begin(), std::min(message.bytes.size(), receive.room), receive.bytes.begin());
}

}  // namespace holdfast::replicate
