#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/fault/fault.h"

/// Which words each kind of fault takes: the one table behind the parser, the formatter and the page.
namespace holdfast::fault {

/// A word that starts a clause. The values are bits of Rule::takes.
enum class Word : std::uint32_t {
  rank = 1U << 0,
  replica = 1U << 1,
  peer = 1U << 2,
  rail = 1U << 3,
  port = 1U << 4,
  link = 1U << 5,
  switch_name = 1U << 6,
  hca = 1U << 7,
  any = 1U << 8,
  rate = 1U << 9,
  mean = 1U << 10,
  message = 1U << 11,
  time = 1U << 12,
  share = 1U << 13,
  bit = 1U << 14,
  lasts = 1U << 15,
};

struct WordName {
  std::string_view name;
  Word word;
};

/// One row a kind.
struct Rule {
  Kind kind;
  std::string_view name;
  std::uint32_t takes;       ///< the Words it may be followed by
  bool says_when;            ///< must have one of rate, mean, message, time, share
  std::string_view example;  ///< a complete fault of this kind
};

std::span<const WordName> words();
std::span<const Rule> rules();
const Rule& rule_of(Kind kind);

/// The words of when a fault strikes; a fault has at most one.
bool tells_when(Word word);

}  // namespace holdfast::fault
