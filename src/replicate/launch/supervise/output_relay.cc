#include "replicate/launch/supervise/output_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/output/standard_output.h"
#include "core/output/write_all.h"
#include "replicate/engine/file_patterns.h"

namespace holdfast::launch {

namespace {

constexpr int show_ms = 20;
constexpr long long most_shown_at_once = 1 << 20;
constexpr std::size_t held_block = 1 << 16;  ///< bytes of held output compared at once
constexpr int looks_of_a_piece = 10;         ///< after which a piece of a line is shown

/// What a file has from byte `from` on, as far as a block goes.
std::string block_of(const std::string& path, long long from) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string block(held_block, '\0');
  const ssize_t got = ::pread(file, block.data(), block.size(), from);
  ::close(file);
  block.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return block;
}

std::size_t common_length(const std::string& one, const std::string& other) {
  const std::size_t both = std::min(one.size(), other.size());
  const auto end = one.begin() + static_cast<std::ptrdiff_t>(both);
  return static_cast<std::size_t>(std::mismatch(one.begin(), end, other.begin()).first - one.begin());
}

/// The longest beginning that more than half of the blocks share.
std::string_view agreed(const std::vector<std::string>& blocks) {
  std::string_view longest;
  for (const std::string& block : blocks) {
    std::vector<std::size_t> lengths;
    for (const std::string& other : blocks) lengths.push_back(common_length(block, other));
    std::sort(lengths.rbegin(), lengths.rend());
    const std::size_t length = lengths[blocks.size() / 2];
    if (length > longest.size()) longest = std::string_view(block).substr(0, length);
  }
  return longest;
}

std::string stem_of(const std::string& folder, int rank, int replica) {
  return folder + "/rank-" + std::to_string(rank) + ".replica-" + std::to_string(replica);
}

/// Of a record, the mark that what started the program sent the stream elsewhere: to the file that it names, which
/// replica 0 alone writes to, or where each replica has its own (replicate/process/streams.cc leaves it).
std::string mark_of(const std::filesystem::path& record) {
  std::filesystem::path mark = record;
  return mark.replace_filename(record.stem().string() + ".elsewhere" + record.extension().string()).string();
}
bool went_elsewhere(const std::string& record) {
  return ::access(mark_of(record).c_str(), F_OK) == 0;
}

/// One stream of one rank, from whichever replica.
struct Shown {
  int rank = 0;
  std::string ending;
  Outlet* to = nullptr;
  long long bytes = 0;  ///< that were shown
  long long size = 0;   ///< of the file at the last look
  int looks = 0;        ///< since it grew
  int before = -1;      ///< the replica that wrote what was shown, while the present leader may have it otherwise
  long long same = 0;   ///< bytes of it that the present leader is known to have alike
};

/// "rank 0's stdout".
std::string words_for(const Shown& stream) {
  return "rank " + std::to_string(stream.rank) + (stream.ending == ".out" ? "'s stdout" : "'s stderr");
}
/// As a pattern of files that may differ names it.
std::string name_of(const Shown& stream) {
  return "rank-" + std::to_string(stream.rank) + (stream.ending == ".out" ? ".stdout" : ".stderr");
}

/// Where the line begins that byte `at` is in; not further back than a block.
long long line_start(const std::string& path, long long at) {
  const long long from = std::max<long long>(0, at - static_cast<long long>(held_block));
  const std::string before = block_of(path, from).substr(0, static_cast<std::size_t>(at - from));
  const std::size_t end = before.rfind('\n');
  return end == std::string::npos ? from : from + static_cast<long long>(end) + 1;
}

}  // namespace

void Outlet::write(std::string_view text) {
  if (error_ == 0) error_ = output::write_all(to_, text);
}

class OutputRelay::Relay {
 public:
  Relay(std::string folder, int ranks, int others_to, std::function<int()> leader, std::string may_differ)
      : others_err_(others_to),
        folder_(std::move(folder)),
        leader_(std::move(leader)),
        may_differ_(std::move(may_differ)) {
    for (int rank = 0; rank < ranks; ++rank) {
      shown_.push_back({rank, ".out", &out_});
      shown_.push_back({rank, ".err", &err_});
    }
    show_others(ranks);
  }
  Relay(std::string folder, int ranks, int others_to, int degree) : others_err_(others_to), folder_(std::move(folder)) {
    for (int rank = 0; rank < ranks; ++rank) {
      for (const auto& [ending, to] : {std::pair{".out", &out_}, std::pair{".err", &err_}}) {
        std::vector<std::string> paths;
        for (int k = 0; k < degree; ++k) paths.push_back(stem_of(folder_, rank, k) + ending);
        held_.emplace_back(std::move(paths), *to);
      }
    }
    show_others(ranks);
  }

