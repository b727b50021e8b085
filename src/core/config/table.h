#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "core/config/option.h"
#include "core/status/status.h"

namespace holdfast::config {

/// The options of one component with the struct's type erased, so that a registry can list all components. Immutable;
/// any thread. Programs keep tables as function-local statics.
class AnyTable {
 public:
  std::string_view component() const { return component_; }
  std::span<const Option> rows() const { return rows_; }
  /// The row of this name ("transport.ack_delay" or "transport.ack-delay"), or null.
  const Option* find(std::string_view name) const;
  /// "did you mean ...?" for a name that is no row of this table.
  std::string hint(std::string_view name) const;

 protected:
  AnyTable(std::string_view component, std::vector<Option> rows);

 private:
  std::string_view component_;
  std::vector<Option> rows_;
};

/// Holds rows to the rules of a table: every name is "component." and lower-case words joined by '_', no name stands
/// twice, bounds and default can be read and agree, an enumeration has names, doc is there. Error: internal.
Status check_rows(std::string_view component, std::span<const Option> rows);

/// The options of one component, held in the plain struct `Options`. A defect in the rows (check_rows) is a defect of
/// the program: the constructor says so on stderr and aborts, so that every test of the component meets it.
template <class Options>
class Table : public AnyTable {
 public:
  Table(std::string_view component, std::initializer_list<OptionOf<Options>> rows)
      : AnyTable(component, std::vector<Option>(rows.begin(), rows.end())) {}

  /// Sets every member that has a row to the row's default.
  void apply_defaults(Options& options) const {
    for (const Option& option : rows()) option.store(&options, read_value(option, option.row.initial, "").value());
  }
};

}  // namespace holdfast::config
