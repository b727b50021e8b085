#include "record/import/dumpi_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace holdfast::record {
namespace {

constexpr std::string_view entering = " entering at walltime ";
constexpr std::string_view returning = " returning at walltime ";
constexpr std::int64_t most_seconds = std::int64_t{4} << 30;  ///< 136 years

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<std::int64_t> number_at(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

/// "8153.0493" seconds are 8153049300000 ns.
std::optional<std::int64_t> moment_at(std::string_view text) {
  const auto seconds = number_at(text);
  if (!seconds || *seconds < 0 || *seconds > most_seconds) return std::nullopt;
  std::int64_t ns = *seconds * 1'000'000'000;
  const std::size_t point = text.find_first_not_of("0123456789");
  if (point == std::string_view::npos || text[point] != '.') return ns;
  std::int64_t unit = 100'000'000;
  for (std::size_t i = point + 1; i < text.size() && is_digit(text[i]) && unit > 0; ++i, unit /= 10)
    ns += (text[i] - '0') * unit;
  return ns;
}

/// Of what an identifier of C is made.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

std::uint32_t thread_at(std::string_view line) {
  const std::size_t found = line.rfind(" thread ");
  if (found == std::string_view::npos) return 0;
  const auto number = number_at(line.substr(found + 8));
  return number && *number >= 0 && *number < 4096 ? static_cast<std::uint32_t>(*number) : 0;
}

std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < text.size();) {
    const bool negative = text[i] == '-' && i + 1 < text.size() && is_digit(text[i + 1]);
    if (!negative && !is_digit(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (const auto number = number_at(text.substr(i, end - i))) numbers.push_back(*number);
    i = end;
  }
  return numbers;
}

std::int64_t named_number(std::string_view text, std::string_view name) {
  const std::size_t found = text.find(name);
  return found == std::string_view::npos ? 0 : number_at(text.substr(found + name.size())).value_or(0);
}

/// "int dims[2]=[4, 4]" is a field; a line of another form goes on with the field before it.
std::optional<DumpiField> field_of(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || space > equals) return std::nullopt;
  std::string_view name = line.substr(space + 1, equals - space - 1);
  name = name.substr(0, name.find('['));
  if (name.empty() || name.find(' ') != std::string_view::npos) return std::nullopt;
  return DumpiField{name, line.substr(equals + 1)};
}

}  // namespace

const DumpiField* DumpiCall::find(std::string_view name) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const DumpiField& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::optional<std::int64_t> DumpiCall::number(std::string_view name) const {
  const std::vector<std::int64_t> all = numbers(name);
  if (all.empty()) return std::nullopt;
  return all.front();
}

std::vector<std::int64_t> DumpiCall::numbers(std::string_view name) const {
  const DumpiField* const field = find(name);
  if (!field) return {};
  return numbers_in(field->value.substr(0, field->value.find('(')));  // the name of a number may hold others
}

std::vector<DumpiStatus> DumpiCall::statuses(std::string_view name) const {
  std::vector<DumpiStatus> statuses;
  const DumpiField* const field = find(name);
  std::string_view rest = field ? field->value : std::string_view();
  for (std::size_t begin = rest.find('{'); begin != std::string_view::npos; begin = rest.find('{')) {
    const std::string_view one = rest.substr(begin, rest.find('}', begin) - begin);
    statuses.push_back({named_number(one, "bytes="), named_number(one, "source="), named_number(one, "tag="),
                        named_number(one, "cancelled=") != 0});
    rest.remove_prefix(begin + one.size());
  }
  return statuses;
}

Status DumpiReader::wrong(std::string what) const {
  return Status(Code::bad_input, fmt::format("line {}", line_), std::move(what), "dumpi2ascii -a makes such a text");
}

bool DumpiReader::next_line(std::string_view& line) {
  if (at_ >= text_.size()) return false;
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  line = text_.substr(at_, end - at_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  at_ = end + 1;
  ++line_;
  return true;
}

/// The header before the calls and the tables behind them.
void DumpiReader::take_between(std::string_view line) {
  if (line.starts_with("hostname=") && host_.empty()) host_ = line.substr(9, 256);
  if (!line.starts_with("Datatype ")) return;
  const std::size_t size = line.rfind(" has size ");
  const auto number = number_at(line.substr(9));
  if (size == std::string_view::npos || !number) return;
  if (const auto bytes = number_at(line.substr(size + 10)); bytes && *bytes >= 0) datatype_bytes_[*number] = *bytes;
}

Result<bool> DumpiReader::next(DumpiCall& call) {
  std::string_view line;
  std::size_t mark = std::string_view::npos;
  while (mark == std::string_view::npos) {
    if (!next_line(line)) return false;
    mark = line.find(entering);
    if (mark == std::string_view::npos) take_between(line);
  }
  call.function = line.substr(0, mark);
  if (!is_name(call.function)) return wrong("a call of something that is no function's name");
  call.thread = thread_at(line);
  call.fields.clear();
  const auto entered = moment_at(line.substr(mark + entering.size()));
  if (!entered) return wrong("the moment of a call is no number of seconds");
  call.entered_ns = *entered;
  while (true) {
    if (!next_line(line)) return wrong(fmt::format("the text ends within a call of {}", call.function.substr(0, 64)));
    mark = line.find(returning);
    if (mark != std::string_view::npos) break;
    if (line.find(entering) != std::string_view::npos)
      return wrong(fmt::format("another call begins within one of {}", call.function.substr(0, 64)));
    if (const auto field = field_of(line)) {
      call.fields.push_back(*field);
    } else if (!call.fields.empty()) {
      std::string_view& value = call.fields.back().value;
      value = std::string_view(value.data(), static_cast<std::size_t>(line.data() + line.size() - value.data()));
    }
  }
  if (line.substr(0, mark) != call.function)
    return wrong(fmt::format("a call of {} ends as one of {}", call.function.substr(0, 64),
                             line.substr(0, std::min<std::size_t>(mark, 64))));
  const auto left = moment_at(line.substr(mark + returning.size()));
  if (!left) return wrong("the moment of a call is no number of seconds");
  call.left_ns = *left;
  ++calls_;
  return true;
}

}  // namespace holdfast::record
