// Random numbers of the operating system: one stream for all replicas of a rank, so that a seed or a choice made with
// them is the same in each. It is drawn from the job's entropy (HOLDFAST_RUN_ENTROPY), which `holdfast run` made, and
// the rank: replicas need no message to agree, before MPI_Init and after it. Not fit for keys: Philox is no cipher.
#include "replicate/libc/random.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "core/random/stream.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/program.h"
#include "replicate/process/streams.h"

namespace holdfast::replicate {

namespace {

std::optional<random::Stream> open_stream() {
  const char* entropy = std::getenv("HOLDFAST_RUN_ENTROPY");
  const std::optional<Place> place = launched_place();
  if (!entropy || !place) return std::nullopt;
  return random::Stream(std::strtoull(entropy, nullptr, 10))
      .child("entropy")
      .child(static_cast<std::uint64_t>(place->rank));
}

void fill(random::Stream& from, void* into, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(into);
  for (std::size_t at = 0; at < bytes; at += 8) {
    const std::uint64_t word = from.next64();
    std::memcpy(to + at, &word, bytes - at < 8 ? bytes - at : 8);
  }
}

/// The team's stream; none where this caller gets the operating system's own numbers.
random::Stream* team_stream() {
  if (!program_asks()) return nullptr;
  const Depth inside;
  static std::optional<random::Stream> stream = open_stream();  // of the first thread alone
  return stream ? &*stream : nullptr;
}

/// Fills the memory from the team's stream; false where there is none for this caller.
bool draw(void* into, std::size_t bytes) {
  random::Stream* const stream = team_stream();
  if (stream) fill(*stream, into, bytes);
  return stream != nullptr;
}

constexpr std::string_view uuid_file = "/proc/sys/kernel/random/uuid";

bool random_device(std::string_view path, int flags) {
  if (path != "/dev/urandom" && path != "/dev/random" && path != uuid_file) return false;
  return (flags & (O_ACCMODE | O_PATH)) == O_RDONLY;
}

/// In the kernel's spelling, with the line's end.
std::string make_uuid(random::Stream& from) {
  std::array<std::uint8_t, 16> bytes{};
  fill(from, bytes.data(), bytes.size());
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0fU) | 0x40U);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3fU) | 0x80U);
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    constexpr char digits[] = "0123456789abcdef";
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += {digits[bytes[i] >> 4U], digits[bytes[i] & 15U]};
  }
  return text + "\n";
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

std::optional<int> open_random_device(const char* path, int flags) {
  if (!path || !random_device(path, flags)) return std::nullopt;
  random::Stream* const team = team_stream();
  if (!team) return std::nullopt;
  const Depth inside;
  random::Stream numbers = team->child("device").child(team->next64());
  std::string bytes(random_device_bytes, '\0');
  if (path == uuid_file) {
    bytes = make_uuid(numbers);
  } else {
    fill(numbers, bytes.data(), bytes.size());
  }
  const int file = ::memfd_create("random", (flags & O_CLOEXEC) ? MFD_CLOEXEC : 0U);
  if (file < 0) return file;
  if (::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
      ::lseek(file, 0, SEEK_SET) == 0)
    return file;
  ::close(file);
  errno = ENOMEM;
  return -1;
}

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] ssize_t getrandom(void* buffer, std::size_t length, unsigned flags) {
  if (hr::draw(buffer, length)) return static_cast<ssize_t>(length);
  static const auto function = hr::next<ssize_t (*)(void*, std::size_t, unsigned)>("getrandom");
  return function(buffer, length, flags);
}

[[gnu::visibility("default")]] int getentropy(void* buffer, std::size_t length) {
  if (length <= 256 && hr::draw(buffer, length)) return 0;
  static const auto function = hr::next<int (*)(void*, std::size_t)>("getentropy");
  return function(buffer, length);
}

[[gnu::visibility("default")]] std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  if (hr::draw(&value, sizeof(value))) return value;
  static const auto function = hr::next<std::uint32_t (*)()>("arc4random");
  return function ? function() : 0;
}

[[gnu::visibility("default")]] void arc4random_buf(void* buffer, std::size_t length) noexcept {
  if (hr::draw(buffer, length)) return;
  static const auto function = hr::next<void (*)(void*, std::size_t)>("arc4random_buf");
  if (function) function(buffer, length);
}

/// Each number below the bound as likely: those drawn from an incomplete last run of it are drawn again.
[[gnu::visibility("default")]] std::uint32_t arc4random_uniform(std::uint32_t bound) noexcept {
  if (bound < 2) return 0;
  const std::uint32_t incomplete = -bound % bound;
  std::uint32_t value = arc4random();
  while (value < incomplete) value = arc4random();
  return value % bound;
}

/// std::random_device::operator(), which otherwise asks the processor itself.
[[gnu::visibility("default")]] unsigned random_device_value(void* device) __asm__("_ZNSt13random_device9_M_getvalEv");
unsigned random_device_value(void* device) {
  unsigned value = 0;
  if (hr::draw(&value, sizeof(value))) return value;
  static const auto function = hr::next<unsigned (*)(void*)>("_ZNSt13random_device9_M_getvalEv");
  return function(device);
}

}  // extern "C"
