#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace holdfast::cli {

/// A line on the terminal that says what is being done and for how long, where no share of it is known: from two
/// seconds on, ten times a second, gone at the end. Nothing where standard error is no terminal. While it is there
/// nobody else may write to standard error. Needs a thread of its own; without one it is silent.
class WaitingLine {
 public:
  explicit WaitingLine(std::string doing);
  ~WaitingLine();
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

 private:
  void draw();

  std::string doing_;
  std::mutex lock_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread drawer_;
};

}  // namespace holdfast::cli
