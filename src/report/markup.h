#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/markup/escape.h"

namespace holdfast::report {

using markup::escaped;

/// A table of texts. Cells that begin with a digit, a sign or '-' alone are set to the right.
struct Table {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
std::string table_html(const Table& table);
/// The same for a terminal: columns padded, two blanks between.
std::string table_text(const Table& table);
/// RFC 4180, a heading first, lines end with \n.
std::string table_csv(const Table& table);

/// A whole page without anything from outside: style and body are inside.
std::string page_html(const std::string& title, const std::string& body);

}  // namespace holdfast::report
