#include "replicate/mpi/agree/host_records.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "functions.h"
#include "real_functions.h"
#include "replicate/process/depth.h"
#include "replicate/process/program.h"

namespace holdfast::replicate {

namespace {

constexpr int most_processes = 1024;  ///< of a host; their rings grow as their square

/// Where the memory is to be found: the descriptor of a process, and what is in it.
struct Offer {
  std::int64_t process = -1;
  std::int64_t descriptor = -1;
  std::uint64_t mark = 0;
};

std::size_t mapped_bytes(int processes) {
  return RecordRings::bytes(processes) + sizeof(Offer::mark);
}

/// A size beyond the limit of files would end the process by SIGXFSZ.
bool may_have(std::size_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

/// Memory without a name, at its end a mark that tells it from any other.
Offer make(int processes) {
  Offer offer;
  const std::size_t bytes = mapped_bytes(processes);
  if (!may_have(bytes) || ::getrandom(&offer.mark, sizeof offer.mark, 0) != sizeof offer.mark) return offer;
  const int file = ::memfd_create("holdfast-records", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return offer;
  const auto end = static_cast<off_t>(bytes - sizeof offer.mark);
  if (::ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
      ::pwrite(file, &offer.mark, sizeof offer.mark, end) != sizeof offer.mark ||
      ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    ::close(file);
    return offer;
  }
  offer.process = real_process_id();
  offer.descriptor = file;
  return offer;
}

std::byte* map(const Offer& offer, int processes) {
  if (offer.descriptor < 0) return nullptr;
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%lld/fd/%lld", static_cast<long long>(offer.process),
                static_cast<long long>(offer.descriptor));
  const int file = ::open(path.data(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (file < 0) return nullptr;
  const std::size_t bytes = mapped_bytes(processes);
  const auto end = static_cast<off_t>(bytes - sizeof offer.mark);
  std::uint64_t mark = 0;
  void* memory = MAP_FAILED;
  if (::pread(file, &mark, sizeof mark, end) == sizeof mark && mark == offer.mark &&
      (::fcntl(file, F_GET_SEALS) & F_SEAL_SHRINK) != 0)
    memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

std::vector<int> ranks_of(MPI_Comm host, int processes, MPI_Comm world) {
  std::vector<int> ranks(static_cast<std::size_t>(processes));
  int own = 0;
  real().Comm_rank(world, &own);
  real().Allgather(&own, 1, MPI_INT, ranks.data(), 1, MPI_INT, host);
  return ranks;
}

/// The memory, if all of the host have it.
std::byte* share(MPI_Comm host, int processes, int self) {
  Offer offer;
  if (self == 0) offer = make(processes);
  real().Bcast(&offer, sizeof offer, MPI_BYTE, 0, host);
  std::byte* memory = map(offer, processes);
  int mapped = memory ? 1 : 0;
  int by_all = 0;
  real().Allreduce(&mapped, &by_all, 1, MPI_INT, MPI_MIN, host);
  if (self == 0 && offer.descriptor >= 0) ::close(static_cast<int>(offer.descriptor));
  if (memory && by_all == 0) ::munmap(memory, mapped_bytes(processes));
  return by_all == 0 ? nullptr : memory;
}

}  // namespace

std::unique_ptr<HostRecords> HostRecords::open(MPI_Comm world) {
  const Depth inside;
  MPI_Comm host = MPI_COMM_NULL;
  int processes = 0;
  int self = 0;
  int world_size = 0;
  real().Comm_size(world, &world_size);
  real().Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  real().Comm_size(host, &processes);
  real().Comm_rank(host, &self);
  std::unique_ptr<HostRecords> records;
  if (processes > 1 && processes <= most_processes) {
    std::vector<int> ranks = ranks_of(host, processes, world);
    if (std::byte* memory = share(host, processes, self))
      records.reset(new HostRecords(memory, std::move(ranks), self, world_size));
  }
  real().Comm_free(&host);
  return records;
}

HostRecords::HostRecords(std::byte* memory, std::vector<int> ranks, int self, int world_size)
    : memory_(memory),
      ranks_(std::move(ranks)),
      local_(static_cast<std::size_t>(world_size), -1),
      rings_(memory, static_cast<int>(ranks_.size()), self) {
  for (std::size_t place = 0; place < ranks_.size(); ++place)
    if (static_cast<int>(place) != self) local_[static_cast<std::size_t>(ranks_[place])] = static_cast<int>(place);
}

HostRecords::~HostRecords() {
  ::munmap(memory_, mapped_bytes(static_cast<int>(ranks_.size())));
}

std::optional<HostRecords::Arrived> HostRecords::next() {
  const auto arrived = rings_.next();
  if (!arrived) return std::nullopt;
  return Arrived{ranks_[static_cast<std::size_t>(arrived->from)], arrived->bytes};
}

}  // namespace holdfast::replicate
