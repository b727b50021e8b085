#include "transport/ofi/parameters.h"

#include <algorithm>
#include <string>

#include "core/config/environment.h"
#include "transport/engine/options.h"
#include "transport/rail/rail_options.h"

extern char** environ;

namespace holdfast::transport::ofi {

namespace {

/// "transport.fragment_bytes" is the parameter transport_fragment_bytes.
std::string parameter_name(std::string_view option) {
  std::string name(option);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace

void define_parameters(fi_provider& provider) {
  for (const config::AnyTable* table : {static_cast<const config::AnyTable*>(&options_table()),
                                        static_cast<const config::AnyTable*>(&rail_options_table())}) {
    for (const config::Option& option : table->rows()) {
      const std::string unit = option.row.unit.empty() ? "" : " " + std::string(option.row.unit);
      const std::string text = std::string(option.row.doc) +
                               " (default: " + (option.row.initial.empty() ? "none" : std::string(option.row.initial)) +
                               unit + ")";
      fi_param_define(&provider, parameter_name(option.row.name).c_str(), FI_PARAM_STRING, "%s", text.c_str());
    }
  }
}

Status read_parameters(config::AnySettings& settings) {
  if (Status status = config::read_environment(settings, environ); !status.ok()) return status;
  for (const config::Option& option : settings.table().rows()) {
    const std::string name = parameter_name(option.row.name);
    char* text = nullptr;
    if (fi_param_get_str(&provider(), name.c_str(), &text) != 0 || text == nullptr) continue;
    std::string variable = "FI_HOLDFAST_" + name;
    std::transform(variable.begin(), variable.end(), variable.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    config::Origin origin{config::Source::environment, std::move(variable)};
    if (Status status = settings.set(option.row.name, text, std::move(origin)); !status.ok()) return status;
  }
  return {};
}

}  // namespace holdfast::transport::ofi
