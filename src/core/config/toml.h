#pragma once

/// toml++ as Holdfast compiles it: errors as values, in the source that includes this. For sources; it is long to read.

#define TOML_EXCEPTIONS 0
#define TOML_ASSERT(expression) static_cast<void>(0)  // its parser asserts on "[#", which it then refuses
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>
