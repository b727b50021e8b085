#include "record/rank_reader.h"

#include <limits>
#include <optional>

#include "core/arithmetic/checked.h"
#include "record/varint.h"

namespace holdfast::record {
namespace {

constexpr std::uint64_t most_ranks = std::uint64_t{1} << 24;
constexpr std::uint64_t most_members = std::uint64_t{1} << 26;  ///< of all communicators of a file
/// That are tried after a damage: each costs a checksum of up to all that follows, and a file may be nothing else.
constexpr std::size_t most_wrong_blocks = 1000;
constexpr std::uint64_t most_functions = 1 << 16;
constexpr std::uint64_t most_number = std::uint64_t{1} << 62;

struct Shape {
  std::string_view name;
  std::uint32_t thread = 0;
  std::vector<FactValue> facts;
  std::uint64_t requests = 0;  ///< that a call of this shape makes
};

/// One block of calls, taken apart before anything of it is believed.
struct Calls {
  std::uint64_t elapsed_ns = 0;
  std::uint64_t requests = 0;  ///< made until its end
  std::map<std::uint64_t, std::string_view> functions;
  std::vector<std::pair<std::uint64_t, Communicator>> communicators;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> counted;
  std::vector<Shape> shapes;
  struct Row {
    std::uint64_t shape = 0;  ///< + 1; 0: of the row before
    std::uint64_t repeats = 1;
    std::int64_t before_ns = 0, without_core_ns = 0, during_ns = 0;
  };
  std::vector<Row> rows;
};

bool known_name(std::string_view name) {
  if (name.empty() || name.size() > 64) return false;
  for (const char c : name)
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
  return true;
}

bool read_ranks(NumberReader& from, std::uint64_t& room, std::vector<std::int64_t>& ranks) {
  const auto runs = from.number(from.left());
  if (!runs) return false;
  for (std::uint64_t i = 0; i < *runs; ++i) {
    const auto first = from.number();
    const auto step = from.number();
    const auto count = from.number(room);
    if (!first || !step || !count) return false;
    room -= *count;
    std::int64_t rank = unzigzag(*first);
    const std::int64_t by = unzigzag(*step);
    for (std::uint64_t k = 0; k < *count; ++k) {
      if (rank < outside || rank >= static_cast<std::int64_t>(most_ranks)) return false;
      ranks.push_back(rank);
      const auto next = arithmetic::checked_add(rank, by);
      if (!next) return false;
      rank = *next;
    }
  }
  return true;
}

bool read_shape(std::string_view bytes, const std::map<std::uint64_t, std::string_view>& functions, Shape& shape) {
  NumberReader from(bytes);
  const auto function = from.number();
  const auto thread = from.number(std::numeric_limits<std::uint32_t>::max());
  if (!function || !thread) return false;
  const auto name = functions.find(*function);
  if (name == functions.end()) return false;
  shape.name = name->second;
  shape.thread = static_cast<std::uint32_t>(*thread);
  while (from.left() > 0) {
    const auto fact = from.number(most_fact);
    const auto value = from.number();
    if (!fact || *fact == 0 || !value) return false;
    const auto kind = static_cast<Fact>(*fact);
    const std::int64_t number = has_sign(kind) ? unzigzag(*value) : static_cast<std::int64_t>(*value);
    if (number > static_cast<std::int64_t>(most_number) || number < (has_sign(kind) ? INT32_MIN : 0)) return false;
    shape.facts.push_back({kind, number});
    if (kind == Fact::request) ++shape.requests;
  }
  return true;
}

bool read_duration(NumberReader& from, std::int64_t& ns) {
  const auto code = from.number(time_codes - 1);
  if (!code) return false;
  const std::uint64_t duration = duration_of_code(*code);
  if (duration > most_number) return false;
  ns = static_cast<std::int64_t>(duration);
  return true;
}

bool read_rows(NumberReader& from, Calls& calls) {
  const auto rows = from.number(from.left());
  if (!rows) return false;
  std::vector<NumberReader> columns;
  for (int i = 0; i < 5; ++i) {
    const auto column = from.text();
    if (!column) return false;
    columns.emplace_back(*column);
  }
  for (std::uint64_t i = 0; i < *rows; ++i) {
    Calls::Row row;
    const auto shape = columns[0].number(calls.shapes.size());
    if (!shape || (i == 0 && *shape == 0)) return false;
    row.shape = *shape;
    if (*shape == 0) {
      const auto repeats = columns[4].number(most_number);
      if (!repeats) return false;
      row.repeats = *repeats;
    }
    if (!read_duration(columns[1], row.before_ns) || !read_duration(columns[2], row.without_core_ns) ||
        !read_duration(columns[3], row.during_ns))
      return false;
    calls.rows.push_back(row);
  }
  for (const NumberReader& column : columns)
    if (column.left() > 0) return false;
  return from.left() == 0;
}

bool read_calls(std::string_view payload, std::uint64_t& room, Calls& calls) {
  NumberReader from(payload);
  const auto elapsed = from.number(most_number);
  const auto requests = from.number(most_number);
  const auto functions = from.number(most_functions);
  if (!elapsed || !requests || !functions) return false;
  calls.elapsed_ns = *elapsed;
  calls.requests = *requests;
  for (std::uint64_t i = 0; i < *functions; ++i) {
    const auto number = from.number(most_functions);
    const auto name = from.text();
    if (!number || !name || !known_name(*name)) return false;
    calls.functions[*number] = *name;
  }
  const auto communicators = from.number(from.left());
  if (!communicators) return false;
  for (std::uint64_t i = 0; i < *communicators; ++i) {
    const auto number = from.number(most_number);
    const auto ordinal = from.number();
    Communicator made;
    if (!number || !ordinal || !read_ranks(from, room, made.members) || !read_ranks(from, room, made.remote))
      return false;
    made.ordinal = *ordinal;
    calls.communicators.emplace_back(*number, std::move(made));
  }
  const auto counted = from.number(from.left());
  if (!counted) return false;
  for (std::uint64_t i = 0; i < *counted; ++i) {
    const auto at = from.number(2 * most_functions + 1);
    const auto count = from.number(most_number);
    if (!at || !count || !calls.functions.contains(*at / 2)) return false;
    calls.counted.emplace_back(*at, *count);
  }
  const auto shapes = from.number(from.left());
  if (!shapes) return false;
  for (std::uint64_t i = 0; i < *shapes; ++i) {
    const auto bytes = from.text();
    Shape shape;
    if (!bytes || !read_shape(*bytes, calls.functions, shape)) return false;
    calls.shapes.push_back(std::move(shape));
  }
  return read_rows(from, calls);
}

bool take_head(std::string_view payload, Head& head) {
  NumberReader from(payload);
  const auto rank = from.number(most_ranks - 1);
  const auto ranks = from.number(most_ranks);
  const auto job = from.text();
  const auto mpi = from.text();
  const auto host = from.text();
  const auto began = from.number();
  if (!rank || !ranks || *rank >= *ranks || !job || !mpi || !host || !began) return false;
  head = {*rank, *ranks, std::string(*job), std::string(*mpi), std::string(*host), unzigzag(*began)};
  return true;
}

class FileReader {
 public:
  FileReader(std::string_view bytes, Visitor& visitor) : bytes_(bytes), visitor_(visitor) {
    file_.bytes = bytes.size();
  }

