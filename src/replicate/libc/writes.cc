#include "replicate/libc/writes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/integrity/digest.h"
#include "core/integrity/digester.h"
#include "replicate/engine/file_patterns.h"
#include "replicate/libc/descriptors.h"
#include "replicate/libc/files.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/io/written.h"
#include "replicate/process/own_memory.h"
#include "replicate/process/streams.h"

namespace holdfast::replicate {

namespace {

/// What is written through one opening, whichever descriptors lead there.
struct Writing {
  int stream = 0;  ///< 1, 2: standard output, standard error; 0: a file
  int descriptors = 0;
  std::string name;
  WrittenStretch stretch;
  std::uint64_t bytes = 0;           ///< of the present stretch
  std::atomic<bool> followed{true};  ///< false: another thread has written to it
  integrity::Digester digester{integrity::Algorithm::xxh3_128};
};

std::array<std::atomic<Writing*>, most_descriptors> writings;  // changed by the recording thread; emptied by any

/// The thread is at work on a Writing: what a signal handler writes meanwhile is not followed.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool busy = false;

Writing* writing_at(int descriptor) {
  if (static_cast<unsigned>(descriptor) >= most_descriptors) return nullptr;
  return writings[static_cast<std::size_t>(descriptor)].load(std::memory_order_relaxed);
}

std::uint64_t digest_of(const std::string& name) {
  return integrity::digest(integrity::Algorithm::xxh3_64, std::as_bytes(std::span(name.data(), name.size()))).low;
}

/// Used again once closed, never freed: another thread may be looking.
std::deque<Writing>& all_writings() {
  static auto* all = new std::deque<Writing>();
  return *all;
}
std::vector<Writing*>& free_writings() {
  static auto* list = new std::vector<Writing*>();
  return *list;
}

Writing* new_writing() {
  if (free_writings().empty()) return &all_writings().emplace_back();
  Writing* const writing = free_writings().back();
  free_writings().pop_back();
  return writing;
}

void tell_stretch(Writing& writing) {
  say_written(writing.stretch, {writing.digester.finish(), writing.bytes, true}, writing.name);
  ++writing.stretch.number;
  writing.bytes = 0;
  writing.digester.init(integrity::Algorithm::xxh3_128);
}

void add_to_stretch(Writing& writing, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min<std::size_t>(bytes.size(), written_stretch_bytes - writing.bytes));
    writing.digester.update(part);
    writing.bytes += part.size();
    bytes = bytes.subspan(part.size());
    if (writing.bytes == written_stretch_bytes) tell_stretch(writing);
  }
}

/// The first `length` bytes of what was to be written have been.
void follow(Writing& writing, std::span<const iovec> pieces, std::size_t length) {
  if (!writing.followed.load(std::memory_order_relaxed)) return;
  if (!recording_thread() || busy) {
    writing.followed.store(false, std::memory_order_relaxed);
    return;
  }
  const Depth inside;
  busy = true;
  for (const iovec& piece : pieces) {
    const std::size_t part = std::min(length, piece.iov_len);
    add_to_stretch(writing, {static_cast<const std::byte*>(piece.iov_base), part});
    length -= part;
  }
  busy = false;
}

/// A record of what a stream has shown.
void copy_to_record(int stream, std::span<const iovec> pieces, std::size_t length) {
  std::vector<iovec> shown;
  for (const iovec& piece : pieces) {
    shown.push_back({piece.iov_base, std::min(length, piece.iov_len)});
    length -= shown.back().iov_len;
  }
  (void)record(stream, shown);
}

/// A write of the program's, which `real` does.
template <class Real>
ssize_t write_as_program(Writing& writing, int descriptor, std::span<const iovec> pieces, Real real) {
  if (writing.stream != 0) {
    if (!is_stream(descriptor, writing.stream)) return real();
    if (recorded_only(writing.stream)) return record(writing.stream, pieces);
  }
  const ssize_t done = real();
  if (done <= 0) return done;
  const int before = errno;
  if (writing.stream != 0)
    copy_to_record(writing.stream, pieces, static_cast<std::size_t>(done));
  else
    follow(writing, pieces, static_cast<std::size_t>(done));
  errno = before;
  return done;
}

