#include "replicate/launch/compare/stream_comparison.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <utility>

#include "core/integrity/digest.h"
#include "replicate/engine/file_patterns.h"
#include "replicate/launch/compare/file_state.h"

namespace holdfast::launch {
namespace {

using replicate::FilePlace;

constexpr std::int64_t before_shown = 20;  ///< bytes of the line in front of a difference
constexpr std::size_t most_shown = 60;

/// One stream of one rank, as its replicas have recorded it.
struct Stream {
  std::vector<FilePlace> places;
  std::vector<FileState> states;
  bool alike() const {
    return std::all_of(states.begin(), states.end(), [&](const FileState& state) { return state == states[0]; });
  }
};

/// Who wrote nothing has an empty record.
FilePlace place_of(const std::string& path) {
  FilePlace place;
  place.path = path;
  if (::lstat(path.c_str(), &place.status) == 0) place.layer = FilePlace::Layer::real;
  return place;
}

std::int64_t line_of(const std::string& path, std::int64_t byte) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> block(1 << 20);
  std::int64_t line = 1;
  for (std::int64_t at = 0; at < byte && file;) {
    file.read(block.data(), std::min<std::int64_t>(static_cast<std::int64_t>(block.size()), byte - at));
    line += std::count(block.begin(), block.begin() + file.gcount(), '\n');
    at += file.gcount();
  }
  return line;
}

/// The rest of the line around a byte, in characters that a terminal takes.
std::string text_at(const std::string& path, std::int64_t byte) {
  std::ifstream file(path, std::ios::binary);
  const std::int64_t from = std::max<std::int64_t>(0, byte - before_shown);
  file.seekg(from);
  std::string text(most_shown, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const auto here = static_cast<std::size_t>(byte - from);
  if (here >= text.size()) return "";
  if (const std::size_t line = here > 0 ? text.rfind('\n', here - 1) : std::string::npos; line != std::string::npos)
    text.erase(0, line + 1);
  if (const std::size_t end = text.find('\n', 0); end != std::string::npos) text.resize(end);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 32 || c >= 127; }, '?');
  return text;
}

/// The same for the same lines in any order.
std::optional<std::pair<std::uint64_t, std::uint64_t>> lines_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::pair<std::uint64_t, std::uint64_t> sum{0, 0};
  for (std::string line; std::getline(file, line);) {
    const auto digest =
        integrity::digest(integrity::Algorithm::xxh3_128, std::as_bytes(std::span(line.data(), line.size())));
    sum.first += digest.low;
    sum.second += digest.high;
  }
  return file.bad() ? std::nullopt : std::optional(sum);
}

bool same_lines(const Stream& stream) {
  const auto lines = lines_of(stream.places[0].path);
  return lines && std::all_of(stream.places.begin(), stream.places.end(),
                              [&](const FilePlace& place) { return lines_of(place.path) == lines; });
}

std::int64_t difference_of(const FilePlace& one, const FilePlace& other) {
  if (!one.exists() || !other.exists()) return 0;
  return std::max<std::int64_t>(0, first_difference(one, other));
}

std::size_t first_unlike(const std::vector<FileState>& states, std::size_t one) {
  std::size_t other = 0;
  while (states[other] == states[one]) ++other;
  return other;
}

StreamDifference judge(const Stream& stream, const std::vector<int>& replicas, bool held) {
  StreamDifference found;
  const int right = majority(stream.states);
  const std::size_t from = right < 0 ? 0 : static_cast<std::size_t>(right);
  const std::size_t other = first_unlike(stream.states, from);
  const std::size_t against = right < 0 ? other : from;
  const std::size_t odd = right < 0 ? from : other;
  for (std::size_t k = 0; k < replicas.size(); ++k)
    if (right < 0 || stream.states[k] != stream.states[from]) found.replicas.push_back(replicas[k]);
  found.byte = difference_of(stream.places[against], stream.places[odd]);
  found.line = line_of(stream.places[against].path, found.byte);
  found.odd = text_at(stream.places[odd].path, found.byte);
  found.others = text_at(stream.places[against].path, found.byte);
  found.against = replicas[against];
  if (right >= 0) found.good = stream.places[against].path;
  found.shown = !held && found.replicas[0] == replicas[0];
  found.order_only = same_lines(stream);
  found.settled = found.order_only || (right >= 0 && !found.shown);
  return found;
}