  RankFile read() {
    read_blocks(std::numeric_limits<std::uint64_t>::max());
    if (file_.ended && file_.damages.empty() && told_ != file_.calls)
      damaged(bytes_.size(),
              "the end speaks of " + std::to_string(told_) + " calls, the blocks hold " + std::to_string(file_.calls));
    return std::move(file_);
  }

  /// No block but the first can be a head.
  std::optional<Head> read_head() {
    read_blocks(1);
    return file_.has_head ? std::optional(std::move(file_.head)) : std::nullopt;
  }

 private:
  void read_blocks(std::uint64_t most) {
    if (bytes_.empty()) damaged(0, "the file is empty");
    std::size_t at = 0;
    while (at < bytes_.size() && file_.blocks < most) {
      auto block = read_block(bytes_.substr(at));
      if (block.ok() && take(at, block.value())) {
        at += block.value().bytes;
        continue;
      }
      damaged(at, block.ok() ? "what the block holds cannot be understood" : block.status().wrong());
      at = next_whole_block(at + 1);
    }
  }

  void damaged(std::size_t at, std::string what) {
    file_.damages.push_back({at, std::move(what)});
    visitor_.gap();
  }

  /// The first place from `from` on where a block begins whose checksum is right.
  std::size_t next_whole_block(std::size_t from) {
    while (true) {
      const std::size_t at = next_block(bytes_, from);
      if (at == std::string_view::npos) return bytes_.size();
      if (read_block(bytes_.substr(at)).ok()) return at;
      if (++wrong_blocks_ == most_wrong_blocks) {
        damaged(at, "more than " + std::to_string(most_wrong_blocks) + " blocks are wrong: the rest is not read");
        return bytes_.size();
      }
      from = at + 1;
    }
  }

