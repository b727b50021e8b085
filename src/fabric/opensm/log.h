#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// What OpenSM's log says, for people and for the outcome. The log is text of another program: whatever it holds, these
/// give some answer.
namespace holdfast::fabric::opensm {

/// Why the engine refused: the engine's own words, from the errors and notes of the last routing, joined by "; ".
std::string refusal_in(std::string_view log, std::string_view engine);

/// The virtual lanes that the engine said it needs; 0 when it did not say.
std::uint32_t lanes_needed_in(std::string_view log);

/// The last line that holds anything, without time and thread.
std::string last_line(std::string_view text);

}  // namespace holdfast::fabric::opensm
