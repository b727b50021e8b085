#include "replicate/launch/plan/hosts.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <thread>

#include "replicate/launch/detect/capture.h"
#include "replicate/launch/detect/executable.h"

namespace holdfast::launch {
namespace {

constexpr int most_slots = 1'000'000;
constexpr std::string_view blanks = " \t\r";

/// A positive number that is all of `text`, 0 when it is none.
int positive(std::string_view text) {
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number > 0 && number <= most_slots ? number : 0;
}

/// One line of a host file, taken word by word.
class Line {
 public:
  Line(std::string_view text, std::string_view file, int number)
      : text_(text.substr(0, text.find('#'))), file_(file), number_(number) {}

  /// The next word; empty at the end.
  std::string_view word() {
    start_ = text_.find_first_not_of(blanks, end_);
    if (start_ == std::string_view::npos) return {};
    end_ = std::min(text_.find_first_of(blanks, start_), text_.size());
    return text_.substr(start_, end_ - start_);
  }
  Status refuse(std::string_view word, std::string wrong) const {
    return {Code::bad_input,
            "reading the host file " + std::string(file_) + ":" + std::to_string(number_) + ":" +
                std::to_string(start_ + 1),
            "'" + std::string(word) + "' " + std::move(wrong), "write 'name', 'name slots=4' or 'name:4'"};
  }

 private:
  std::string_view text_;
  std::string_view file_;
  int number_;
  std::size_t start_ = 0;
  std::size_t end_ = 0;
};

/// The host of a line; no name for a blank one.
Result<Host> parse_line(Line line) {
  std::string_view first = line.word();
  Host host{std::string(first.substr(0, first.find(':'))), 1};
  if (first.empty()) return host;
  if (host.name.empty()) return line.refuse(first, "has no host name");
  if (std::size_t colon = first.find(':'); colon != std::string_view::npos) {
    host.slots = positive(first.substr(colon + 1));
    if (host.slots == 0) return line.refuse(first, "has no valid number of slots after the ':'");
  }
  for (std::string_view word = line.word(); !word.empty(); word = line.word()) {
    int number = positive(word.substr(std::min(word.find('=') + 1, word.size())));
    bool slots = word.starts_with("slots=");
    if (!slots && !word.starts_with("max_slots=") && !word.starts_with("max-slots="))
      return line.refuse(word, "is not understood");
    if (number == 0) return line.refuse(word, "has no valid number");
    if (slots) host.slots = number;
  }
  return host;
}

void add(std::vector<Host>& hosts, Host host) {
  auto same = std::find_if(hosts.begin(), hosts.end(), [&](const Host& other) { return other.name == host.name; });
  if (same == hosts.end())
    hosts.push_back(std::move(host));
  else
    same->slots += host.slots;
}

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

Result<std::vector<std::string>> slurm_names(std::string_view list) {
  auto scontrol = find_executable("scontrol");
  const std::string doing = "listing the hosts of this Slurm job";
  if (!scontrol.ok()) return Status(Code::unavailable, doing, "scontrol is not in PATH", "give --hostfile");
  auto said = capture({scontrol.value(), "show", "hostnames", std::string(list)});
  if (!said.ok()) return said.status();
  if (said.value().exit_status != 0)
    return Status(Code::unavailable, doing, "scontrol failed: " + said.value().errors, "give --hostfile");
  std::vector<std::string> names;
  std::string_view text = said.value().output;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) names.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

}  // namespace

Result<std::vector<Host>> parse_hostfile(std::string_view text, std::string_view name) {
  std::vector<Host> hosts;
  for (int number = 1; !text.empty(); ++number) {
    std::size_t end = std::min(text.find('\n'), text.size());
    auto host = parse_line(Line(text.substr(0, end), name, number));
    if (!host.ok()) return host.status();
    if (!host.value().name.empty()) add(hosts, host.value());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (hosts.empty())
    return Status(Code::bad_input, "reading the host file " + std::string(name), "it names no host",
                  "write one host a line, as in 'node1 slots=4'");
  return hosts;
}

Result<std::vector<int>> parse_slurm_counts(std::string_view text) {
  const Status bad(Code::bad_input, "reading Slurm's processes per node",
                   "'" + std::string(text) + "' is not understood", "give --hostfile");
  std::vector<int> counts;
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    std::size_t times = item.find("(x");
    int repeat = 1;
    if (times != std::string_view::npos)
      repeat = item.ends_with(')') ? positive(item.substr(times + 2, item.size() - times - 3)) : 0;
    int count = positive(item.substr(0, times));
    if (count == 0 || repeat == 0) return bad;
    counts.insert(counts.end(), repeat, count);
  }
  if (counts.empty()) return bad;
  return counts;
}

Result<std::vector<Host>> slurm_hosts() {
  std::string_view list = variable("SLURM_JOB_NODELIST");
  if (list.empty()) return std::vector<Host>();
  auto names = slurm_names(list);
  if (!names.ok()) return names.status();
  std::string_view tasks = variable("SLURM_TASKS_PER_NODE");
  auto counts = parse_slurm_counts(tasks.empty() ? variable("SLURM_JOB_CPUS_PER_NODE") : tasks);
  if (!counts.ok()) return counts.status();
  if (counts.value().size() != names.value().size())
    return Status(Code::bad_input, "listing the hosts of this Slurm job",
                  "Slurm's names and counts do not fit together", "give --hostfile");
  std::vector<Host> hosts;
  for (std::size_t i = 0; i < names.value().size(); ++i) add(hosts, {names.value()[i], counts.value()[i]});
  return hosts;
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace holdfast::launch
