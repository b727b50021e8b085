#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace holdfast::replicate {

/// A part of a simulated program that may wait: a coroutine that begins when it is awaited, or resumed, and goes on
/// with who awaited it when it is over. What it throws, that one gets. Owns its frame; one thread.
template <class T>
class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;
  struct GoOn {
    bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle done) noexcept {
      const std::coroutine_handle<> next = done.promise().awaited_by;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };
  struct promise_type {
    std::optional<T> value;
    std::exception_ptr thrown;
    std::coroutine_handle<> awaited_by;
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    GoOn final_suspend() noexcept { return {}; }
    void return_value(T result) { value = std::move(result); }
    void unhandled_exception() { thrown = std::current_exception(); }
  };

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (frame_) frame_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> who) {
    frame_.promise().awaited_by = who;
    return frame_;
  }
  T await_resume() {
    if (frame_.promise().thrown) std::rethrow_exception(frame_.promise().thrown);
    return std::move(*frame_.promise().value);
  }

  /// Of the outermost one.
  std::coroutine_handle<> handle() const { return frame_; }
  bool over() const { return frame_.done(); }
  void rethrow() const {
    if (frame_.promise().thrown) std::rethrow_exception(frame_.promise().thrown);
  }

 private:
  explicit Task(Handle frame) : frame_(frame) {}
  Handle frame_;
};

/// What a task gives that gives nothing.
struct Done {};

}  // namespace holdfast::replicate
