#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/config/table.h"
#include "core/status/status.h"

namespace holdfast::config {

/// The help of one option: the flag and its placeholder, then the doc, default, bounds and environment name.
std::string help_text(const Option& option);

/// The doc of a row, which may have several lines, on one.
std::string doc_line(const Row& row);

/// The reference page of all options: a section a component, an entry an option. Markdown, ends with a newline.
std::string reference_markdown(std::span<const AnyTable* const> tables);

/// Holds a committed generated file to what the rows generate now. Errors: io when it cannot be read; internal when it
/// differs, naming the first line that does; the remedy is `regenerate`, the command that writes the file.
Status check_generated_file(const std::string& path, std::string_view generated, std::string_view regenerate);

}  // namespace holdfast::config
