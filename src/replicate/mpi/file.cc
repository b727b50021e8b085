#include "replicate/mpi/file.h"

#include <climits>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "replicate/mpi/collective.h"
#include "replicate/mpi/handle.h"

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

namespace {

struct CommonFiles {
  std::mutex mutex;
  std::set<std::string> paths;
};

CommonFiles& common_files() {
  static auto* files = new CommonFiles();  // lives until the process ends
  return *files;
}

}  // namespace

void note_common_file(const char* path) {
  char whole[PATH_MAX];
  if (::realpath(path, whole) == nullptr) return;
  const std::lock_guard lock(common_files().mutex);
  common_files().paths.insert(whole);
}

bool forget_common_file(const std::string& path) {
  const std::lock_guard lock(common_files().mutex);
  return common_files().paths.erase(path) > 0;
}

}  // namespace holdfast::replicate
