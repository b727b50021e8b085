#include "cli/study_pool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "cli/numbers.h"
#include "cli/subcommands.h"
#include "replicate/launch/detect/library.h"
#include "simulate/study/rank.h"

namespace holdfast::cli {
namespace {

/// On a terminal a bar that rewrites itself, piped a line each tenth; both on standard error.
class StudyProgress {
 public:
  StudyProgress(bool quiet, std::size_t before)
      : terminal_(::isatty(STDERR_FILENO) != 0), quiet_(quiet), before_(before) {}
  ~StudyProgress() { clear(); }
  StudyProgress(const StudyProgress&) = delete;
  StudyProgress& operator=(const StudyProgress&) = delete;

  void show(const simulate::study::PoolProgress& progress) {
    if (quiet_ || progress.all == 0) return;
    const std::size_t done = before_ + progress.done, all = before_ + progress.all;
    if (terminal_) {
      const auto filled = static_cast<int>(30 * done / all);
      std::fprintf(stderr, "\r\033[K[%.*s%*s] %zu of %zu runs, %zu workers%s", filled, "##############################",
                   30 - filled, "", done, all, progress.workers, left(progress).c_str());
      std::fflush(stderr);
      drawn_ = true;
    } else if (const std::size_t tenth = 10 * done / all; tenth > tenth_ || progress.done == progress.all) {
      if (said_all_) return;
      tenth_ = tenth;
      said_all_ = progress.done == progress.all;
      std::fprintf(stderr, "%zu of %zu runs%s\n", done, all, left(progress).c_str());
    }
  }
  void say(const std::string& words) {
    clear();
    std::fprintf(stderr, "holdfast: %s\n", words.c_str());
  }

 private:
  /// By the time that runs have taken on average since the start.
  std::string left(const simulate::study::PoolProgress& progress) const {
    if (progress.done == 0 || progress.done == progress.all) return "";
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
    const auto seconds = static_cast<long>(spent / static_cast<double>(progress.done) *
                                           static_cast<double>(progress.all - progress.done));
    if (seconds >= 3600) return fmt::format(", {} h {:02} min left", seconds / 3600, seconds / 60 % 60);
    if (seconds >= 60) return fmt::format(", {} min {:02} s left", seconds / 60, seconds % 60);
    return fmt::format(", {} s left", seconds);
  }
  void clear() {
    if (drawn_) std::fprintf(stderr, "\r\033[K");
    drawn_ = false;
  }

  bool terminal_, quiet_;
  std::size_t before_;
  bool drawn_ = false;
  std::size_t tenth_ = 0;
  bool said_all_ = false;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
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
