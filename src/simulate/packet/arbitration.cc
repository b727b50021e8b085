#include "simulate/packet/arbitration.h"

#include <charconv>
#include <optional>
#include <string>

namespace holdfast::simulate {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool word(std::string_view expected) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  std::optional<std::uint8_t> number(unsigned most) {
    skip_blanks();
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value > most) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return static_cast<std::uint8_t>(value);
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  std::size_t place() const { return at_ + 1; }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

bool read_entries(Reader& reader, std::vector<Arbitration::Entry>& entries) {
  do {
    const auto lane = reader.number(14);
    if (!lane || !reader.word(":")) return false;
    const auto weight = reader.number(255);
    if (!weight) return false;
    entries.push_back({*lane, *weight});
  } while (reader.word(","));
  return entries.size() <= 64;
}

bool read_tables(Reader& reader, Arbitration& tables) {
  do {
    if (reader.word("high")) {
      if (!tables.high.empty() || !read_entries(reader, tables.high)) return false;
      if (!reader.word("limit")) continue;
      const auto limit = reader.number(255);
      if (!limit) return false;
      tables.high_limit = *limit;
    } else if (!reader.word("low") || !tables.low.empty() || !read_entries(reader, tables.low)) {
      return false;
    }
  } while (reader.word(";"));
  return reader.at_end();
}

}  // namespace

Result<Arbitration> read_arbitration(std::string_view text, std::uint8_t lanes) {
  Arbitration tables;
  if (text == "fair") {
    for (std::uint8_t lane = 0; lane < lanes; ++lane) tables.low.push_back({lane, 1});
    return tables;
  }
  Reader reader(text);
  if (!read_tables(reader, tables))
    return Status{Code::bad_input, "reading simulate.vl_arbitration",
                  "'" + std::string(text) + "' is not understood at letter " + std::to_string(reader.place()),
                  "write fair, or tables of lane:weight as 'high 1:64 limit 1; low 0:32, 2:32', lanes 0 to 14, "
                  "weights 0 to 255"};
  return tables;
}

}  // namespace holdfast::simulate
