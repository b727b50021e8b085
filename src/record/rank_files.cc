#include "record/rank_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "record/block.h"
#include "record/rank_reader.h"

namespace holdfast::record {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t fewest_digits = 6;
constexpr std::size_t longest_head = 4096;  ///< the first block: names of a job, an MPI and a host
constexpr std::size_t longest_end = 256;    ///< the last one: three numbers

/// At most `length` bytes from there on; fewer, or none, where the file has no more or cannot be read.
std::string part_of(const std::string& path, std::uint64_t offset, std::size_t length) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(length, '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(length));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

bool may_be_replaced(const fs::directory_entry& entry) {
  std::error_code error;
  if (entry.symlink_status(error).type() != fs::file_type::regular) return false;
  const std::string begin = part_of(entry.path().string(), 0, block_header_bytes);
  return begin.empty() ? entry.file_size(error) == 0 && !error : next_block(begin, 0) == 0;
}

}  // namespace

std::string rank_file_name(std::uint64_t rank) {
  const std::string digits = std::to_string(rank);
  return "rank-" + std::string(fewest_digits - std::min(fewest_digits, digits.size()), '0') + digits + ".rec";
}

std::optional<std::uint64_t> rank_of_file(std::string_view name) {
  if (!name.starts_with("rank-") || !name.ends_with(".rec")) return std::nullopt;
  name.remove_prefix(5);
  name.remove_suffix(4);
  std::uint64_t rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  if (error != std::errc() || end != name.data() + name.size() || rank >= std::uint64_t{1} << 24) return std::nullopt;
  return rank;
}

bool may_be_recorded_to(const std::string& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    if (!rank_of_file(entries->path().filename().string()) || !may_be_replaced(*entries)) return false;
  return !error;
}

RankFileState rank_file_state(const std::string& path, const std::string& job) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return RankFileState::none;
  const std::uint64_t size = fs::file_size(path, error);
  const auto first = read_block(part_of(path, 0, longest_head));
  if (error || !first.ok() || first.value().kind != BlockKind::head) return RankFileState::none;
  const auto head = read_rank_head(part_of(path, 0, first.value().bytes));
  if (!head) return RankFileState::none;
  if (head->job != job) return RankFileState::of_other_job;
  const std::string tail = part_of(path, size - std::min<std::uint64_t>(size, longest_end), longest_end);
  for (std::size_t at = next_block(tail, 0); at != std::string::npos; at = next_block(tail, at + 1)) {
    const auto last = read_block(std::string_view(tail).substr(at));
    if (last.ok() && last.value().kind == BlockKind::end && at + last.value().bytes == tail.size())
      return RankFileState::whole;
  }
  return RankFileState::cut;
}

}  // namespace holdfast::record
