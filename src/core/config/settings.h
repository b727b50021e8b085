#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/table.h"
#include "core/status/status.h"

namespace holdfast::config {

/// Where a value came from, weakest first: a value never replaces one of a stronger origin, so the order in which the
/// sources are read does not matter. Within one origin the last one wins.
enum class Source : std::uint8_t { row_default, file, environment, flag };

struct Origin {
  Source source = Source::row_default;
  std::string place;  ///< "holdfast.toml line 3", "HOLDFAST_X", "--x"; empty for the default
};

/// "default", or the origin's place.
std::string origin_text(const Origin& origin);

/// The values of one component's options and where each came from, with the struct's type erased. Not thread-safe.
class AnySettings {
 public:
  virtual ~AnySettings() = default;

  const AnyTable& table() const { return *table_; }

  /// Sets the option `name` to what `text` says, unless a stronger origin set it already; the text is checked in any
  /// case. Errors (bad_input): unknown name, with a hint; malformed or out-of-bounds value. Then nothing changes.
  Status set(std::string_view name, std::string_view text, Origin origin);

  /// One row of `holdfast config explain`. `option` points into the table.
  struct Shown {
    const Option* option;
    std::string value;
    Origin origin;
  };
  /// The effective values in the table's order.
  std::vector<Shown> show() const;
  /// Those that nobody gave, as "mpi.eager_limit 12288", in the table's order.
  std::vector<std::string> left_at_defaults() const;

  /// Environment variables (name, text) that give another process these settings: every option that is not the default.
  std::vector<std::pair<std::string, std::string>> to_environment() const;

 protected:
  explicit AnySettings(const AnyTable& table) : table_(&table), origins_(table.rows().size()) {}
  AnySettings(const AnySettings&) = default;
  AnySettings& operator=(const AnySettings&) = default;

 private:
  virtual void* storage() = 0;
  virtual const void* storage() const = 0;

  const AnyTable* table_;
  std::vector<Origin> origins_;
};

/// The settings of one component. Starts with the defaults; the table must outlive it.
template <class Options>
class Settings final : public AnySettings {
 public:
  explicit Settings(const Table<Options>& table) : AnySettings(table) { table.apply_defaults(options_); }
  const Options& options() const { return options_; }

 private:
  void* storage() override { return &options_; }
  const void* storage() const override { return &options_; }

  Options options_{};
};

}  // namespace holdfast::config
