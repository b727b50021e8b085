#include "replicate/launch/plan/hosts.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <thread>
#include <unordered_map>
#include <utility>

#include "replicate/launch/detect/capture.h"
#include "replicate/launch/detect/executable.h"

namespace holdfast::launch {
namespace {

constexpr int most_slots = 1'000'000;  ///< in a line; as many hosts
constexpr int most_in_all = std::numeric_limits<int>::max();
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
    const std::size_t equals = std::min(word.find('='), word.size());
    int number = positive(word.substr(std::min(equals + 1, word.size())));
    bool slots = word.starts_with("slots=");
    if (!slots && !word.starts_with("max_slots=") && !word.starts_with("max-slots="))
      return line.refuse(word, "is not understood");
    if (number == 0) return line.refuse(word, "has no valid number");
    if (slots) host.slots = number;
  }
  return host;
}

/// Hosts in the order in which they were first named, each with the slots of all its lines.
class HostList {
 public:
  /// Error: bad_input, in the words of the caller, when there are too many slots.
  Status add(Host host, const std::string& doing) {
    if (host.slots > most_in_all - slots_)
      return {Code::bad_input, doing, "there are more than " + std::to_string(most_in_all) + " slots",
              "name fewer hosts, or fewer slots of each"};
    slots_ += host.slots;
    const auto [place, is_new] = places_.try_emplace(host.name, hosts_.size());
    if (is_new)
      hosts_.push_back(std::move(host));
    else
      hosts_[place->second].slots += host.slots;
    return {};
  }
  std::vector<Host> take() { return std::move(hosts_); }

 private:
  std::vector<Host> hosts_;
  std::unordered_map<std::string, std::size_t> places_;
  int slots_ = 0;
};

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
  HostList list;
  for (int number = 1; !text.empty(); ++number) {
    std::size_t end = std::min(text.find('\n'), text.size());
    auto host = parse_line(Line(text.substr(0, end), name, number));
    if (!host.ok()) return host.status();
    text.remove_prefix(std::min(end + 1, text.size()));
    if (host.value().name.empty()) continue;
    const std::string doing = "reading the host file " + std::string(name) + ":" + std::to_string(number);
    if (Status room = list.add(std::move(host).value(), doing); !room.ok()) return room;
  }
  std::vector<Host> hosts = list.take();
  if (hosts.empty())
    return Status(Code::bad_input, "reading the host file " + std::string(name), "it names no host",
                  "write one host a line, as in 'node1 slots=4'");
  return hosts;
}

Result<std::vector<int>> parse_slurm_counts(std::string_view text) {
  const Status bad(Code::bad_input, "reading Slurm's processes per node",
                   "'" + std::string(text.substr(0, 80)) + "' is not understood", "give --hostfile");
  std::vector<int> counts;
  while (!text.empty()) {
    std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    std::size_t times = item.find("(x");
    int repeat = 1;
    if (times != std::string_view::npos)
      repeat = item.ends_with(')') ? positive(item.substr(times + 2, item.size() - times - 3)) : 0;
    int count = positive(item.substr(0, times));
    if (count == 0 || repeat == 0 || static_cast<std::size_t>(repeat) > most_slots - counts.size()) return bad;
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
  HostList hosts;
  for (std::size_t i = 0; i < names.value().size(); ++i)
    if (Status room = hosts.add({names.value()[i], counts.value()[i]}, "listing the hosts of this Slurm job");
        !room.ok())
      return room;
  return hosts.take();
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace holdfast::launch
