#include "fabric/opensm/log.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/input/lines.h"

namespace holdfast::fabric::opensm {
namespace {

/// "Nov 21 21:03:48 455453 [750D26C0] 0x01 -> construct_fabric: ERR AB2B: Found ..." taken apart.
struct Line {
  bool is_error = false;
  std::string_view function;
  std::string_view text;
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Line take_apart(std::string_view text) {
  Line line;
  const std::size_t arrow = text.find("-> ");
  if (arrow == std::string_view::npos) {
    line.text = trim(text);
    return line;
  }
  line.is_error = text.substr(0, arrow).find(" 0x01 ") != std::string_view::npos;
  text.remove_prefix(arrow + 3);
  const std::size_t colon = text.find(": ");
  if (colon != std::string_view::npos && text.substr(0, colon).find(' ') == std::string_view::npos) {
    line.function = text.substr(0, colon);
    text.remove_prefix(colon + 2);
  }
  line.text = trim(text);
  return line;
}

std::vector<Line> lines_of(std::string_view log) {
  std::vector<Line> lines;
  for (input::Lines texts(log); texts.next();) {
    Line line = take_apart(texts.line());
    if (!line.text.empty()) lines.push_back(line);
  }
  return lines;
}

bool begins_a_routing(const Line& line) {
  return line.text.starts_with("Setting IS_SM") || line.text.starts_with("Errors during initialization") ||
         line.text.find("SUBNET UP") != std::string_view::npos || line.text.starts_with("No routing engine able");
}

/// Who else speaks up around a routing: its caller, and those who tell of MADs that were lost or refused and of ports
/// that went, as they do after a failure.
constexpr std::string_view others[] = {
    "ucast_mgr_route", "osm_ucast_mgr_process",   "log_send_error",     "log_rcv_cb_error",    "log_notice",
    "do_sweep",        "sm_mad_ctrl_send_err_cb", "pi_rcv_process_set", "drop_mgr_remove_port"};

bool speaks_for_the_engine(const Line& line) {
  return !line.function.empty() && std::ranges::find(others, line.function) == std::end(others);
}

}  // namespace

std::string refusal_in(std::string_view log, std::string_view engine) {
  std::string errors;
  std::string note;
  bool over = false;  // OpenSM goes on trying: the reasons of one routing end with its verdict
  for (const Line& line : lines_of(log)) {
    if (line.text.starts_with("No routing engine able")) {
      over = true;
    } else if (begins_a_routing(line) || over) {
      errors.clear();
      note.clear();
      over = false;
    }
    if (!speaks_for_the_engine(line)) continue;
    if (line.is_error && errors.size() < 300) errors += (errors.empty() ? "" : "; ") + std::string(line.text);
    if (!line.is_error) note = line.text;
  }
  if (!errors.empty()) return errors;
  return note.empty() ? std::string(engine) + " gave no reason" : note;
}

std::uint32_t lanes_needed_in(std::string_view log) {
  constexpr std::string_view words = "anes needed: ";
  const std::size_t found = log.rfind(words);
  if (found == std::string_view::npos) return 0;
  const char* number = log.data() + found + words.size();
  std::uint32_t lanes = 0;
  std::from_chars(number, log.data() + log.size(), lanes);
  return lanes;
}

std::string last_line(std::string_view text) {
  const std::vector<Line> lines = lines_of(text);
  return lines.empty() ? "it said nothing" : std::string(lines.back().text);
}

}  // namespace holdfast::fabric::opensm
