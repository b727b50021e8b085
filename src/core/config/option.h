#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "core/status/status.h"

/// An option is one row. The row's text is the only source of its default, bounds and documentation; the flag, the
/// environment variable, the key of the configuration file, the help, the manual and the reference page derive from it.
///
///   struct Options {
///     Protocol protocol{};
///     std::int64_t ack_delay_ns{};
///     std::int64_t window{};
///   };
///   constexpr std::string_view protocols[] = {"msg-plus-hash", "all-to-all"};   // in the order of the enumeration
///
///   const config::Table<Options>& options_table() {
///     static const config::Table<Options> table("transport", {
///         config::option<&Options::protocol>({.name = "transport.protocol", .initial = "msg-plus-hash",
///                                             .choices = protocols, .doc = "How copies are compared."}),
///         config::duration<&Options::ack_delay_ns>({.name = "transport.ack_delay", .initial = "10ms", .least = "1us",
///                                                   .most = "10s", .doc = "How long an acknowledgement may wait."}),
///         config::option<&Options::window>({.name = "transport.window", .initial = "64", .least = "1",
///                                           .most = "4096", .unit = "packets", .doc = "Packets in flight."}),
///     });
///     return table;
///   }
namespace holdfast::config {

enum class Type : std::uint8_t {
  boolean,   ///< true, false, yes, no, on, off, 1, 0
  integer,   ///< a signed decimal number
  natural,   ///< an unsigned decimal number
  real,      ///< a finite decimal number, with an exponent if need be
  text,      ///< any string, empty ones too
  choice,    ///< one of the row's names; '-' and '_' are the same
  duration,  ///< a number and a unit (core/time/duration.h), held in nanoseconds
};

/// What the author of an option writes. All views must outlive the table (they are literals).
struct Row {
  std::string_view name;     ///< component.word_word; the component is the table's
  std::string_view initial;  ///< the default, as a user would write it
  std::string_view least{};  ///< smallest allowed value of a number or duration; empty: the type's own
  std::string_view most{};   ///< largest one
  std::string_view unit{};   ///< of a number: "bytes", "messages"
  std::span<const std::string_view> choices{};  ///< names of an enumeration; a name's index is its value
  std::string_view doc;  ///< one line that stands alone; more sentences may follow after a newline
};

/// A choice is held as its index (uint64), a duration as int64 nanoseconds.
using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;

/// A row together with the way to its member; the struct's type is erased. Made by option() and duration() only.
struct Option {
  Row row;
  Type type{};
  std::int64_t lowest = 0;  ///< what the member can hold
  std::uint64_t highest = 0;
  void (*store)(void* options, const Value& value) = nullptr;
  Value (*load)(const void* options) = nullptr;
};

/// An Option of the struct `Options`, so that a table cannot mix structs.
template <class Options>
struct OptionOf : Option {};

namespace detail {

template <class>
struct MemberOf;
template <class Struct, class Field>
struct MemberOf<Field Struct::*> {
  using Options = Struct;
  using Member = Field;
};

template <class Member>
constexpr Type type_of() {
  if constexpr (std::same_as<Member, bool>)
    return Type::boolean;
  else if constexpr (std::is_enum_v<Member>)
    return Type::choice;
  else if constexpr (std::signed_integral<Member>)
    return Type::integer;
  else if constexpr (std::unsigned_integral<Member>)
    return Type::natural;
  else if constexpr (std::same_as<Member, double>)
    return Type::real;
  else {
    static_assert(std::same_as<Member, std::string>, "an option is bool, an integer, double, std::string or an enum");
    return Type::text;
  }
}

template <class Member>
using Held =
    std::conditional_t<std::same_as<Member, bool> || std::same_as<Member, double> || std::same_as<Member, std::string>,
                       Member, std::conditional_t<std::signed_integral<Member>, std::int64_t, std::uint64_t>>;

template <auto Pointer>
constexpr auto make(const Row& row, Type type) {
  using Options = typename MemberOf<decltype(Pointer)>::Options;
  using Member = typename MemberOf<decltype(Pointer)>::Member;
  OptionOf<Options> option;
  option.row = row;
  option.type = type;
  if constexpr (std::integral<Member>) {
    option.lowest = static_cast<std::int64_t>(std::numeric_limits<Member>::min());
    option.highest = static_cast<std::uint64_t>(std::numeric_limits<Member>::max());
  }
  option.store = [](void* options, const Value& value) {
    static_cast<Options*>(options)->*Pointer = static_cast<Member>(*std::get_if<Held<Member>>(&value));
  };
  option.load = [](const void* options) {
    return Value(static_cast<Held<Member>>(static_cast<const Options*>(options)->*Pointer));
  };
  return option;
}

}  // namespace detail

/// An option in the given member: bool, any integer, double, std::string, or an enumeration (with `choices`).
template <auto Pointer>
constexpr auto option(const Row& row) {
  return detail::make<Pointer>(row, detail::type_of<typename detail::MemberOf<decltype(Pointer)>::Member>());
}

/// A duration in a std::int64_t member whose name ends in _ns.
template <auto Pointer>
constexpr auto duration(const Row& row) {
  static_assert(std::same_as<typename detail::MemberOf<decltype(Pointer)>::Member, std::int64_t>,
                "a duration is an int64 of nanoseconds");
  return detail::make<Pointer>(row, Type::duration);
}

/// "replicate.ack_delay" -> "--replicate.ack-delay".
std::string flag_name(std::string_view name);
/// "replicate.ack_delay" -> "HOLDFAST_REPLICATE_ACK_DELAY".
std::string environment_name(std::string_view name);
/// True when the two spell one option: '-' and '_' are the same letter.
bool same_name(std::string_view a, std::string_view b);

/// What a value of this option looks like, for help: "DURATION", "INTEGER", "{msg-plus-hash,all-to-all}".
std::string placeholder(const Option& option);
/// The allowed values in words with the unit: "1us to 10s", "1 to 4096 packets", "at least 1"; empty when any will do.
std::string bounds_text(const Option& option);

/// Reads a value as a user wrote it and holds it to the bounds. `doing` opens the error's message; the rest of it names
/// the option, the bounds and the unit. Error: bad_input.
Result<Value> read_value(const Option& option, std::string_view text, std::string_view doing);
/// The text that read_value() reads back as the same value.
std::string write_value(const Option& option, const Value& value);

}  // namespace holdfast::config
