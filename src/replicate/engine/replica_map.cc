#include "replicate/engine/replica_map.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace holdfast::replicate {
namespace {

/// A number of the file and where it stands (both from 1), so that errors found later can still name the place.
struct Field {
  int value = 0;
  std::size_t line = 0;
  std::size_t column = 0;
};

struct Line {
  Field physical;
  Field virtual_rank;
  Field replica;
};

constexpr std::string_view shape = "write one line a physical rank, \"physical virtual replica\"";

std::string place(std::string_view name, std::size_t line, std::size_t column) {
  return std::string(name) + ":" + std::to_string(line) + ":" + std::to_string(column);
}

Status error_at(std::string_view name, const Field& field, std::string wrong, std::string_view remedy = shape) {
  return {Code::bad_input, "reading replica map " + place(name, field.line, field.column), std::move(wrong),
          std::string(remedy)};
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/// The word as an error message shows it: short, and with nothing that could disturb a terminal.
std::string shown(std::string_view word) {
  std::string text = "\"";
  for (char c : word.substr(0, 20)) text += c >= ' ' && c <= '~' ? c : '?';
  return text + (word.size() > 20 ? "...\"" : "\"");
}

/// What is wrong with `word` as a rank; empty when it is a number that fits, which is then in `value`.
std::string parse_number(std::string_view word, int& value) {
  const bool negative = word.front() == '-';
  const std::string_view digits = negative ? word.substr(1) : word;
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return shown(word) + " is not a number";
  if (negative) return shown(word) + " is negative";
  std::int64_t number = 0;
  for (char c : digits) {
    number = number * 10 + (c - '0');
    if (number >= std::numeric_limits<int>::max()) return shown(word) + " is too large for a rank";
  }
  value = static_cast<int>(number);
  return {};
}

/// Reads one line's fields. `found` says whether there were any.
Status parse_line(std::string_view text, std::string_view name, std::size_t number, Line& line, bool& found) {
  text = text.substr(0, text.find('#'));
  std::array<Field*, 3> fields{&line.physical, &line.virtual_rank, &line.replica};
  std::size_t count = 0;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_space(text[at])) ++at;
    if (at == text.size()) break;
    const std::size_t begin = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    const Field here{0, number, begin + 1};
    if (count == fields.size()) return error_at(name, here, "a fourth field");
    *fields[count] = here;
    const std::string wrong = parse_number(text.substr(begin, at - begin), fields[count]->value);
    if (!wrong.empty()) return error_at(name, here, wrong);
    ++count;
  }
  found = count != 0;
  if (count == 0 || count == fields.size()) return {};
  return error_at(name, {0, number, text.size() + 1}, std::to_string(count) + " of three fields");
}

Status parse_lines(std::string_view text, std::string_view name, std::vector<Line>& lines) {
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    Line line;
    bool found = false;
    Status status = parse_line(text.substr(0, end), name, number, line, found);
    if (!status) return status;
    if (found) lines.push_back(line);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  if (!lines.empty()) return {};
  return error_at(name, {0, number + 1, 1}, "no line that maps a rank");
}

Status check_native_ranks(const std::vector<Line>& lines, std::string_view name) {
  const std::size_t physical_ranks = lines.size();
  std::vector<const Field*> seen(physical_ranks, nullptr);
  for (const Line& line : lines) {
    const Field& physical = line.physical;
    if (static_cast<std::size_t>(physical.value) >= physical_ranks)
      return error_at(name, physical,
                      "physical rank " + std::to_string(physical.value) + " in a map of " +
                          std::to_string(physical_ranks) + " lines, so that a smaller one is missing",
                      "number the physical ranks 0.." + std::to_string(physical_ranks - 1));
    const Field*& first = seen[static_cast<std::size_t>(physical.value)];
    if (first != nullptr)
      return error_at(name, physical,
                      "physical rank " + std::to_string(physical.value) + " is already mapped in line " +
                          std::to_string(first->line),
                      "map every physical rank once");
    first = &physical;
  }
  return {};
}

std::string role(int virtual_rank, int replica) {
  return "replica " + std::to_string(replica) + " of virtual rank " + std::to_string(virtual_rank);
}

