#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/call.h"
#include "record/event_writer.h"

namespace holdfast::record {

/// A part of a rank's file that cannot be read. What lies around it can.
struct Damage {
  std::size_t offset = 0;  ///< where it begins, in bytes
  std::string what;
};

/// Takes what a file says, in order. References live until the function returns.
class Visitor {
 public:
  virtual ~Visitor() = default;
  /// Requests of the facts are their numbers; unknown_request: made before the recording, or in a block that is lost.
  virtual void call(const Call& call) = 0;
  /// Facts name a communicator by `number`, in calls that come after. A definition may come again.
  virtual void communicator(std::uint64_t number, const Communicator& communicator) = 0;
  /// So many further calls of which only the name is known.
  virtual void counted(std::string_view name, bool local, std::uint64_t calls) = 0;
  /// The calls before and after do not join: a part is missing.
  virtual void gap() {}
};

/// For whom the calls do not matter.
class NoCalls : public Visitor {
 public:
  void call(const Call&) override {}
  void communicator(std::uint64_t, const Communicator&) override {}
  void counted(std::string_view, bool, std::uint64_t) override {}
};

/// What a file is, apart from its calls.
struct RankFile {
  bool has_head = false;
  Head head;
  bool ended = false;  ///< its end was found: nothing was cut off
  Ending ending{};
  std::int64_t elapsed_ns = 0;  ///< of the recording, as far as it is known
  std::uint64_t calls = 0;      ///< that were read
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;    ///< of the file
  std::uint64_t members = 0;  ///< of all communicators that it defines
  std::vector<Damage> damages;
  bool whole() const { return has_head && ended && damages.empty(); }
};

/// Reads a rank's file from its bytes, which may be anything. Bad parts are skipped and listed.
RankFile read_rank(std::string_view bytes, Visitor& visitor);

/// The head that read_rank() would find, by the first part alone that can be read; none: it has none.
std::optional<Head> read_rank_head(std::string_view bytes);

}  // namespace holdfast::record
