#include "cli/settings_flags.h"

#include "core/config/reference.h"

namespace holdfast::cli {

void add_settings_flags(CLI::App& command, config::AnySettings& settings, Status& status, const std::string& group) {
  for (const config::Option& option : settings.table().rows()) {
    const std::string flag = config::flag_name(option.row.name);
    const std::string row(option.row.name);
    command
        .add_option_function<std::string>(
            flag,
            [&settings, &status, row, flag](const std::string& text) {
              const Status set = settings.set(row, text, {config::Source::flag, flag});
              if (!set.ok() && status.ok()) status = set;
            },
            config::doc_line(option.row))
        ->type_name(config::placeholder(option))
        ->group(group);
  }
}

}  // namespace holdfast::cli