/// Nobody may be played twice, and below each replica of a rank there must be all others. There are as many roles named
/// as lines, so the search for a missing one ends after at most one step more than there are lines, however large the
/// numbers are.
Result<std::vector<int>> count_roles(const std::vector<Line>& lines, std::string_view name) {
  std::map<std::pair<int, int>, const Line*> played;
  int highest = 0;
  for (const Line& line : lines) {
    const auto [first, fresh] = played.try_emplace({line.virtual_rank.value, line.replica.value}, &line);
    if (!fresh)
      return error_at(name, line.virtual_rank,
                      role(line.virtual_rank.value, line.replica.value) + " is already played in line " +
                          std::to_string(first->second->physical.line),
                      "give every replica of every rank to one physical rank");
    highest = std::max(highest, line.virtual_rank.value);
  }
  std::vector<int> degrees;
  auto next = played.begin();
  for (int rank = 0; rank <= highest; ++rank) {
    int degree = 0;
    for (; next != played.end() && next->first == std::pair(rank, degree); ++next) ++degree;
    const bool hole = next != played.end() && next->first.first == rank;
    if (degree == 0 || hole)
      return error_at(name, lines.back().physical, "after the last line, " + role(rank, degree) + " is missing",
                      "give every virtual rank the replicas from 0 on, without a hole");
    degrees.push_back(degree);
  }
  return degrees;
}

}  // namespace

Result<ReplicaMap> ReplicaMap::uniform(int ranks, int degree) {
  const std::string doing = "mapping " + std::to_string(ranks) + " ranks in " + std::to_string(degree) + " replicas";
  if (ranks < 1 || degree < 1)
    return Status(Code::bad_input, doing, "both must be at least 1", "ask for one rank and one replica or more");
  if (ranks > std::numeric_limits<int>::max() / degree)
    return Status(Code::bad_input, doing, "more processes than MPI can number", "ask for fewer ranks or replicas");
  return of_degrees(std::vector<int>(static_cast<std::size_t>(ranks), degree));
}

Result<ReplicaMap> ReplicaMap::of_degrees(const std::vector<int>& degrees) {
  Result<ReplicaMap> map = unplayed(degrees);
  if (!map) return map;
  int physical = 0;
  for (int replica = 0; replica < map.value().degree_; ++replica)
    for (int rank = 0; rank < map.value().ranks_; ++rank)
      if (replica < map.value().degree(rank)) map.value().set(physical++, rank, replica);
  return map;
}

Result<ReplicaMap> ReplicaMap::of(const Degrees& degrees, int ranks) {
  auto by_rank = degrees.of(ranks);
  return by_rank ? of_degrees(by_rank.value()) : by_rank.status();
}

Result<ReplicaMap> ReplicaMap::unplayed(const std::vector<int>& degrees) {
  const std::string doing = "mapping " + std::to_string(degrees.size()) + " ranks";
  if (degrees.empty() || *std::min_element(degrees.begin(), degrees.end()) < 1)
    return Status(Code::bad_input, doing, "each needs at least one replica",
                  "ask for one rank and one replica or more");
  const std::int64_t physical_ranks = std::accumulate(degrees.begin(), degrees.end(), std::int64_t{0});
  if (physical_ranks > std::numeric_limits<int>::max())
    return Status(Code::bad_input, doing, "more processes than MPI can number", "ask for fewer ranks or replicas");
  ReplicaMap map;
  map.ranks_ = static_cast<int>(degrees.size());
  map.degree_ = *std::max_element(degrees.begin(), degrees.end());
  map.partial_ = map.degree_ != *std::min_element(degrees.begin(), degrees.end());
  map.degrees_ = degrees;
  map.first_.resize(degrees.size());
  std::exclusive_scan(degrees.begin(), degrees.end(), map.first_.begin(), 0);
  map.virtual_.resize(static_cast<std::size_t>(physical_ranks));
  map.replica_.resize(static_cast<std::size_t>(physical_ranks));
  map.physical_.resize(static_cast<std::size_t>(physical_ranks));
  return map;
}

Result<ReplicaMap> ReplicaMap::parse(std::string_view text, std::string_view name) {
  std::vector<Line> lines;
  if (Status status = parse_lines(text, name, lines); !status) return status;
  if (Status status = check_native_ranks(lines, name); !status) return status;
  const auto degrees = count_roles(lines, name);
  if (!degrees) return degrees.status();
  Result<ReplicaMap> map = unplayed(degrees.value());
  if (!map) return map;
  for (const Line& line : lines) map.value().set(line.physical.value, line.virtual_rank.value, line.replica.value);
  return map;
}

std::string ReplicaMap::degrees_text() const {
  const std::string most = std::to_string(degree_);
  return partial_ ? std::to_string(*std::min_element(degrees_.begin(), degrees_.end())) + " to " + most : most;
}

void ReplicaMap::set(int physical, int virtual_rank, int replica) {
  virtual_[static_cast<std::size_t>(physical)] = virtual_rank;
  replica_[static_cast<std::size_t>(physical)] = replica;
  const int slot = first_[static_cast<std::size_t>(virtual_rank)] + replica;
  physical_[static_cast<std::size_t>(slot)] = physical;
}

}  // namespace holdfast::replicate
