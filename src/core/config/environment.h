#pragma once

#include "core/config/settings.h"
#include "core/status/status.h"

namespace holdfast::config {

/// Reads every variable HOLDFAST_<COMPONENT>_* into the settings of that component. `environment` is a null-terminated
/// array of "NAME=text", as in ::environ. Errors (bad_input): a variable of the component that is no option, with a
/// hint; a bad value. Stops at the first. Usable inside a preloaded library: it needs the standard library alone, and
/// throws nothing but bad_alloc.
Status read_environment(AnySettings& settings, const char* const* environment);

}  // namespace holdfast::config
