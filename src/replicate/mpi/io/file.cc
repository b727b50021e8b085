#include "replicate/mpi/io/file.h"

#include <utility>

#include "replicate/engine/mix.h"
#include "replicate/mpi/collective/collective.h"
#include "replicate/mpi/intercept/handle.h"

namespace holdfast::replicate {

File& Files::add(MPI_File handle, std::uint64_t id, int amode) {
  auto& file = files_[handle_key(handle)];
  file = std::make_unique<File>();
  file->handle = handle;
  file->id = id;
  file->amode = amode;
  return *file;
}

File* Files::find(MPI_File handle) {
  if (handle == MPI_FILE_NULL) return nullptr;
  const auto found = files_.find(handle_key(handle));
  return found == files_.end() ? nullptr : found->second.get();
}

void Files::remove(MPI_File handle) {
  files_.erase(handle_key(handle));
}

Files& files() {
  static auto* all = new Files();
  return *all;
}

Comparison File::at(Function function, MPI_Offset offset, std::uint64_t bytes) {
  if (!many_threads()) return next();
  const std::uint64_t name =
      mix(mix(mix(id, static_cast<std::uint64_t>(function)), static_cast<std::uint64_t>(offset)), bytes);
  return {name, accesses[name]++, static_cast<std::uint64_t>(offset)};
}

void arrive(Function function, File& file) {
  compare_in_team(function, file.next(), {});
}

void take_leaders(std::span<std::byte> own) {
  constexpr std::uint64_t mark = 0x616e73776572;
  static std::uint64_t taken = 0;
  std::vector<Region> regions;
  if (!own.empty()) regions.push_back(Region::borrow(own.data(), own.size(), MPI_BYTE));
  copy_from_leader(Function{}, {mix(1, mark), taken++}, std::move(regions));
}

void take_leaders(std::string& own) {
  std::uint64_t length = own.size();
  take_leaders(std::as_writable_bytes(std::span(&length, 1)));
  own.resize(length);
  take_leaders(std::as_writable_bytes(std::span(own)));
}

}  // namespace holdfast::replicate