  void run(int stop) {
    pollfd wait{stop, POLLIN, 0};
    while (::poll(&wait, 1, show_ms) <= 0) show(false);
    show(true);
    for (HeldStream& stream : held_) unconfirmed_ = stream.show_rest() || unconfirmed_;
    constexpr std::string_view note =
        "holdfast: the end of the output above was not confirmed by a majority of the replicas\n";
    if (unconfirmed_) err_.write(note);
    if (last_ > 0) tell_of_half_written_files();
  }

  /// After run().
  Arrival arrival() const {
    Arrival arrival;
    for (const auto& [outlet, name] : {std::pair{&err_, "standard error"}, std::pair{&out_, "standard output"}}) {
      if (outlet->error() == EPIPE) arrival.reader_has_gone = true;
      if (outlet->error() != 0 && outlet->error() != EPIPE) arrival.status = output::unwritten(outlet->error(), name);
    }
    return arrival;
  }

  const std::vector<WronglyShown>& wrongly_shown() const { return wrongly_shown_; }

 private:
  void show_others(int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      others_.push_back({rank, ".other.out", &out_});
      others_.push_back({rank, ".other.err", &others_err_});
    }
  }
  void show(bool all) {
    for (HeldStream& stream : held_) stream.show();
    const int leader = leader_ ? leader_() : 0;
    if (leader >= 0 && leader != last_) change_to(leader);
    for (std::vector<Shown>* list : {&shown_, &others_})
      for (Shown& stream : *list) {
        const std::string path = stem_of(folder_, stream.rank, last_) + stream.ending;
        const bool rests = note_size(stream, path);  // a question perhaps, whose answer is waited for
        if (stream.size > stream.bytes && went_elsewhere(path)) continue;
        if (!has_caught_up(stream, path, all)) continue;
        stream.bytes += relay_lines(path, stream.bytes, *stream.to, all || rests);
      }
  }
  /// Replica 0 alone wrote to the files that what started the program had opened for its output.
  void tell_of_half_written_files() {
    for (const Shown& stream : shown_) {
      const std::string record = stem_of(folder_, stream.rank, last_) + stream.ending;
      const std::string file = block_of(mark_of(record), 0);
      if (file.empty()) continue;
      err_.write("holdfast: replica 0, which wrote rank " + std::to_string(stream.rank) + "'s output to " + file +
                 ", was taken out: all of it is in " + record + "\n");
    }
  }
  /// Whether the file has not grown for a while.
  static bool note_size(Shown& stream, const std::string& path) {
    struct stat status {};
    const long long size = ::stat(path.c_str(), &status) == 0 ? status.st_size : 0;
    stream.looks = size == stream.size ? stream.looks + 1 : 0;
    stream.size = size;
    return stream.looks >= looks_of_a_piece;
  }
  /// Whether the present leader, whose record is in `path`, has got as far as its predecessor, whose output was shown,
  /// or goes another way.
  bool has_caught_up(Shown& stream, const std::string& path, bool all) {
    const std::string shown = stream.before < 0 ? "" : stem_of(folder_, stream.rank, stream.before) + stream.ending;
    while (stream.before >= 0 && stream.same < stream.bytes) {
      const auto left = static_cast<std::size_t>(stream.bytes - stream.same);
      const std::string theirs = block_of(shown, stream.same).substr(0, left);
      const std::string own = block_of(path, stream.same);
      const std::size_t alike = common_length(theirs, own);
      stream.same += static_cast<long long>(alike);
      if (alike > 0 && alike == theirs.size()) continue;
      const bool ends_here = alike == own.size() && !theirs.empty();
      if (ends_here && !all) return false;
      wrongly_shown_.push_back({stream.rank, stream.ending, stream.before, last_, stream.same});
      if (!ends_here) show_instead(stream, shown, path);
      stream.before = -1;
    }
    stream.before = -1;
    return true;
  }
  /// What the present leader has from the first difference on, after what was shown.
  void show_instead(Shown& stream, const std::string& shown, const std::string& path) {
    if (block_of(shown, stream.bytes - 1).substr(0, 1) != "\n") stream.to->write("\n");
    err_.write("holdfast: the end of " + words_for(stream) + " above is what replica " + std::to_string(stream.before) +
               " wrote, which was taken out, and not what the others wrote: theirs follows\n");
    stream.bytes = line_start(path, stream.same);
  }
  /// What comes from elsewhere than the program is not the same in each replica: it is shown from now on.
  void change_to(int leader) {
    for (Shown& stream : shown_) {
      stream.same = 0;
      if (stream.before >= 0 || replicate::fits_a_pattern(name_of(stream), may_differ_)) continue;
      stream.before = last_;  // else nothing was shown of the last one
    }
    last_ = leader;
    for (Shown& stream : others_) {
      struct stat status {};
      const bool there = ::stat((stem_of(folder_, stream.rank, leader) + stream.ending).c_str(), &status) == 0;
      stream.bytes = there ? status.st_size : 0;
    }
  }

  Outlet out_{STDOUT_FILENO};
  Outlet err_{STDERR_FILENO};
  Outlet others_err_;
  std::string folder_;
  std::function<int()> leader_;
  std::string may_differ_;
  int last_ = 0;
  bool unconfirmed_ = false;
  std::vector<Shown> shown_;
  std::vector<Shown> others_;
  std::vector<HeldStream> held_;
  std::vector<WronglyShown> wrongly_shown_;
};

