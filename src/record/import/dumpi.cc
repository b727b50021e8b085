#include "record/import/dumpi.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "core/input/text_file.h"
#include "core/output/output_file.h"
#include "record/import/dumpi_communicators.h"
#include "record/import/dumpi_rank.h"
#include "record/import/dumpi_text.h"
#include "record/import/imported_rank.h"
#include "record/rank_files.h"

namespace holdfast::record {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view remedy = "'dumpi2ascii -a FILE.bin > FILE.txt' makes one text of each rank";

/// The digits that a name without its last part ends in: 3 of "dumpi-2013.09.26-0003.txt".
std::optional<std::uint64_t> rank_in(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".bin" || extension == ".meta") return std::nullopt;
  const bool is_number = extension.find_first_not_of("0123456789", 1) == std::string::npos && extension.size() > 1;
  const std::string stem = is_number ? path.filename().string() : path.stem().string();
  const std::size_t begin = stem.find_last_not_of("0123456789") + 1;
  std::uint64_t rank = 0;
  const auto [end, error] = std::from_chars(stem.data() + begin, stem.data() + stem.size(), rank);
  if (begin == stem.size() || error != std::errc() || rank >= std::uint64_t{1} << 24) return std::nullopt;
  return rank;
}

Status bad(const std::string& from, std::string what) {
  return Status(Code::bad_input, "reading the DUMPI trace " + from, std::move(what), std::string(remedy));
}

Result<std::vector<std::string>> texts_of(const std::string& from) {
  std::map<std::uint64_t, std::string> texts;
  std::error_code error;
  fs::directory_iterator entries(from, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const auto rank = rank_in(entries->path());
    if (!rank) continue;
    const auto [known, is_new] = texts.try_emplace(*rank, entries->path().string());
    if (!is_new)
      return bad(from, fmt::format("{} and {} are both of rank {}", fs::path(known->second).filename().string(),
                                   entries->path().filename().string(), *rank));
  }
  if (error) return Status(Code::bad_input, "reading the DUMPI trace " + from, error.message(), "check its name");
  if (texts.empty()) return bad(from, "it holds no text whose name ends in a rank");
  std::vector<std::string> in_order;
  for (auto& [rank, path] : texts) {
    if (rank != in_order.size()) return bad(from, fmt::format("the text of rank {} is missing", in_order.size()));
    in_order.push_back(std::move(path));
  }
  return in_order;
}

/// Goes through a rank's calls.
template <class Take>
Result<DumpiReader> read_calls(const std::string& path, const std::string& text, Take&& take) {
  DumpiReader reader(text);
  DumpiCall call;
  while (true) {
    const auto more = reader.next(call);
    if (!more.ok())
      return Status(more.status().code(), "reading " + path + ": " + more.status().doing(), more.status().wrong(),
                    more.status().remedy());
    if (!more.value()) break;
    take(call);
  }
  if (reader.calls() == 0)
    return Status(Code::bad_input, "reading " + path, "it holds no call of MPI", std::string(remedy));
  return reader;
}

struct FirstLook {
  std::vector<std::map<std::int64_t, std::int64_t>> datatype_bytes;
  std::vector<std::string> hosts;
};

Result<FirstLook> look(const std::vector<std::string>& paths, DumpiCommunicators& communicators) {
  FirstLook seen;
  for (std::uint64_t rank = 0; rank < paths.size(); ++rank) {
    const auto text = input::read_text_file(paths[rank], "a text of dumpi2ascii");
    if (!text.ok()) return text.status();
    const auto reader =
        read_calls(paths[rank], text.value(), [&](const DumpiCall& call) { communicators.take(rank, call); });
    if (!reader.ok()) return reader.status();
    seen.datatype_bytes.push_back(reader.value().datatype_bytes());
    seen.hosts.push_back(reader.value().host());
  }
  communicators.resolve();
  return seen;
}

void note(std::vector<std::string>& notes, const std::string& path, std::uint64_t calls, std::string_view what) {
  if (calls > 0) notes.push_back(fmt::format("{}: {} calls {}", path, calls, what));
}

}  // namespace

Result<Imported> import_dumpi(const std::string& from, const std::string& to) {
  const auto paths = texts_of(from);
  if (!paths.ok()) return paths.status();
  std::error_code error;
  if (fs::exists(to, error) && (!fs::is_directory(to, error) || !fs::is_empty(to, error)))
    return Status(Code::bad_input, "writing the trace " + to, "it holds something already",
                  "name a folder that is empty or not there");
  const std::uint64_t ranks = paths.value().size();
  DumpiCommunicators communicators(ranks);
  auto seen = look(paths.value(), communicators);
  if (!seen.ok()) return seen.status();
  fs::create_directories(to, error);
  if (error) return Status(Code::io, "making the folder " + to, error.message(), "check its permissions");
  Imported imported;
  imported.ranks = ranks;
  const std::string job = fs::path(from).lexically_normal().string();
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const std::string& path = paths.value()[rank];
    const auto text = input::read_text_file(path, "a text of dumpi2ascii");
    if (!text.ok()) return text.status();
    ImportedRank made({rank, ranks, job, "dumpi", seen.value().hosts[rank], 0});
    DumpiRank calls(rank, communicators, std::move(seen.value().datatype_bytes[rank]), made);
    const auto reader = read_calls(path, text.value(), [&](const DumpiCall& call) { calls.take(call); });
    if (!reader.ok()) return reader.status();
    imported.calls += reader.value().calls();
    note(imported.notes, path, calls.unknown_sizes(),
         "have a datatype of unknown size: each element is taken for a byte");
    note(imported.notes, path, calls.unknown_communicators(), "on a communicator of unknown members are left out");
    const Status written = output::write_file(to + "/" + rank_file_name(rank), made.finish(calls.ending()));
    if (!written.ok()) return written;
  }
  return imported;
}

}  // namespace holdfast::record
