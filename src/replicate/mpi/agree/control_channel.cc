#include "replicate/mpi/agree/control_channel.h"

#include <dlfcn.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "functions.h"
#include "real_functions.h"
#include "replicate/mpi/context/evidence.h"
#include "replicate/mpi/context/runtime.h"

namespace holdfast::replicate {

namespace {
constexpr int record_tag = 0;

/// Any number of bytes as a (count, datatype) pair, whose count is an int.
class ByteRun {
 public:
  explicit ByteRun(std::size_t bytes) {
    if (bytes <= INT_MAX) {
      count = static_cast<int>(bytes);
      return;
    }
    constexpr std::size_t block_bytes = std::size_t{1} << 20;
    MPI_Datatype block = MPI_DATATYPE_NULL;
    real().Type_contiguous(block_bytes, MPI_BYTE, &block);
    const int lengths[] = {static_cast<int>(bytes / block_bytes), static_cast<int>(bytes % block_bytes)};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes - bytes % block_bytes)};
    const MPI_Datatype types[] = {block, MPI_BYTE};
    real().Type_create_struct(2, lengths, places, types, &type);
    real().Type_commit(&type);
    real().Type_free(&block);
    count = 1;
  }
  ~ByteRun() {  // requests that use it keep it alive (MPI 3.1, 4.1.9)
    if (type != MPI_BYTE) real().Type_free(&type);
  }
  ByteRun(const ByteRun&) = delete;
  ByteRun& operator=(const ByteRun&) = delete;

  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

/// ULFM (MPIX_ERR_PROC_FAILED_PENDING): once a process has failed, receives from anybody rest until its failure has
/// been acknowledged. Nothing where MPI has no ULFM, or has it turned off.
void acknowledge_failures(MPI_Comm comm) {
  const auto acknowledge = reinterpret_cast<int (*)(MPI_Comm)>(dlsym(RTLD_DEFAULT, "PMPIX_Comm_failure_ack"));
  if (acknowledge) acknowledge(comm);
}
}  // namespace

void MpiControlChannel::open(MPI_Comm records, MPI_Comm payloads, const ReplicaMap& map, Process self,
                             Injector& injector, bool shared) {
  records_ = records;
  payloads_ = payloads;
  map_ = &map;
  injector_ = &injector;
  reader_.emplace(map, self, function_count);
  seals_.resize(static_cast<std::size_t>(map.physical_ranks()));
  ring_.resize(ring_size);
  posted_.assign(ring_size, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < ring_size; ++i) repost(i);
  if (shared) host_ = HostRecords::open(records);
}

void MpiControlChannel::repost(std::size_t index) {
  real().Irecv(&ring_[index], sizeof(Slot), MPI_BYTE, MPI_ANY_SOURCE, record_tag, records_, &posted_[index]);
}

void MpiControlChannel::close() {
  for (Outgoing& out : outgoing_) real().Wait(&out.request, MPI_STATUS_IGNORE);
  outgoing_.clear();
  for (std::size_t i = 0; i < posted_.size(); ++i) {
    if (posted_[i] == MPI_REQUEST_NULL) continue;
    real().Cancel(&posted_[i]);
    real().Wait(&posted_[i], MPI_STATUS_IGNORE);
  }
  posted_.clear();
  ring_.clear();
  host_.reset();
  real().Comm_free(&records_);
  real().Comm_free(&payloads_);
}

void MpiControlChannel::abandon() {
  for (Outgoing& out : outgoing_) never_sent_.push_back(std::move(out));
  outgoing_.clear();
}

