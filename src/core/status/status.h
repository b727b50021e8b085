#pragma once

#include <string>
#include <utility>
#include <variant>

namespace holdfast {

/// Why something could not be done. Each kind maps to one documented exit code at the edge
/// (docs/reference/exit-codes.md).
enum class Code {
  ok,
  bad_input,    ///< the user's command line, file or environment is wrong
  not_found,    ///< a file or program that was named does not exist
  unavailable,  ///< something that must be installed or running is not
  corrupt,      ///< corruption was detected and could not be corrected
  diverged,     ///< replicas no longer do the same thing, or one went silent
  io,           ///< the operating system refused a read, a write or a start
  internal,     ///< a defect of Holdfast itself
};

/// The outcome of something that can fail, as a value: what was being done, what went wrong, what to do about it.
/// Copies are cheap when ok. Thread-compatible, like every value type here.
class [[nodiscard]] Status {
 public:
  Status() = default;  ///< ok
  Status(Code code, std::string doing, std::string wrong, std::string remedy = {})
      : code_(code), doing_(std::move(doing)), wrong_(std::move(wrong)), remedy_(std::move(remedy)) {}

  bool ok() const { return code_ == Code::ok; }
  explicit operator bool() const { return ok(); }
  Code code() const { return code_; }
  const std::string& doing() const { return doing_; }
  const std::string& wrong() const { return wrong_; }
  const std::string& remedy() const { return remedy_; }

  /// "doing: wrong: remedy", one line; "ok" when nothing is wrong.
  std::string message() const {
    if (ok()) return "ok";
    std::string text = doing_ + ": " + wrong_;
    if (!remedy_.empty()) text += ": " + remedy_;
    return text;
  }

 private:
  Code code_ = Code::ok;
  std::string doing_;
  std::string wrong_;
  std::string remedy_;
};

/// A value, or the Status that says why there is none. value() may be called only when ok().
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : held_(std::move(status)) {}  // NOLINT: implicit on purpose

  bool ok() const { return std::holds_alternative<T>(held_); }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<T>(held_); }
  const T& value() const& { return std::get<T>(held_); }
  T&& value() && { return std::get<T>(std::move(held_)); }
  /// ok() status when there is a value.
  Status status() const { return ok() ? Status() : std::get<Status>(held_); }

 private:
  std::variant<T, Status> held_;
};

}  // namespace holdfast
