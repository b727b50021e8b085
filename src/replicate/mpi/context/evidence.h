#pragma once

#include <cstddef>

namespace holdfast::replicate {

/// What this process has seen of corruption, in the run directory (`evidence-<v>.<k>`, lines;
/// launch/compare/corruption.h reads them), at the moment when it saw it: whoever is corrupt, or meets somebody who is,
/// may not live to report it, and the end of such a job is not the application's own. Each once.

/// The injected fault of that index has struck here.
void note_struck(std::size_t fault);
/// A copy that came from there was not the majority's.
void note_wrong_copy(int rank, int replica);

}  // namespace holdfast::replicate
