#include "fabric/formats/notes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace holdfast::fabric {
namespace {

constexpr std::size_t shown_beside_first = 2;

/// "0000 0a1b ...": a row of a packet as libibmad dumps it.
bool is_row_of_dump(std::string_view line) {
  std::size_t digits = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if (i % 5 == 4 ? letter != ' ' : std::string_view("0123456789abcdef").find(letter) == std::string_view::npos)
      return false;
    ++digits;
  }
  return digits >= 9;
}

}  // namespace

void Notes::add(std::string_view kind, std::size_t line, std::string text, std::string_view file) {
  const std::string place =
      std::string(file.empty() ? file_ : file) + (line > 0 ? " line " + std::to_string(line) : "");
  auto known = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& one) { return one.kind == kind; });
  if (known == kinds_.end()) {
    kinds_.push_back({kind, 1, place + ": " + std::move(text), {}, place});
    return;
  }
  ++known->count;
  known->last_place = place;
  if (known->next.size() < shown_beside_first) known->next.push_back(place + ": " + std::move(text));
}

std::vector<std::string> Notes::texts() const {
  std::vector<std::string> texts;
  for (const Kind& kind : kinds_) {
    std::string text = kind.first;
    const std::size_t hidden = kind.count - 1 - kind.next.size();
    if (hidden == 0) {
      for (const std::string& one : kind.next) text += "; " + one;
    } else {
      text += "; and " + std::to_string(kind.count - 1) + " more of this kind, the last at " + kind.last_place;
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

bool is_from_another_program(std::string_view line) {
  while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
  while (line.ends_with(' ')) line.remove_suffix(1);
  constexpr std::array<std::string_view, 11> heads = {
      "ibwarn:",  "ibpanic:",        "ibdebug:", "iberror:",   "src/", "./",
      "DR path ", "*** WARNING ***", "../",      "libibnetdi", "umad_"};
  constexpr std::array<std::string_view, 6> labels = {"nodeinfo", "portinfo", "switchinfo",
                                                      "nodedesc", "send buf", "rcv buf"};
  if (std::ranges::any_of(heads, [&](std::string_view head) { return line.starts_with(head); })) return true;
  if (std::ranges::find(labels, line) != labels.end()) return true;
  // "ibroute: iberror: failed: ..." with any program's name
  const std::size_t colon = line.find(": ");
  if (colon != std::string_view::npos && line.substr(0, colon).find_first_of(" =\"[") == std::string_view::npos &&
      (line.substr(colon + 2).starts_with("iberror: ") || line.substr(0, colon).starts_with("ib")))
    return true;
  return line.find("(DR path") != std::string_view::npos || is_row_of_dump(line);
}

}  // namespace holdfast::fabric
