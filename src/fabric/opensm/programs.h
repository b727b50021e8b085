#pragma once

#include <string>

#include "core/status/status.h"

namespace holdfast::fabric::opensm {

/// Absolute paths of what a session runs.
struct Programs {
  std::string ibsim;
  std::string opensm;
  std::string umad2sim;  ///< the preloaded library that connects OpenSM to ibsim
  std::string tap;       ///< our plugin in OpenSM (tap.c)
};

/// Looks on $PATH, in /usr/sbin and where Debian keeps libumad2sim.so; the plugin in $HOLDFAST_LIBRARY_PATH and where
/// Holdfast is built or installed. Error (unavailable): names what is missing and the package to install.
Result<Programs> find_programs();

/// The path of a program on $PATH or in /usr/sbin; empty when there is none.
std::string find_program(const std::string& name);

}  // namespace holdfast::fabric::opensm
