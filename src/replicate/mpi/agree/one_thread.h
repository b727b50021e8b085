#pragma once

#include "functions.h"
#include "replicate/mpi/agree/thread_order.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

/// What one thread at a time uses, of several that communicate: a window, or the pointers of a file. Which of two
/// threads comes first is another one in each replica, and nothing names their calls, so that a second thread that
/// comes while one is inside ends the job; where threads go in the leader's order, it waits until the first is out. In
/// a thread's turn (threads.h).
class OneThread {
 public:
  /// A call of the present thread, for its lifetime.
  class Call {
   public:
    Call(Function function, OneThread& of) : of_(many_threads() ? &of : nullptr) {
      if (!of_) return;
      of_->come(function);
      of_->thread_ = &asking;
      ++of_->inside_;
    }
    ~Call() {
      if (of_) --of_->inside_;
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    OneThread* of_;
  };

  /// Before a call of the present thread.
  void come(Function function) const {
    if (threads_in_order()) return wait_in_order([this] { return free(); });
    if (!free()) refuse(function, threads_have_no_order);
  }

 private:
  bool free() const { return inside_ == 0 || thread_ == &asking; }

  const Asker* thread_ = nullptr;
  int inside_ = 0;  ///< calls of that thread, one within another
};

}  // namespace holdfast::replicate
