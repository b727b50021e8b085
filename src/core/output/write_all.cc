#include "core/output/write_all.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "core/output/size_signal.h"

namespace holdfast::output {

int write_all(int to, std::string_view text) {
  const NoSizeSignal quiet;
  while (!text.empty()) {
    const ssize_t put = ::write(to, text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN) {  // whoever shares the terminal or pipe has set O_NONBLOCK
      pollfd room{to, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace holdfast::output
