#include "core/secret/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "core/secret/keyed_digest.h"

namespace holdfast::secret {
namespace {

constexpr std::size_t least_digits = 32;
constexpr std::size_t most_digits = 1024;

/// An open file, closed in the end.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Status refused(const std::string& path, Code code, std::string wrong, std::string remedy) {
  return {code, "reading the job's secret from " + path, std::move(wrong), std::move(remedy)};
}

std::string_view without_line_end(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

Key new_key() {
  Key key;
  for (std::size_t got = 0; got < key.size();) {
    // The system call itself: programs that repeat themselves have another function of that name.
    const long n = ::syscall(SYS_getrandom, key.data() + got, key.size() - got, 0);
    if (n > 0) got += static_cast<std::size_t>(n);
  }
  return key;
}

Result<Key> read_key(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) {
    return refused(path, errno == ENOENT ? Code::not_found : Code::io, std::strerror(errno),
                   "make it with: (umask 077; openssl rand -hex 32 > FILE)");
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return refused(path, Code::io, std::strerror(errno), "");
  if (!S_ISREG(status.st_mode)) return refused(path, Code::bad_input, "it is no regular file", "name another");
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return refused(path, Code::bad_input, "it belongs to another user", "copy it to a file of your own");
  if ((status.st_mode & 0077) != 0)
    return refused(path, Code::bad_input, "others may read or write it", "chmod 600 it, and make a new secret");
  std::string text(most_digits + 2, '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return refused(path, Code::io, std::strerror(errno), "");
  const std::string_view digits = without_line_end({text.data(), static_cast<std::size_t>(got)});
  if (digits.size() < least_digits || digits.size() > most_digits ||
      digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos)
    return refused(path, Code::bad_input, "it is no line of 32 to 1,024 hexadecimal digits",
                   "make it with: (umask 077; openssl rand -hex 32 > FILE)");
  return KeyedDigest(Key{}).text("holdfast secret file").text(digits).finish();
}

Status write_key(const std::string& path, const Key& key) {
  std::string text;
  for (const std::byte byte : key) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  text += '\n';
  const File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() >= 0 && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return {};
  return {Code::io, "writing the job's secret to " + path, std::strerror(errno), "choose another --output folder"};
}

}  // namespace holdfast::secret
