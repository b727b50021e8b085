#include "simulate/traffic/trace.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "core/arithmetic/checked.h"
#include "core/input/lines.h"
#include "core/input/text_file.h"
#include "core/time/duration.h"

namespace holdfast::simulate {
namespace {

constexpr std::uint32_t most_hosts = 1U << 20;
constexpr std::size_t most_operations = std::size_t{1} << 28;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t from = line.find_first_not_of(" \t\r;");
    if (from == std::string_view::npos) return words;
    const std::size_t to = std::min(line.find_first_of(" \t\r;", from), line.size());
    words.push_back(line.substr(from, to - from));
    line.remove_prefix(to);
  }
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// Of one operation, and of all computations together: 26 days.
constexpr Time longest = never / 4;

/// What both formats share: lines, their numbers, and the first thing that is wrong.
class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : lines_(text), name_(name) {}

  Schedule schedule;

  Result<Schedule> read() {
    while (status_.ok() && lines_.next()) {
      const std::string_view line = lines_.line();
      take(words_of(line.substr(0, comment(line))));
      if (schedule.operations.size() > most_operations) wrong("there are too many operations", "at most 2^28");
    }
    if (status_.ok()) finish();
    if (status_.ok()) check_clock();
    if (!status_.ok()) return status_;
    return std::move(schedule);
  }

 protected:
  virtual ~Reader() = default;
  virtual std::size_t comment(std::string_view line) const = 0;
  virtual void take(const std::vector<std::string_view>& words) = 0;
  virtual void finish() = 0;

  void wrong(std::string what, std::string remedy) {
    if (status_.ok())
      status_ = {Code::bad_input, "reading " + std::string(name_) + " line " + std::to_string(lines_.number()),
                 std::move(what), std::move(remedy)};
  }
  void read_hosts(std::string_view word) {
    const auto hosts = number<std::uint32_t>(word);
    if (!hosts || *hosts == 0 || *hosts > most_hosts)
      return wrong("'" + std::string(word) + "' is no number of hosts", "1 to 1048576");
    schedule.hosts = *hosts;
  }
  std::optional<std::uint32_t> host_number(std::string_view word) {
    const auto host = number<std::uint32_t>(word);
    if (host && *host < schedule.hosts) return host;
    wrong("'" + std::string(word) + "' is no host", "hosts are 0 to " + std::to_string(schedule.hosts) + " - 1");
    return std::nullopt;
  }

  Status status_;

 private:
  /// Computations may follow one another: all of them must fit into the simulated clock, with room for the messages.
  void check_clock() {
    Time sum = 0;
    for (const Schedule::Operation& operation : schedule.operations) {
      sum = arithmetic::checked_add(sum, operation.duration).value_or(never);
      if (sum > longest) return wrong("the computations take more than 26 days in all", "the simulated clock has 106");
    }
  }

  input::Lines lines_;
  std::string_view name_;
};

class TraceReader : public Reader {
 public:
  using Reader::Reader;

 private:
  std::size_t comment(std::string_view line) const override { return std::min(line.find('#'), line.size()); }

  void take(const std::vector<std::string_view>& words) override {
    if (words.empty()) return;
    if (!headed_) {
      headed_ = true;
      if (words.size() != 2 || words[0] != "holdfast-trace" || words[1] != "1")
        wrong("this is no trace", "the first line is 'holdfast-trace 1' (docs/spec/trace.md)");
    } else if (schedule.hosts == 0) {
      if (words.size() != 2 || words[0] != "hosts") return wrong("the number of hosts is missing", "write 'hosts N'");
      read_hosts(words[1]);
      last_.assign(schedule.hosts, Schedule::any);
    } else if (words[0] == "host") {
      if (words.size() != 2) return wrong("a host without its number", "write 'host N'");
      if (const auto host = host_number(words[1])) host_ = *host;
    } else {
      take_operation(words);
    }
  }

