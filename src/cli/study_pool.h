#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulate/study/database.h"
#include "simulate/study/pool.h"

/// How `holdfast study run` and `holdfast predict` spread runs over processes and over the ranks of a job.
namespace holdfast::cli {

struct PoolUse {
  unsigned workers = 0;  ///< 0: one a core; in a job one a rank
  bool quiet = false;
  std::int64_t silence_ns = 0;
  simulate::study::Messages* messages = nullptr;
};

/// --workers and --silence (a duration as it was written, with its default in it). Both live as long as the command.
void add_pool_flags(CLI::App& command, unsigned& workers, std::string& silence);

/// Runs these points, with a progress bar, and writes each into the database before the next. `found` were there
/// before; `added` counts.
simulate::study::PoolEnd run_points(const simulate::study::Study& study, const std::vector<std::size_t>& todo,
                                    const PoolUse& use, std::size_t found, simulate::study::Database& database,
                                    std::size_t& added);

/// Calls `coordinate` where this process is alone, or rank 0 of a job of mpirun or srun; other ranks serve it. The exit
/// code.
int run_in_job(const simulate::study::Study& study, std::int64_t silence_ns,
               const std::function<int(simulate::study::Messages*)>& coordinate);

}  // namespace holdfast::cli
