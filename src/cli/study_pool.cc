#include "cli/study_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "cli/numbers.h"
#include "cli/progress_line.h"
#include "cli/subcommands.h"
#include "replicate/launch/detect/library.h"
#include "simulate/study/rank.h"

namespace holdfast::cli {
namespace {

/// "12 of 40 runs, 2 workers, 34 s left", by the time that runs have taken on average since the start.
class StudyProgress {
 public:
  StudyProgress(bool quiet, std::size_t before) : line_(!quiet), before_(before) {}

  void show(const simulate::study::PoolProgress& progress) {
    if (progress.all == 0 || !line_.due()) return;
    const std::size_t done = before_ + progress.done, all = before_ + progress.all;
    line_.draw(fmt::format("{} {} of {} runs, {} workers{}",
                           ProgressLine::bar(static_cast<double>(done) / static_cast<double>(all)), done, all,
                           progress.workers, left(progress)));
  }
  void say(const std::string& words) {
    line_.clear();
    std::fprintf(stderr, "holdfast: %s\n", words.c_str());
  }

 private:
  std::string left(const simulate::study::PoolProgress& progress) const {
    if (progress.done == 0 || progress.done == progress.all) return "";
    const auto seconds = static_cast<long>(line_.seconds() / static_cast<double>(progress.done) *
                                           static_cast<double>(progress.all - progress.done));
    if (seconds >= 3600) return fmt::format(", {} h {:02} min left", seconds / 3600, seconds / 60 % 60);
    if (seconds >= 60) return fmt::format(", {} min {:02} s left", seconds / 60, seconds % 60);
    return fmt::format(", {} s left", seconds);
  }

  ProgressLine line_;
  std::size_t before_;
};

/// Where libraries are: beside this program.
std::vector<std::string> library_folders() {
  std::error_code none;
  const char* users = std::getenv("HOLDFAST_LIBRARY_PATH");
  return launch::library_folders(std::filesystem::read_symlink("/proc/self/exe", none).parent_path().string(),
                                 users != nullptr ? users : "");
}

}  // namespace

void add_pool_flags(CLI::App& command, unsigned& workers, std::string& silence) {
  command.add_option("--workers", workers, "Processes. Default: one a core; one a rank under mpirun or srun")
      ->type_name("N")
      ->check(whole_number(1, most_workers));
  command.add_option("--silence", silence, "After which a silent rank is given up and its run goes to another")
      ->type_name("DURATION")
      ->capture_default_str();
}

simulate::study::PoolEnd run_points(const simulate::study::Study& study, const std::vector<std::size_t>& todo,
                                    const PoolUse& use, std::size_t found, simulate::study::Database& database,
                                    std::size_t& added) {
  simulate::study::PoolOptions options;
  options.workers = use.workers > 0           ? use.workers
                    : use.messages != nullptr ? 1
                                              : std::max(1U, std::thread::hardware_concurrency());
  options.messages = use.messages;
  options.silence_ns = use.silence_ns;
  StudyProgress progress(use.quiet, found);
  return run_pool(study, todo, options,
                  {.finished =
                       [&](std::size_t run, const simulate::study::Finished& what) {
                         Status status = database.add(study.points[run], what);
                         added += status.ok() ? 1 : 0;
                         return status;
                       },
                   .progress = [&](const simulate::study::PoolProgress& how) { progress.show(how); },
                   .trouble = [&](const std::string& words) { progress.say(words); }});
}

int run_in_job(const simulate::study::Study& study, std::int64_t silence_ns,
               const std::function<int(simulate::study::Messages*)>& coordinate) {
  const simulate::study::JobPlace place = simulate::study::job_place();
  std::unique_ptr<simulate::study::Messages> messages;
  if (place.size > 1) {
    auto loaded = simulate::study::load_mpi(place, library_folders());
    if (!loaded.ok()) return complain(loaded.status());
    messages = std::move(loaded).value();
  }
  if (place.rank == 0) return coordinate(messages.get());
  const Status status = simulate::study::serve_rank(study, *messages, silence_ns);
  return status.ok() ? 0 : complain(status);
}

}  // namespace holdfast::cli
