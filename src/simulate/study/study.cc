#include "simulate/study/study.h"

#include <sys/resource.h>

#include <ctime>

#include "core/config/toml_text.h"
#include "core/status/hint.h"

namespace holdfast::simulate::study {

namespace {

Result<toml::table> parse(std::string_view text, std::string_view name) {
  return config::parse_toml(text, std::string(name) + " line ");
}

}  // namespace

Result<std::string> kind_of(std::string_view text, std::string_view name) {
  auto parsed = parse(text, name);
  if (!parsed.ok()) return parsed.status();
  const toml::node_view kind = parsed.value()["study"]["kind"];
  return kind ? kind.value<std::string>().value_or("") : std::string(kind_names[0]);
}

Result<std::unique_ptr<Study>> read_any_study(std::string_view text, std::string_view name) {
  auto parsed = parse(text, name);
  if (!parsed.ok()) return parsed.status();
  const toml::node_view kind = parsed.value()["study"]["kind"];
  if (!kind || kind.value<std::string>() == "throughput") return read_throughput_study(text, name);
  if (kind.value<std::string>() == "collectives") return read_collective_study(text, name);
  const std::string given = kind.value<std::string>().value_or("");
  return Status{Code::bad_input,
                "reading " + std::string(name) + " line " + std::to_string(kind.node()->source().begin.line),
                "there is no kind of study '" + given + "'",
                did_you_mean(given, kind_names, "take throughput, collectives or prediction")};
}

double cpu_seconds() {
  timespec own{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return static_cast<double>(own.tv_sec) + static_cast<double>(own.tv_nsec) * 1e-9 + seconds(children.ru_utime) +
         seconds(children.ru_stime);
}

}  // namespace holdfast::simulate::study