bool HeldStream::show_next(bool whole_lines) {
  if (went_elsewhere(paths_[0])) return false;
  std::vector<std::string> blocks;
  for (const std::string& path : paths_) blocks.push_back(block_of(path, shown_));
  std::string_view text = agreed(blocks);
  const bool changed = shown_ + static_cast<long long>(text.size()) != seen_;
  seen_ = shown_ + static_cast<long long>(text.size());
  looks_ = changed ? 0 : looks_ + 1;
  if (whole_lines && text.size() < held_block && looks_ < looks_of_a_piece) text = text.substr(0, text.rfind('\n') + 1);
  if (text.empty()) return false;
  to_.write(text);
  shown_ += static_cast<long long>(text.size());
  return true;
}

void HeldStream::show() {
  while (show_next(true)) {
  }
}

bool HeldStream::show_rest() {
  while (show_next(false)) {
  }
  return !went_elsewhere(paths_[0]) && relay_lines(paths_[0], shown_, to_, true) > 0;
}

long long relay_lines(const std::string& path, long long from, Outlet& to, bool all) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || status.st_size <= from) return 0;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  long long shown = 0;
  std::vector<char> block(static_cast<std::size_t>(std::min<long long>(most_shown_at_once, status.st_size - from)));
  while (true) {
    const ssize_t got = ::pread(file, block.data(), block.size(), from + shown);
    if (got <= 0) break;
    auto count = static_cast<std::size_t>(got);
    const bool full = count == block.size() && static_cast<long long>(count) == most_shown_at_once;
    while (!all && !full && count > 0 && block[count - 1] != '\n')
      --count;  // a line longer than a block is not waited for
    if (count == 0) break;
    to.write({block.data(), count});
    shown += static_cast<long long>(count);
  }
  ::close(file);
  return shown;
}

OutputRelay::OutputRelay(std::string run_directory, int ranks, int others_to, std::function<int()> leader,
                         std::string may_differ)
    : stop_(eventfd(0, EFD_CLOEXEC)),
      relay_(std::make_unique<Relay>(std::move(run_directory), ranks, others_to, std::move(leader),
                                     std::move(may_differ))) {
  start();
}

OutputRelay::OutputRelay(std::string run_directory, int ranks, int others_to, int degree)
    : stop_(eventfd(0, EFD_CLOEXEC)),
      relay_(std::make_unique<Relay>(std::move(run_directory), ranks, others_to, degree)) {
  start();
}

void OutputRelay::start() {
  sigset_t all;  // signals belong to the main thread
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { relay_->run(stop_); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Arrival OutputRelay::finish() {
  const std::uint64_t one = 1;
  while (thread_.joinable() && ::write(stop_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  if (thread_.joinable()) thread_.join();
  return relay_->arrival();
}

const std::vector<WronglyShown>& OutputRelay::wrongly_shown() const {
  return relay_->wrongly_shown();
}

OutputRelay::~OutputRelay() {
  (void)finish();
  ::close(stop_);
}

}  // namespace holdfast::launch