void MpiControlChannel::forget(int physical) {
  if (forgotten_.size() <= static_cast<std::size_t>(physical))
    forgotten_.resize(static_cast<std::size_t>(physical) + 1);
  forgotten_[static_cast<std::size_t>(physical)] = 1;
  for (std::size_t i = outgoing_.size(); i-- > 0;) {
    if (outgoing_[i].physical != physical) continue;
    never_sent_.push_back(std::move(outgoing_[i]));
    outgoing_.erase(outgoing_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void MpiControlChannel::send(int physical, const Record& record, std::span<const std::byte> tail) {
  if (forgotten(physical)) return;
  if (!spare_) spare_ = std::make_unique<Slot>();
  spare_->record = record;
  if (!tail.empty()) std::memcpy(spare_->tail.data(), tail.data(), tail.size());
  seals_[static_cast<std::size_t>(physical)].seal(spare_->record, tail);
  const std::size_t bytes = sizeof(Record) + tail.size();
  inject({reinterpret_cast<std::byte*>(spare_.get()), bytes}, physical);
  if (host_ && host_->reaches(physical)) {
    if (host_->put(physical, {reinterpret_cast<const std::byte*>(spare_.get()), bytes})) return;
    host_->detour(physical);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  real().Isend(spare_.get(), static_cast<int>(bytes), MPI_BYTE, physical, record_tag, records_, &request);
  int done = 0;
  real().Test(&request, &done, MPI_STATUS_IGNORE);
  if (!done) outgoing_.push_back({physical, request, std::move(spare_), nullptr});
}

void MpiControlChannel::inject(std::span<std::byte> message, int physical) {
  if (injector_->none()) return;
  for (const Injector::Strike& strike : injector_->control(map_->virtual_rank(physical), message.size() * 8)) {
    message[strike.bit / 8] ^= static_cast<std::byte>(1U << (strike.bit % 8));
    note_struck(strike.fault);
    ++runtime().counters[Count::injected];
  }
}

bool MpiControlChannel::came_by_mpi() {
  if (head_taken_) {  // the message handed out last may be overwritten only now
    repost(head_);
    head_ = (head_ + 1) % ring_size;
    head_taken_ = false;
  }
  int done = 0;
  const int code = real().Test(&posted_[head_], &done, &head_status_);
  if (!done && code != MPI_SUCCESS) acknowledge_failures(records_);
  return done != 0;
}

std::optional<Flaw> MpiControlChannel::take(ControlMessage& message) {
  const auto from_host = [&]() -> std::optional<Flaw> {
    const auto arrived = host_ ? host_->next() : std::nullopt;
    if (!arrived) return std::nullopt;
    return reader_->read(process_of(arrived->physical), arrived->bytes, message);
  };
  if (const auto flaw = from_host()) return flaw;
  if (!head_came_) {
    head_came_ = came_by_mpi();
    if (!head_came_) return std::nullopt;
    if (const auto flaw = from_host()) return flaw;  // what its sender had put there before it, first
  }
  head_came_ = false;
  head_taken_ = true;
  const int source = head_status_.MPI_SOURCE;
  if (host_ && host_->reaches(source)) host_->take_detour(source);
  int bytes = 0;
  real().Get_count(&head_status_, MPI_BYTE, &bytes);
  const auto length = static_cast<std::size_t>(std::max(bytes, 0));
  return reader_->read(process_of(source), {reinterpret_cast<std::byte*>(&ring_[head_]), length}, message);
}

int MpiControlChannel::send_payload(int physical, std::shared_ptr<const std::vector<std::byte>> bytes) {
  const int tag = static_cast<int>(next_tag_++ % tag_range);
  if (forgotten(physical)) return tag;
  MPI_Request request = MPI_REQUEST_NULL;
  const ByteRun run(bytes->size());
  real().Isend(bytes->data(), run.count, run.type, physical, tag, payloads_, &request);
  outgoing_.push_back({physical, request, nullptr, std::move(bytes)});
  return tag;
}

MPI_Request MpiControlChannel::receive_payload(int physical, int tag, std::span<std::byte> into) {
  MPI_Request request = MPI_REQUEST_NULL;
  const ByteRun run(into.size());
  real().Irecv(into.data(), run.count, run.type, physical, tag, payloads_, &request);
  return request;
}

void MpiControlChannel::receive_copy(int physical, int tag, std::shared_ptr<std::vector<std::byte>> into,
                                     std::uint64_t token) {
  const MPI_Request request = receive_payload(physical, tag, *into);
  incoming_.push_back({token, map_->replica(physical), request, std::move(into)});
}

std::optional<std::uint64_t> MpiControlChannel::take_copy(std::size_t index) {
  int done = 0;
  real().Test(&incoming_[index].request, &done, MPI_STATUS_IGNORE);
  if (!done) return std::nullopt;
  const std::uint64_t token = incoming_[index].token;
  incoming_.erase(incoming_.begin() + static_cast<std::ptrdiff_t>(index));
  return token;
}

void MpiControlChannel::forget_copies_from(int replica) {
  for (std::size_t i = incoming_.size(); i-- > 0;) {
    if (incoming_[i].from_replica != replica) continue;
    never_to_come_.push_back(std::move(incoming_[i]));
    incoming_.erase(incoming_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void MpiControlChannel::tidy() {
  while (!outgoing_.empty()) {
    int done = 0;
    real().Test(&outgoing_.front().request, &done, MPI_STATUS_IGNORE);
    if (!done) return;
    if (outgoing_.front().slot && !spare_) spare_ = std::move(outgoing_.front().slot);
    outgoing_.pop_front();
  }
}

}  // namespace holdfast::replicate