template <class Real>
ssize_t write_pieces(int descriptor, const iovec* pieces, int count, Real real) {
  const Answering answering;
  Writing* const writing = depth > 0 || count <= 0 ? nullptr : writing_at(descriptor);
  if (!writing || !recording()) return real();
  return write_as_program(*writing, descriptor, {pieces, static_cast<std::size_t>(count)}, real);
}

template <class Real>
ssize_t write_bytes(int descriptor, const void* bytes, std::size_t length, Real real) {
  const iovec whole{const_cast<void*>(bytes), length};
  return write_pieces(descriptor, &whole, 1, real);
}

/// Another descriptor for the same.
void share(int from, int to) {
  forget_descriptor(to);
  name_descriptor_like(from, to);
  Writing* const writing = writing_at(from);
  if (!writing || depth > 0 || !recording_thread() || static_cast<unsigned>(to) >= most_descriptors) return;
  ++writing->descriptors;
  writings[static_cast<std::size_t>(to)] = writing;
}

/// The descriptor that a path is another name of; -1: none.
int descriptor_named(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    int number = -1;
    if (!path.starts_with(folder)) continue;
    const char* const end = path.data() + path.size();
    const std::from_chars_result read = std::from_chars(path.data() + folder.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end) return number;
  }
  return -1;
}

/// fcntl(2); its third argument is a number or a pointer, or left out.
using Control = int (*)(int, int, ...);

int control(Control real, int descriptor, int command, void* argument) {
  const int done = real(descriptor, command, argument);
  if (done >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC)) share(descriptor, done);
  return done;
}

/// The program has closed it: the last stretch is told.
void closed(int descriptor) {
  Writing* const writing = writing_at(descriptor);
  if (!writing) return;
  writings[static_cast<std::size_t>(descriptor)] = nullptr;
  if (!recording_thread() || --writing->descriptors > 0 || writing->stream != 0) return;
  const Depth inside;
  if (writing->followed.load(std::memory_order_relaxed) && writing->bytes > 0) tell_stretch(*writing);
  free_writings().push_back(writing);
}

void closing(int descriptor) {
  const Answering answering;
  forget_name(descriptor);
  if (!writing_at(descriptor)) return;
  const int before = errno;
  if (depth > 0 || !recording())
    forget_descriptor(descriptor);
  else
    closed(descriptor);
  errno = before;
}

void start_streams() {
  for (const int number : {STDOUT_FILENO, STDERR_FILENO}) {
    Writing* const writing = new_writing();
    writing->stream = number;
    writing->descriptors = 1;
    writings[static_cast<std::size_t>(number)] = writing;
  }
}

// The C library's streams.

using StreamWrite = ssize_t (*)(FILE*, const void*, ssize_t);
using StreamClose = int (*)(FILE*);
StreamWrite real_stream_write = nullptr;
StreamClose real_stream_close = nullptr;

ssize_t write_of_program(FILE* stream, const void* bytes, ssize_t length) {
  return write_bytes(stream->_fileno, bytes, static_cast<std::size_t>(length),
                     [&] { return real_stream_write(stream, bytes, length); });
}

/// What the program had printed before it called MPI, which flushes it now.
ssize_t write_inside(FILE* stream, const void* bytes, ssize_t length) {
  const ssize_t own = stream == recorded_printing ? std::min<ssize_t>(length, unwritten) : 0;
  if (own <= 0) return real_stream_write(stream, bytes, length);
  const int before = depth;
  depth = 0;
  const ssize_t done = write_of_program(stream, bytes, own);
  depth = before;
  unwritten = 0;  // what comes next was printed inside MPI
  if (done < own || own == length) return done;
  const ssize_t rest = real_stream_write(stream, static_cast<const char*>(bytes) + own, length - own);
  return rest < 0 ? done : done + rest;
}

ssize_t stream_write(FILE* stream, const void* bytes, ssize_t length) {
  const Answering answering;
  return depth > 0 ? write_inside(stream, bytes, length) : write_of_program(stream, bytes, length);
}

int stream_close(FILE* stream) {
  const Answering answering;
  closing(stream->_fileno);
  return real_stream_close(stream);
}

/// Puts `ours` in the place of `theirs` in one of the C library's tables of stream functions, which is not to be
/// written to after a program's start. False where it is not there.
bool replace(void** table, void* theirs, void* ours) {
  constexpr std::size_t functions = 21;  // struct _IO_jump_t of glibc 2.1 and later
  void** const end = table + functions;
  void** const place = std::find(table, end, theirs);
  if (place == end) return false;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  void* const start = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(place) / page * page);
  if (::mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return false;
  std::atomic_ref<void*>(*place).store(ours);
  return ::mprotect(start, page, PROT_READ) == 0;
}

