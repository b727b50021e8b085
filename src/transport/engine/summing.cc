// The sums of fragments: when they are made, and held against the bytes again.
#include "transport/engine/core.h"

namespace holdfast::transport {

std::uint64_t Core::checksum_of(Fragment& fragment, integrity::Checksum algorithm) {
  const std::size_t offset = fragment.vfrag->offset + std::size_t{fragment.index} * fragment_bytes;
  return integrity::gather_with_checksum(algorithm, fragment.vfrag->message->pieces.span(), offset, fragment.bytes,
                                         nullptr);
}

void Core::make_sum(Fragment& fragment, integrity::Checksum algorithm) {
  if (fragment.summed && fragment.algorithm == algorithm) return;
  fragment.checksum = checksum_of(fragment, algorithm);
  fragment.algorithm = algorithm;
  fragment.summed = true;
}

// Whether the fragment still has the bytes that it was summed with. Asked before they are sent again, and before
// another sum takes the place of the first: otherwise what changed in memory would be repeated for ever, or pass as
// good.
bool Core::unchanged(Fragment& fragment, std::uint32_t rail) {
  if (!fragment.summed || (fragment.transmissions == 0 && fragment.algorithm == rails_[rail].checksum)) return true;
  if (fragment.vfrag->message->kind == wire::MessageKind::rma_read_answer) {
    fragment.summed = false;  // of memory that is not ours: it may change
    return true;
  }
  return checksum_of(fragment, fragment.algorithm) == fragment.checksum;
}

// A long message waits for its receiver: meanwhile the sums of its first VFRAG can be made (NewMadeleine, section 5.3),
// one fragment a call. They would be made in any case, so that nothing is lost by it but where the receive is shorter.
bool Core::sum_ahead() {
  OutMessage* message = asking_.first();
  if (message == nullptr) return false;
  Vfrag& vfrag = message->current != nullptr ? *message->current : *make_vfrag(*message);
  std::size_t next = 0;
  while (next < vfrag.count && vfrag.fragment(next).summed) ++next;
  if (next < vfrag.count) make_sum(vfrag.fragment(next), rails_.front().checksum);
  if (next + 1 >= vfrag.count) stop_summing(*message);
  return true;
}

void Core::stop_summing(OutMessage& message) {
  if (message.stage == OutMessage::Stage::asking && AskingList::linked(&message)) asking_.remove(&message);
}

}  // namespace holdfast::transport
