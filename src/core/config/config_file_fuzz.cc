// Any text, as a configuration file, as environment variables and as the value of an option, is either refused with a
// one-line message, or gives values within their bounds that are written and read back as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/config/environment.h"
#include "core/config/sample_options_for_tests.h"
#include "core/config/toml_file.h"

namespace {

using namespace holdfast::config;

bool one_line(const holdfast::Status& status) {
  return status.message().find('\n') == std::string::npos;
}

void require(bool held) {
  if (!held) std::abort();
}

bool in_bounds(const sample::Options& options) {
  return options.ack_delay_ns >= 1'000 && options.ack_delay_ns <= 10'000'000'000 && options.offset >= -10 &&
         options.window >= 1 && options.window <= 4096 && options.degree >= 1 && options.share >= 0 &&
         options.share <= 1 && static_cast<std::size_t>(options.protocol) < std::size(sample::protocols);
}

/// What is written of the settings, or handed on, gives the same ones.
void require_round_trip(const AnySettings& settings) {
  Settings<sample::Options> written(sample::table()), handed(sample::table());
  for (const AnySettings::Shown& row : settings.show())
    require(written.set(row.option->row.name, row.value, {Source::flag, "again"}).ok());
  std::vector<std::string> entries;
  for (const auto& [name, text] : settings.to_environment()) entries.push_back(name + "=" + text);
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  environment.push_back(nullptr);
  require(read_environment(handed, environment.data()).ok());
  const auto shown = settings.show(), again = written.show(), there = handed.show();
  for (std::size_t i = 0; i < shown.size(); ++i) {
    require(again[i].value == shown[i].value);
    // A variable ends at its first byte of 0.
    require(there[i].value == shown[i].value.substr(0, shown[i].value.find('\0')));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Settings<sample::Options> file(sample::table()), variables(sample::table()), values(sample::table());
  AnySettings* const all[] = {&file};
  const holdfast::Status read = read_toml(text, "fuzz.toml", all);
  require(read.ok() || one_line(read));
  std::vector<std::string> entries;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    entries.push_back("HOLDFAST_REPLICATE_" + text.substr(at, end - at));
    at = end + 1;
  }
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  environment.push_back(nullptr);
  (void)read_environment(variables, environment.data());
  for (const Option& option : sample::table().rows()) (void)values.set(option.row.name, text, {Source::flag, "--x"});
  for (const Settings<sample::Options>* settings : {&file, &variables, &values}) {
    require(in_bounds(settings->options()));
    require_round_trip(*settings);
  }
  return 0;
}