bool take_over_streams() {
  void* const write = ::dlsym(RTLD_DEFAULT, "_IO_file_write");
  void* const close = ::dlsym(RTLD_DEFAULT, "_IO_file_close");
  if (!write || !close) return false;
  real_stream_write = reinterpret_cast<StreamWrite>(write);
  real_stream_close = reinterpret_cast<StreamClose>(close);
  for (const char* name : {"_IO_file_jumps", "_IO_wfile_jumps"}) {
    auto* const table = static_cast<void**>(::dlsym(RTLD_DEFAULT, name));
    if (!table || !replace(table, write, reinterpret_cast<void*>(stream_write)) ||
        !replace(table, close, reinterpret_cast<void*>(stream_close)))
      return false;
  }
  return true;
}

}  // namespace

void watch_writes() {
  const Depth inside;
  if (!to_be_recorded()) return;
  if (::write(-1, "", 0) < 0) (void)::close(-1);  // they are looked up now, because signal handlers call them
  (void)::fcntl(-1, F_GETFD);
  start_streams();
  if (!take_over_streams() && launched_rank() == 0)
    say("this C library keeps its streams in another way than glibc: what is printed through them is not compared");
}

void opened(int descriptor, const std::string& name, bool to_write) {
  forget_descriptor(descriptor);
  if (recording_thread()) name_descriptor(descriptor, name);
  if (!to_write || !recording() || !recording_thread() || busy || static_cast<unsigned>(descriptor) >= most_descriptors)
    return;
  const Depth inside;
  static auto* openings = new std::unordered_map<std::uint64_t, std::uint64_t>();
  const std::string normal = normal_path(name);
  const std::uint64_t path = digest_of(normal);
  const std::uint64_t opening = (*openings)[path]++;
  if (fits_a_pattern(normal, files_that_may_differ())) return;
  Writing* const writing = new_writing();
  writing->stream = 0;
  writing->descriptors = 1;
  writing->name = normal;
  writing->stretch = {path, opening, 0};
  writing->bytes = 0;
  writing->followed = true;
  writing->digester.init(integrity::Algorithm::xxh3_128);
  writings[static_cast<std::size_t>(descriptor)] = writing;
}

