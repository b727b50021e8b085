#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "replicate/launch/detect/program.h"

namespace holdfast::launch {

/// The words of --launcher-args, split as a shell does it (blanks, '...', "...", \), for the launcher of that MPI or
/// for srun. Error: bad_input for a quote that does not end, a word that would be taken for the program, and what
/// Holdfast sets itself: the number of processes, their hosts, variables of its own and LD_PRELOAD, what happens when
/// one dies. Values of options are the launcher's to judge. Pure.
Result<std::vector<std::string>> launcher_args(std::string_view text, Mpi mpi, bool srun);

}  // namespace holdfast::launch
