#include "fabric/faults/failure_log.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <utility>

#include "core/input/lines.h"
#include "core/status/hint.h"

namespace holdfast::fabric {
namespace {

using Fields = std::vector<std::string_view>;

std::string_view without_spaces(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Fields fields_of(std::string_view line) {
  Fields fields;
  for (;;) {
    const std::size_t comma = line.find(',');
    fields.push_back(without_spaces(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <class Number>
bool read_digits(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && text.front() != '-';
}

/// "04:30" or "04:30:15", in seconds of the day.
bool read_clock(std::string_view text, std::int64_t& seconds) {
  if ((text.size() != 5 && text.size() != 8) || text[2] != ':' || (text.size() == 8 && text[5] != ':')) return false;
  unsigned hour = 0, minute = 0, second = 0;
  if (!read_digits(text.substr(0, 2), hour) || !read_digits(text.substr(3, 2), minute)) return false;
  if (text.size() == 8 && !read_digits(text.substr(6, 2), second)) return false;
  if (hour > 23 || minute > 59 || second > 60) return false;
  seconds = std::int64_t{3600} * hour + 60 * minute + second;
  return true;
}

/// "2010-09-17", "2010-09-17T04:30", "2010-09-17T04:30:15", with a Z or without.
bool read_moment(std::string_view text, std::int64_t& seconds) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return false;
  int year = 0;
  unsigned month = 0, day = 0;
  if (!read_digits(text.substr(0, 4), year) || !read_digits(text.substr(5, 2), month) ||
      !read_digits(text.substr(8, 2), day))
    return false;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!date.ok()) return false;
  std::int64_t clock = 0;
  if (text.size() > 10 && ((text[10] != 'T' && text[10] != ' ') || !read_clock(text.substr(11), clock))) return false;
  seconds = std::int64_t{86'400} * std::chrono::sys_days(date).time_since_epoch().count() + clock;
  return true;
}

class LogReader {
 public:
  explicit LogReader(std::string_view name) : name_(name) {}

  Result<FailureLog> read(std::string_view text) {
    for (input::Lines lines(text); status_.ok() && lines.next();) {
      line_ = lines.number();
      const std::string_view line = without_spaces(lines.line());
      if (!line.empty() && line.front() != '#') read_line(fields_of(line));
    }
    if (status_.ok()) finish();
    if (!status_.ok()) return status_;
    return std::move(log_);
  }

 private:
  void fail(std::string wrong, std::string remedy = "see docs/spec/failure-log.md") {
    if (status_.ok())
      status_ = {Code::bad_input, "reading " + name_ + (line_ == 0 ? "" : " line " + std::to_string(line_)),
                 std::move(wrong), std::move(remedy)};
  }

  void read_line(const Fields& fields) {
    constexpr std::array<std::string_view, 3> words = {"observed", "parts", "failed"};
    if (fields[0] == words[0] && fields.size() == 3) return read_observed(fields);
    if (fields[0] == words[1] && fields.size() == 3) return read_parts(fields);
    if (fields[0] == words[2] && (fields.size() == 4 || fields.size() == 5)) return read_failure(fields);
    if (std::ranges::find(words, fields[0]) != words.end())
      return fail("'" + std::string(fields[0]) + "' with " + std::to_string(fields.size() - 1) + " values");
    fail("no line begins with '" + std::string(fields[0]) + "'",
         did_you_mean(std::string(fields[0]), words, "one of observed, parts, failed"));
  }

  void read_observed(const Fields& fields) {
    if (observed_) return fail("it was observed twice", "give one time");
    observed_ = true;
    log_.from_s = moment(fields[1]);
    log_.to_s = moment(fields[2]);
    if (log_.to_s <= log_.from_s) fail("the observation ends before it begins", "observed, FROM, TO");
  }

  std::int64_t moment(std::string_view text) {
    std::int64_t seconds = 0;
    if (!read_moment(text, seconds)) fail("'" + std::string(text) + "' is no time", "as in 2010-09-17T04:30");
    return seconds;
  }

  std::size_t kind(std::string_view text) {
    constexpr std::array<std::string_view, 3> kinds = {"link", "switch", "adapter"};
    const auto found = std::ranges::find(kinds, text);
    if (found != kinds.end()) return static_cast<std::size_t>(found - kinds.begin());
    fail("there is no kind '" + std::string(text) + "'",
         did_you_mean(std::string(text), kinds, "one of link, switch, adapter"));
    return 0;
  }

  void read_parts(const Fields& fields) {
    std::uint64_t& parts = log_.parts[kind(fields[1])];
    if (parts != 0) return fail("the number of these parts is given twice", "give it once");
    if (fields[2].empty() || !read_digits(fields[2], parts) || parts < 1 || parts > most_logged_parts)
      fail("'" + std::string(fields[2]) + "' is no number of parts", "1 to " + std::to_string(most_logged_parts));
  }

  void read_failure(const Fields& fields) {
    FailureLog::Entry entry;
    entry.component = ageing_components[kind(fields[1])];
    entry.part = fields[2];
    if (entry.part.empty()) fail("the part has no name", "failed, KIND, PART, TIME, REPAIRED");
    entry.failed_s = moment(fields[3]);
    if (fields.size() == 5 && !fields[4].empty()) entry.repaired_s = moment(fields[4]);
    if (entry.repaired_s && *entry.repaired_s < entry.failed_s) fail("it was repaired before it failed", "look again");
    lines_.push_back(line_);
    log_.entries.push_back(std::move(entry));
  }

  void finish() {
    line_ = 0;
    if (!observed_) return fail("it does not say when the network was observed", "write observed, FROM, TO");
    std::map<std::pair<std::size_t, std::string_view>, std::vector<std::size_t>> by_part;
    std::array<std::uint64_t, 3> named = {};
    for (std::size_t i = 0; i < log_.entries.size() && status_.ok(); ++i) {
      const FailureLog::Entry& entry = log_.entries[i];
      line_ = lines_[i];
      const auto which =
          static_cast<std::size_t>(std::ranges::find(ageing_components, entry.component) - ageing_components.begin());
      if (entry.failed_s < log_.from_s || entry.failed_s > log_.to_s)
        fail("it failed while nobody observed it", "leave it out, or observe longer");
      auto& failures = by_part[{which, entry.part}];
      if (failures.empty() && ++named[which] > log_.parts[which])
        fail(
            log_.parts[which] == 0 ? "the number of these parts is not given" : "more parts have failed than there are",
            "write parts, KIND, NUMBER");
      failures.push_back(i);
    }
    for (auto& [part, failures] : by_part) check_part(failures);
  }

  /// One part's failures, which the file may have in any order.
  void check_part(std::vector<std::size_t>& failures) {
    const auto& entries = log_.entries;
    std::ranges::sort(failures, {}, [&](std::size_t i) { return entries[i].failed_s; });
    for (std::size_t i = 1; i < failures.size(); ++i) {
      const FailureLog::Entry& before = entries[failures[i - 1]];
      line_ = lines_[failures[i]];
      if (!before.repaired_s || *before.repaired_s > entries[failures[i]].failed_s)
        fail("'" + before.part + "' fails again before it was repaired",
             "give the repair, or leave the second one out");
    }
  }

  std::string name_;
  FailureLog log_;
  Status status_;
  std::vector<std::size_t> lines_;  // of the entries
  std::size_t line_ = 0;
  bool observed_ = false;
};

}  // namespace

Result<FailureLog> parse_failure_log(std::string_view text, std::string_view name) {
  return LogReader(name).read(text);
}

}  // namespace holdfast::fabric
