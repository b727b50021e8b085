#include <unistd.h>

#include "core/config/environment.h"
#include "real_functions.h"
#include "replicate/engine/options.h"

namespace holdfast::replicate {

// replicate.chain lets another profiling tool, preloaded after this library, see the calls as well.
Entry chosen_entry() {
  config::Settings<Options> settings(options_table());
  return config::read_environment(settings, environ).ok() && settings.options().chain ? Entry::next_tool
                                                                                      : Entry::library;
}

}  // namespace holdfast::replicate
