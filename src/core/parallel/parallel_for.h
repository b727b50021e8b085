#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace holdfast::parallel {

/// How many threads to use: `asked`, or what the machine has when that is 0.
inline unsigned thread_count(unsigned asked) {
  return asked != 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

/// Calls work(worker, begin, end) for consecutive pieces of [0, count) of at most `grain`, from `threads` threads at
/// once (0: as many as the machine has); `worker` numbers the calling thread from 0. Which worker gets which piece is
/// not fixed: results must not depend on it. The first exception of a worker is thrown here once all have ended.
template <class Work>
void parallel_for(std::size_t count, std::size_t grain, unsigned threads, const Work& work) {
  const std::size_t pieces = (count + grain - 1) / grain;
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(thread_count(threads), pieces));
  if (workers <= 1) {
    if (count != 0) work(0U, std::size_t{0}, count);
    return;
  }
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failing;
  const auto run = [&](unsigned worker) {
    try {
      for (std::size_t piece = next++; piece < pieces; piece = next++) {
        work(worker, piece * grain, std::min(count, (piece + 1) * grain));
      }
    } catch (...) {
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::jthread> others;
  try {
    for (unsigned worker = 1; worker < workers; ++worker) others.emplace_back(run, worker);
  } catch (const std::system_error&) {
    // The system gives no more: those that there are do the work.
  }
  run(0);
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace holdfast::parallel
