#pragma once

#include <string_view>
#include <vector>

#include "core/fault/fault.h"
#include "core/status/status.h"

namespace holdfast::fault {

/// Reads faults in the grammar of docs/spec/faults.md: words and numbers between blanks, faults separated by ';' or a
/// line end, '#' up to the end of the line is a comment. Text without a fault gives none. `name` says in messages where
/// the text is from ("--inject", a file's name). Errors (bad_input) name line and column, from 1, and hint at a near
/// word. Any thread.
Result<std::vector<Fault>> parse(std::string_view text, std::string_view name = "the faults");

}  // namespace holdfast::fault