int copy_of_stream(const char* path, int flags) {
  const int named = depth > 0 || !path || (flags & O_ACCMODE) != O_WRONLY ? -1 : descriptor_named(path);
  const Writing* const writing = named < 0 ? nullptr : writing_at(named);
  const bool recorded = writing && writing->stream != 0 && is_stream(named, writing->stream);
  if (named < 0 || (!recorded && !is_placed_stream(named))) return -1;
  return ::fcntl(named, (flags & O_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
}

void forget_descriptor(int descriptor) {
  forget_name(descriptor);
  Writing* const writing = writing_at(descriptor);
  if (!writing) return;
  writings[static_cast<std::size_t>(descriptor)] = nullptr;
  if (recording_thread() && --writing->descriptors == 0 && writing->stream == 0) free_writings().push_back(writing);
}

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {
// What vsnprintf() and vasprintf() are with _FORTIFY_SOURCE; `flag` above zero: %n is refused in memory that can
// change.
int __vsnprintf_chk(char* text, size_t most, int flag, size_t room, const char* format, va_list arguments);
int __vasprintf_chk(char** text, int flag, const char* format, va_list arguments);
}

namespace {

int write_all(int descriptor, const char* text, int length) {
  for (int done = 0; done < length;) {
    const ssize_t more = ::write(descriptor, text + done, static_cast<std::size_t>(length - done));
    if (more < 0) return -1;
    done += static_cast<int>(more);
  }
  return length;
}

/// dprintf() by the write() above: since glibc 2.37 its own calls the system by itself, past the table of functions.
int print_to(int descriptor, int flag, const char* format, va_list arguments) {
  const hr::Answering answering;
  char small[1024];
  va_list again;
  va_copy(again, arguments);
  const int length = __vsnprintf_chk(small, sizeof small, flag, sizeof small, format, again);
  va_end(again);
  if (length < static_cast<int>(sizeof small)) return length < 0 ? -1 : write_all(descriptor, small, length);
  char* large = nullptr;
  if (__vasprintf_chk(&large, flag, format, arguments) < 0) return -1;
  const int written = write_all(descriptor, large, length);
  const int error = errno;
  std::free(large);
  errno = error;
  return written;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int vdprintf(int descriptor, const char* format, va_list arguments) {
  return print_to(descriptor, 0, format, arguments);
}
[[gnu::visibility("default")]] int __vdprintf_chk(int descriptor, int flag, const char* format, va_list arguments) {
  return print_to(descriptor, flag, format, arguments);
}
[[gnu::visibility("default")]] int dprintf(int descriptor, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = print_to(descriptor, 0, format, arguments);
  va_end(arguments);
  return written;
}
[[gnu::visibility("default")]] int __dprintf_chk(int descriptor, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = print_to(descriptor, flag, format, arguments);
  va_end(arguments);
  return written;
}

[[gnu::visibility("default")]] ssize_t write(int descriptor, const void* bytes, size_t length) {
  static const auto real = hr::next_function<ssize_t (*)(int, const void*, size_t)>("write");
  return hr::write_bytes(descriptor, bytes, length, [&] { return real(descriptor, bytes, length); });
}
[[gnu::visibility("default")]] ssize_t writev(int descriptor, const iovec* pieces, int count) {
  static const auto real = hr::next_function<ssize_t (*)(int, const iovec*, int)>("writev");
  return hr::write_pieces(descriptor, pieces, count, [&] { return real(descriptor, pieces, count); });
}
[[gnu::visibility("default")]] ssize_t pwrite(int descriptor, const void* bytes, size_t length, off_t at) {
  static const auto real = hr::next_function<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return hr::write_bytes(descriptor, bytes, length, [&] { return real(descriptor, bytes, length, at); });
}
[[gnu::visibility("default")]] ssize_t pwrite64(int descriptor, const void* bytes, size_t length, off64_t at) {
  static const auto real = hr::next_function<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  return hr::write_bytes(descriptor, bytes, length, [&] { return real(descriptor, bytes, length, at); });
}
[[gnu::visibility("default")]] ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t at) {
  static const auto real = hr::next_function<ssize_t (*)(int, const iovec*, int, off_t)>("pwritev");
  return hr::write_pieces(descriptor, pieces, count, [&] { return real(descriptor, pieces, count, at); });
}
[[gnu::visibility("default")]] ssize_t pwritev64(int descriptor, const iovec* pieces, int count, off64_t at) {
  static const auto real = hr::next_function<ssize_t (*)(int, const iovec*, int, off64_t)>("pwritev64");
  return hr::write_pieces(descriptor, pieces, count, [&] { return real(descriptor, pieces, count, at); });
}

[[gnu::visibility("default")]] int close(int descriptor) {
  static const auto real = hr::next_function<int (*)(int)>("close");
  if (hr::depth == 0 && hr::holds_record(descriptor)) return 0;
  hr::closing(descriptor);
  return real(descriptor);
}

[[gnu::visibility("default")]] int dup(int descriptor) noexcept {
  static const auto real = hr::next_function<int (*)(int)>("dup");
  const int made = real(descriptor);
  if (made >= 0) hr::share(descriptor, made);
  return made;
}
[[gnu::visibility("default")]] int dup2(int from, int to) noexcept {
  static const auto real = hr::next_function<int (*)(int, int)>("dup2");
  if (from != to) hr::closing(to);
  const int made = real(from, to);
  if (made >= 0 && from != to) hr::share(from, to);
  return made;
}
[[gnu::visibility("default")]] int dup3(int from, int to, int flags) noexcept {
  static const auto real = hr::next_function<int (*)(int, int, int)>("dup3");
  hr::closing(to);
  const int made = real(from, to, flags);
  if (made >= 0) hr::share(from, to);
  return made;
}

#define HOLDFAST_CONTROL(function)                                                \
  [[gnu::visibility("default")]] int function(int descriptor, int command, ...) { \
    static const auto real = hr::next_function<hr::Control>(#function);           \
    va_list arguments;                                                            \
    va_start(arguments, command);                                                 \
    void* const argument = va_arg(arguments, void*);                              \
    va_end(arguments);                                                            \
    return hr::control(real, descriptor, command, argument);                      \
  }
HOLDFAST_CONTROL(fcntl)
HOLDFAST_CONTROL(fcntl64)
#undef HOLDFAST_CONTROL

}  // extern "C"