std::string quoted(const std::string& text) {
  return text.empty() ? "nothing more" : "\"" + text + "\"";
}

std::string list(const std::vector<int>& replicas) {
  std::string text;
  for (const int k : replicas) text += (text.empty() ? "" : ", ") + std::to_string(k);
  return text;
}

}  // namespace

nlohmann::ordered_json StreamComparison::record() const {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const StreamDifference& d : differences)
    list.push_back({{"rank", d.rank},
                    {"stream", d.stream},
                    {"replicas", d.replicas},
                    {"line", d.line},
                    {"byte", d.byte},
                    {"odd", d.odd},
                    {"others", d.others},
                    {"order_only", d.order_only},
                    {"shown", d.shown},
                    {"taken_out", d.taken_out},
                    {"good", d.good}});
  return {{"streams", streams}, {"bytes", bytes}, {"tolerated", tolerated}, {"differences", list}};
}

StreamComparison compare_streams(const std::string& run_directory, const std::vector<int>& degrees,
                                 const std::vector<int>& replicas, const std::string& patterns, bool held) {
  StreamComparison found;
  integrity::Digester digester(integrity::Algorithm::xxh3_128);
  for (int rank = 0; rank < static_cast<int>(degrees.size()); ++rank) {
    const std::string name = "rank-" + std::to_string(rank);
    const std::string stem = run_directory + "/" + name + ".replica-";
    std::vector<int> present;
    for (const int k : replicas)
      if (k < degrees[static_cast<std::size_t>(rank)]) present.push_back(k);
    if (present.size() < 2) continue;
    for (const auto& [ending, word] : {std::pair{".out", "stdout"}, std::pair{".err", "stderr"}}) {
      Stream stream;
      for (const int k : present) {
        stream.places.push_back(place_of(stem + std::to_string(k) + ending));
        stream.states.push_back(state_of(stream.places.back(), digester));
      }
      const bool any = std::any_of(stream.places.begin(), stream.places.end(), [](auto& p) { return p.exists(); });
      if (!any) continue;
      ++found.streams;
      found.bytes += stream.states[0].bytes;
      if (stream.alike()) continue;
      if (replicate::fits_a_pattern(name + "." + word, patterns)) {
        ++found.tolerated;
        continue;
      }
      found.differences.push_back(judge(stream, present, held));
      found.differences.back().rank = rank;
      found.differences.back().stream = word;
    }
  }
  return found;
}

StreamDifference difference_shown(const std::string& run_directory, int rank, const std::string& ending, int replica,
                                  int against, std::int64_t byte) {
  const std::string stem = run_directory + "/rank-" + std::to_string(rank) + ".replica-";
  const std::string shown = stem + std::to_string(replica) + ending;
  StreamDifference found;
  found.rank = rank;
  found.stream = ending == ".out" ? "stdout" : "stderr";
  found.replicas = {replica};
  found.byte = byte;
  found.line = line_of(shown, byte);
  found.odd = text_at(shown, byte);
  found.against = against;
  found.good = stem + std::to_string(against) + ending;
  found.others = text_at(found.good, byte);
  found.shown = found.taken_out = true;
  found.settled = ending == ".err";
  return found;
}

std::string difference_line(const StreamDifference& difference) {
  const std::string place =
      " from line " + std::to_string(difference.line) + " (byte " + std::to_string(difference.byte) + ") on";
  std::string line = "rank " + std::to_string(difference.rank) + "'s " + difference.stream;
  if (difference.order_only) return line + " has the same lines in another order in its replicas," + place;
  line += " differs" + place + ": ";
  const std::string& odd = quoted(difference.odd);
  const std::string& others = quoted(difference.others);
  if (difference.good.empty())
    return line + "replica " + std::to_string(difference.replicas[0]) + " wrote " + odd + ", replica " +
           std::to_string(difference.against) + " " + others + ": no majority among replicas " +
           list(difference.replicas);
  line += "replica " + list(difference.replicas) + (difference.taken_out ? ", which was taken out," : "") + " wrote " +
          odd + ", " + (difference.taken_out ? "replica " + std::to_string(difference.against) : "the majority") + " " +
          others;
  if (difference.settled) return line;
  return difference.shown ? line + ": what was shown is wrong, theirs is in " + difference.good : line;
}

}  // namespace holdfast::launch