  void take_operation(const std::vector<std::string_view>& words) {
    if (host_ == Schedule::any) return wrong("an operation before any host", "write 'host N' first");
    Schedule::Operation operation;
    operation.host = host_;
    std::size_t at = 0;
    if (words[at] == "at") {
      if (words.size() < 3) return wrong("'at' without a time and an operation", "write 'at 3us send ...'");
      if (!read_time(words[1], operation.not_before)) return;
      at = 2;
    }
    const std::string_view verb = words[at];
    const std::size_t left = words.size() - at - 1;
    if (verb == "compute" && left == 1) {
      if (!read_time(words[at + 1], operation.duration)) return;
    } else if ((verb == "send" || verb == "recv") && left >= 1 && left <= 4) {
      if (!read_message(words, at + 1, verb == "send", operation)) return;
    } else {
      return wrong("'" + std::string(verb) + "' is not understood so",
                   "write 'send HOST BYTES [tag N]', 'recv HOST|any [BYTES] [tag N]' or 'compute DURATION'");
    }
    schedule.operations.push_back(operation);
    const auto index = static_cast<std::uint32_t>(schedule.operations.size() - 1);
    if (last_[host_] != Schedule::any) schedule.after(last_[host_], index);
    last_[host_] = index;
  }

  bool read_message(const std::vector<std::string_view>& words, std::size_t at, bool sending,
                    Schedule::Operation& operation) {
    operation.kind = sending ? Schedule::Kind::send : Schedule::Kind::receive;
    if (sending) operation.tag = 0;
    if (sending || words[at] != "any") {
      const auto peer = host_number(words[at]);
      if (!peer) return false;
      operation.peer = *peer;
    }
    ++at;
    if (sending && at == words.size()) return wrong("a send without its bytes", "write 'send HOST BYTES'"), false;
    if (at < words.size() && words[at] != "tag") {
      const auto bytes = number<std::uint64_t>(words[at]);
      if (!bytes || *bytes > std::uint64_t{1} << 40)
        return wrong("'" + std::string(words[at]) + "' is no number of bytes", "0 to 2^40"), false;
      operation.bytes = *bytes;
      ++at;
    }
    if (at == words.size()) return true;
    const auto tag = at + 2 == words.size() && words[at] == "tag" ? number<std::uint32_t>(words[at + 1]) : std::nullopt;
    if (!tag || *tag == Schedule::any)
      return wrong("'" + std::string(words[at]) + "' is not understood here", "write 'tag N'"), false;
    operation.tag = *tag;
    return true;
  }

  bool read_time(std::string_view word, Time& time) {
    const auto read = time::parse_duration(word);
    if (!read.ok() || read.value() > longest / ps_per_ns)
      return wrong("'" + std::string(word) + "' is no duration", "write it as 10us"), false;
    time = read.value() * ps_per_ns;
    return true;
  }

  void finish() override {
    if (schedule.hosts == 0)
      wrong("the trace ends before it names its hosts", "begin with 'holdfast-trace 1', 'hosts N'");
  }

  bool headed_ = false;
  std::uint32_t host_ = Schedule::any;
  std::vector<std::uint32_t> last_;
};

class GoalReader : public Reader {
 public:
  using Reader::Reader;

 private:
  std::size_t comment(std::string_view line) const override { return std::min(line.find("//"), line.size()); }

  void take(const std::vector<std::string_view>& given) override {
    std::vector<std::string_view> words = given;
    if (words.empty()) return;
    if (schedule.hosts == 0) {
      if (words.size() != 2 || words[0] != "num_ranks")
        return wrong("the number of ranks is missing", "write 'num_ranks N'");
      return read_hosts(words[1]);
    }
    if (host_ == Schedule::any) {
      if (words.size() != 3 || words[0] != "rank" || words[2] != "{")
        return wrong("a rank is expected", "write 'rank N {'");
      labels_.clear();
      if (const auto host = host_number(words[1])) host_ = *host;
      return;
    }
    if (words.size() == 1 && words[0] == "}") {
      host_ = Schedule::any;
      return;
    }
    if (words.size() == 3 && (words[1] == "requires" || words[1] == "irequires")) return take_dependency(words);
    std::string_view label;
    if (words[0].ends_with(':')) {
      label = words[0].substr(0, words[0].size() - 1);
      words.erase(words.begin());
      if (words.empty()) return wrong("a label without an operation", "write 'label: send 8b to 1'");
    }
    take_operation(words, label);
  }

