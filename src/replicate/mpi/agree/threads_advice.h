#pragma once

#include <string>

namespace holdfast::replicate {

/// What to say where copies or calls differ between replicas and threads may be why; empty where they may not.
std::string threads_advice();

}  // namespace holdfast::replicate
