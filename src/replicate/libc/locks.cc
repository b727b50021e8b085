// Locks of files that the replicas share: those from before the job, which a rank locks though it may only read them.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "replicate/libc/descriptors.h"
#include "replicate/libc/files.h"

namespace holdfast::replicate {

namespace {

/// Another file takes its place behind the descriptor, which reads on from where it was.
bool put_behind(int descriptor, const std::string& path) {
  const int copy = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (copy < 0) return false;
  (void)::lseek(copy, ::lseek(descriptor, 0, SEEK_CUR), SEEK_SET);
  const int flags = ::fcntl(descriptor, F_GETFD);
  const bool done = ::dup3(copy, descriptor, (flags & FD_CLOEXEC) ? O_CLOEXEC : 0) >= 0;
  ::close(copy);
  return done;
}

/// The leader's ranks lock the file itself, for programs outside the job; the others' a copy, for each other.
void lock_own_copy(int descriptor) {
  const FileView& view = file_view();
  const std::string* const name = name_of_descriptor(descriptor);
  struct stat status {};
  std::string resolved;
  if (!name || view.leader() || ::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (view.resolve(*name, true, resolved) != 0 || shared_by_all(resolved)) return;
  const FilePlace::Layer layer = view.find(resolved).layer;
  if (layer != FilePlace::Layer::real && layer != FilePlace::Layer::kept) return;
  std::string copy;
  if (view.copy_to_lock(resolved, copy) == 0) (void)put_behind(descriptor, copy);
}

}  // namespace

}  // namespace holdfast::replicate

extern "C" [[gnu::visibility("default")]] int flock(int descriptor, int operation) noexcept {
  namespace hr = holdfast::replicate;
  static const auto real = hr::next_function<int (*)(int, int)>("flock");
  if ((operation & LOCK_EX) && hr::programs_own_call()) {
    const int before = errno;
    const hr::Inside inside;
    hr::lock_own_copy(descriptor);
    errno = before;
  }
  return real(descriptor, operation);
}
