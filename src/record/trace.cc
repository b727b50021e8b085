#include "record/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "core/arithmetic/totals.h"
#include "core/input/text_file.h"
#include "core/memory/available.h"
#include "record/rank_files.h"
#include "record/totals.h"

namespace holdfast::record {
namespace {

namespace fs = std::filesystem;

Result<std::map<std::uint64_t, std::string>> files_of(const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found)
    return Status(Code::not_found, "reading the trace " + folder, "there is no such folder", "check the name");
  if (status.type() != fs::file_type::directory)
    return Status(Code::bad_input, "reading the trace " + folder,
                  error ? error.message() : "it is no folder, as a recording is", "holdfast run --record makes one");
  std::map<std::uint64_t, std::string> files;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    if (const auto rank = rank_of_file(entries->path().filename().string())) files[*rank] = entries->path().string();
  if (error) return Status(Code::bad_input, "reading the trace " + folder, error.message(), "check its permissions");
  if (files.empty())
    return Status(Code::bad_input, "reading the trace " + folder, "it holds no recording of any rank",
                  "holdfast run --record makes one");
  return files;
}

/// What is kept, at least, of each member of a communicator and of each rank by whoever reads a trace.
constexpr std::uint64_t bytes_a_member = 2 * sizeof(std::int64_t);
constexpr std::uint64_t bytes_a_rank = sizeof(RankFile) + 512;

Status check_fits(const std::string& folder, std::uint64_t what, std::uint64_t bytes_each, std::uint64_t available) {
  return memory::check_estimate("reading the trace " + folder, memory::estimate_product(what, bytes_each),
                                "the recording claims more than it can be of", available);
}

void name_damages(const std::string& path, const RankFile& file, std::vector<std::string>& wrong) {
  for (const Damage& damage : file.damages)
    wrong.push_back(fmt::format("{}: byte {}: {}", path, damage.offset, damage.what));
  if (file.damages.empty() && !file.ended)
    wrong.push_back(fmt::format("{}: byte {}: it ends before the program called MPI_Finalize", path, file.bytes));
  else if (file.ended && file.ending != Ending::finalized)
    wrong.push_back(fmt::format("{}: the program {} before MPI_Finalize", path,
                                file.ending == Ending::aborted ? "called MPI_Abort" : "ended"));
}

}  // namespace

Result<Trace> read_trace(const std::string& folder, const std::function<Visitor&(std::uint64_t rank)>& visitor_of) {
  const auto files = files_of(folder);
  if (!files.ok()) return files.status();
  const std::uint64_t available = memory::available_bytes();
  const auto fits = [&](std::uint64_t what, std::uint64_t bytes_each) {
    return check_fits(folder, what, bytes_each, available);
  };
  Trace trace;
  bool any = false;
  std::uint64_t members = 0;
  for (const auto& [rank, path] : files.value()) {
    const auto bytes = input::read_file(path, "the trace");
    if (!bytes.ok()) return bytes.status();
    RankFile file = read_rank(bytes.value(), visitor_of(rank));
    name_damages(path, file, trace.wrong);
    if (file.has_head && file.head.rank != rank)
      trace.wrong.push_back(fmt::format("{}: it is the recording of rank {}", path, file.head.rank));
    if (file.has_head && trace.ranks == 0) {
      trace.ranks = file.head.ranks;
      trace.job = file.head.job;
      trace.mpi = file.head.mpi;
    } else if (file.has_head && (file.head.job != trace.job || file.head.ranks != trace.ranks)) {
      return Status(Code::bad_input, "reading the trace " + folder, path + " is of another job than the files before",
                    "take files of one recording");
    }
    any |= file.blocks > 0;
    members = arithmetic::add_or_most(members, file.members);
    if (Status room = fits(members, bytes_a_member); !room.ok()) return room;
    if (Status room = fits(trace.ranks, bytes_a_rank); !room.ok()) return room;
    trace.calls = arithmetic::add_or_most(trace.calls, file.calls);
    trace.bytes += file.bytes;
    trace.elapsed_ns = std::max(trace.elapsed_ns, file.elapsed_ns);
    if (trace.files.size() <= rank) trace.files.resize(rank + 1);
    trace.files[rank] = std::move(file);
  }
  if (!any)
    return Status(Code::bad_input, "reading the trace " + folder, trace.wrong.empty() ? "it is empty" : trace.wrong[0],
                  "nothing of it is intact");
  trace.ranks = std::max<std::uint64_t>(trace.ranks, trace.files.size());
  trace.files.resize(trace.ranks);
  std::uint64_t missing = 0;
  for (std::uint64_t rank = 0; rank < trace.ranks; ++rank) {
    if (files.value().contains(rank)) continue;
    if (++missing <= 8)
      trace.wrong.push_back(fmt::format("{}/{}: there is no such file", folder, rank_file_name(rank)));
  }
  if (missing > 8) trace.wrong.push_back(fmt::format("{}: {} ranks are missing in all", folder, missing));
  return trace;
}

Result<std::uint64_t> ranks_of_trace(const std::string& folder) {
  const auto files = files_of(folder);
  if (!files.ok()) return files.status();
  std::uint64_t ranks = files.value().rbegin()->first + 1;
  for (const auto& [rank, path] : files.value()) {
    const auto bytes = input::read_file(path, "the trace");
    if (!bytes.ok()) return bytes.status();
    const auto head = read_rank_head(bytes.value());
    if (!head) continue;
    ranks = std::max(ranks, head->ranks);
    break;
  }
  if (Status room = check_fits(folder, ranks, bytes_a_rank, memory::available_bytes()); !room.ok()) return room;
  return ranks;
}

}  // namespace holdfast::record