  bool take(std::size_t at, const Block& block) {
    if (file_.ended) return false;
    if (block.number != expected_ && file_.damages.empty())
      damaged(at, "block " + std::to_string(expected_) + " is missing, block " + std::to_string(block.number) +
                      " stands in its place");
    if (block.number < expected_) return false;
    switch (block.kind) {
      case BlockKind::head:
        if (block.number != 0 || !take_head(block.payload, file_.head)) return false;
        file_.has_head = true;
        break;
      case BlockKind::calls: {
        Calls calls;
        if (!read_calls(block.payload, room_, calls) || !tell(calls)) return false;
        file_.members = most_members - room_;
        break;
      }
      case BlockKind::end:
        if (!take_end(block.payload)) return false;
        break;
      default:
        return false;
    }
    expected_ = block.number + 1;
    ++file_.blocks;
    return true;
  }

  bool take_end(std::string_view payload) {
    NumberReader from(payload);
    const auto ending = from.number(static_cast<std::uint64_t>(Ending::left));
    const auto calls = from.number();
    const auto elapsed = from.number(most_number);
    if (!ending || *ending == 0 || !calls || !elapsed) return false;
    file_.ended = true;
    file_.ending = static_cast<Ending>(*ending);
    file_.elapsed_ns = static_cast<std::int64_t>(*elapsed);
    told_ = *calls;
    return true;
  }

  /// False, before the visitor has heard of anything, where the rows contradict each other.
  bool tell(Calls& calls) {
    std::uint64_t made = 0;
    std::uint64_t sum = file_.calls;
    for (const Calls::Row& row : calls.rows) {
      if (row.shape > 0) made += calls.shapes[row.shape - 1].requests;
      const auto next = arithmetic::checked_add(sum, row.repeats);
      if (!next) return false;
      sum = *next;
    }
    if (made > calls.requests) return false;
    file_.calls = sum;
    file_.elapsed_ns = static_cast<std::int64_t>(calls.elapsed_ns);
    for (const auto& [number, communicator] : calls.communicators) visitor_.communicator(number, communicator);
    for (const auto& [at, count] : calls.counted) visitor_.counted(calls.functions[at / 2], at % 2 == 0, count);
    std::uint64_t requests = calls.requests - made;
    const Shape* shape = nullptr;
    for (const Calls::Row& row : calls.rows) {
      if (row.shape > 0) shape = &calls.shapes[row.shape - 1];
      if (row.shape > 0) requests += shape->requests;
      facts_ = shape->facts;
      for (FactValue& fact : facts_) {
        if (!is_request(fact.fact)) continue;
        const auto ago = static_cast<std::uint64_t>(fact.value);
        fact.value = ago == 0 || ago > requests ? unknown_request : static_cast<std::int64_t>(requests - ago);
      }
      visitor_.call(
          {shape->name, shape->thread, facts_, row.before_ns, row.without_core_ns, row.during_ns, row.repeats});
    }
    return true;
  }

  std::string_view bytes_;
  Visitor& visitor_;
  RankFile file_;
  std::uint64_t expected_ = 0;
  std::uint64_t told_ = 0;
  std::uint64_t room_ = most_members;
  std::size_t wrong_blocks_ = 0;
  std::vector<FactValue> facts_;
};

}  // namespace

RankFile read_rank(std::string_view bytes, Visitor& visitor) {
  return FileReader(bytes, visitor).read();
}

std::optional<Head> read_rank_head(std::string_view bytes) {
  NoCalls nothing;
  return FileReader(bytes, nothing).read_head();
}

}  // namespace holdfast::record