  void take_dependency(const std::vector<std::string_view>& words) {
    const auto later = labels_.find(words[0]);
    const auto first = labels_.find(words[2]);
    if (later == labels_.end() || first == labels_.end())
      return wrong(
          "there is no label '" + std::string(later == labels_.end() ? words[0] : words[2]) + "' in this rank yet",
          "define operations before what depends on them");
    auto& operations = schedule.operations;
    auto& list = words[1] == "requires" ? operations[first->second].then : operations[first->second].then_begin;
    list.push_back(later->second);
    ++operations[later->second].waits;
  }

  void take_operation(const std::vector<std::string_view>& words, std::string_view label) {
    Schedule::Operation operation;
    operation.host = host_;
    std::size_t at = 0;
    const std::string_view verb = words[0];
    if (verb == "calc" && words.size() >= 2) {
      const auto nanoseconds = number<std::uint64_t>(words[1]);
      if (!nanoseconds || *nanoseconds > std::uint64_t(longest / ps_per_ns))
        return wrong("'" + std::string(words[1]) + "' is no number of nanoseconds", "write 'calc 100'");
      operation.duration = static_cast<Time>(*nanoseconds) * ps_per_ns;
      at = 2;
    } else if ((verb == "send" || verb == "recv") && words.size() >= 4) {
      const bool sending = verb == "send";
      std::string_view size = words[1];
      if (size.ends_with('b')) size.remove_suffix(1);
      const auto bytes = number<std::uint64_t>(size);
      if (!bytes || *bytes > std::uint64_t{1} << 40 || words[2] != (sending ? "to" : "from"))
        return wrong("'" + std::string(words[1]) + " " + std::string(words[2]) + "' is not understood here",
                     "write 'send 8b to 1' or 'recv 8b from 1'");
      const auto peer = host_number(words[3]);
      if (!peer) return;
      operation.kind = sending ? Schedule::Kind::send : Schedule::Kind::receive;
      operation.bytes = *bytes;
      operation.peer = *peer;
      operation.tag = 0;
      at = 4;
    } else {
      return wrong("'" + std::string(verb) + "' is no operation", "operations are send, recv and calc");
    }
    for (; at + 1 < words.size(); at += 2) {
      const auto value = number<std::uint32_t>(words[at + 1]);
      if (!value || *value >= 1U << 31)
        return wrong("'" + std::string(words[at + 1]) + "' is no number", "write 'tag 5' or 'cpu 0'");
      if (words[at] == "tag")
        operation.tag = *value;
      else if (words[at] == "cpu" && *value < 4096)
        operation.core = *value;
      else if (words[at] != "nic")
        return wrong("'" + std::string(words[at]) + "' is not understood here", "tag, cpu (below 4096) or nic");
    }
    if (at != words.size()) return wrong("'" + std::string(words[at]) + "' lacks a value", "write 'tag 5' or 'cpu 0'");
    schedule.operations.push_back(operation);
    if (label.empty()) return;
    if (!labels_.emplace(label, static_cast<std::uint32_t>(schedule.operations.size() - 1)).second)
      wrong("the label '" + std::string(label) + "' stands twice", "labels are unique within a rank");
  }

  void finish() override {
    if (schedule.hosts == 0) return wrong("the schedule is empty", "begin with 'num_ranks N'");
    if (host_ != Schedule::any) wrong("the last rank does not end", "close it with '}'");
  }

  std::uint32_t host_ = Schedule::any;
  std::map<std::string_view, std::uint32_t> labels_;
};

}  // namespace

Result<Schedule> parse_trace(std::string_view text, std::string_view name) {
  return TraceReader(text, name).read();
}
Result<Schedule> parse_goal(std::string_view text, std::string_view name) {
  return GoalReader(text, name).read();
}

Result<Schedule> read_schedule_file(const std::string& path) {
  const Result<std::string> text = input::read_text_file(path, "the trace");
  if (!text.ok()) return text.status();
  return path.ends_with(".goal") ? parse_goal(text.value(), path) : parse_trace(text.value(), path);
}

}  // namespace holdfast::simulate
