#include "cli/waiting_line.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

#include "core/status/printable.h"

namespace holdfast::cli {

WaitingLine::WaitingLine(std::string doing) : doing_(std::move(doing)) {
  if (::isatty(STDERR_FILENO) == 0) return;
  try {
    drawer_ = std::thread([this] { draw(); });
  } catch (const std::system_error&) {
    // No thread to be had: the work goes on without a line.
  }
}

WaitingLine::~WaitingLine() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard hold(lock_);
    over_ = true;
  }
  ended_.notify_all();
  drawer_.join();
}

void WaitingLine::draw() {
  const auto begun = std::chrono::steady_clock::now();
  std::unique_lock hold(lock_);
  if (ended_.wait_for(hold, std::chrono::seconds(2), [this] { return over_; })) return;
  const std::string doing = printable(doing_);
  do {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    std::fprintf(stderr, "\r\033[K%s: %.0f s", doing.c_str(), seconds);
    std::fflush(stderr);
  } while (!ended_.wait_for(hold, std::chrono::milliseconds(100), [this] { return over_; }));
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace holdfast::cli
