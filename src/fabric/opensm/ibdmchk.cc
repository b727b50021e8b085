#include "fabric/opensm/ibdmchk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "core/time/clock.h"
#include "fabric/formats/forwarding_tables.h"
#include "fabric/formats/subnet_list.h"
#include "fabric/opensm/keeper.h"
#include "fabric/opensm/programs.h"
#include "fabric/opensm/scratch.h"

namespace holdfast::fabric::opensm {
namespace {

const std::string asking = "asking ibdmchk";

std::uint32_t row_before(const Fabric& fabric, const Forwarding& tables, PortId adapter) {
  const PortId peer = fabric.peer(adapter);
  return peer == none ? none : tables.row_of(fabric.port(peer).node);
}

/// "0xGUID dlid sl": the node's GUID, a line a pair.
std::string service_levels(const Fabric& fabric, const Forwarding& tables) {
  std::string text;
  for (PortId from = 0; from < fabric.ports().size(); ++from) {
    const Port& source = fabric.port(from);
    if (fabric.is_switch(source.node) || source.lid == 0) continue;
    const std::uint32_t row = row_before(fabric, tables, from);
    if (row == none) continue;
    for (const Port& target : fabric.ports()) {
      if (fabric.is_switch(target.node) || target.lid == 0 || target.lid == source.lid) continue;
      const std::uint8_t level = tables.service_level(row, source.lid, target.lid);
      if (level < 16) text += fmt::format("0x{:016x} {} {}\n", fabric.node(source.node).guid, target.lid, level);
    }
  }
  return text;
}

/// "0xGUID in out 0xVV ...": two lanes a byte.
std::string lane_maps(const Fabric& fabric, const Forwarding& tables) {
  std::string text;
  for (std::uint32_t row = 0; row < tables.rows(); ++row) {
    const Node& node = fabric.node(tables.switch_at(row));
    for (unsigned in = 0; in <= node.port_count; ++in)
      for (unsigned out = 1; out <= node.port_count; ++out) {
        text += fmt::format("0x{:016x} {} {}", node.guid, in, out);
        for (unsigned level = 0; level < 16; level += 2) {
          const auto lane = [&](unsigned l) {
            return tables.lane(row, static_cast<std::uint8_t>(in), static_cast<std::uint8_t>(out),
                               static_cast<std::uint8_t>(l));
          };
          text += fmt::format(" 0x{:x}{:x}", lane(level), lane(level + 1));
        }
        text += "\n";
      }
  }
  return text;
}

/// All that comes until the program ends or the deadline has passed.
Result<std::string> read_until_end(int descriptor, std::int64_t deadline_ns) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const std::int64_t left_ms = (deadline_ns - time::steady_now_ns()) / 1'000'000;
    if (left_ms <= 0) return Status(Code::unavailable, asking, "no end within the time limit", "try a smaller fabric");
    pollfd waiting = {descriptor, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left_ms, 1000))) <= 0) continue;
    const ssize_t size = read(descriptor, buffer.data(), buffer.size());
    if (size == 0) return text;
    if (size < 0 && errno != EINTR) return Status(Code::io, asking, std::strerror(errno));
    if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view words) {
  const std::size_t found = text.find(words);
  if (found == std::string_view::npos) return std::nullopt;
  const char* first = text.data() + found + words.size();
  std::uint64_t number = 0;
  if (std::from_chars(first, text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

std::string line_at(std::string_view text, std::size_t at) {
  return std::string(text.substr(at, std::min(text.find('\n', at), text.size()) - at));
}

}  // namespace

Result<Judgement> read_judgement(std::string_view text) {
  Judgement judgement;
  const auto scanned = number_after(text, "-I- Scanned:");
  const auto missing = number_after(text, "-E- Found ");  // "... 44 missing paths out of:75350 paths"
  if (missing) judgement.lost_paths = *missing;
  judgement.scanned_paths = scanned ? *scanned : number_after(text, " missing paths out of:").value_or(0);
  judgement.credit_loops = text.find("-E- credit loops in routing") != std::string_view::npos;
  if (const std::size_t loop = text.find("Found credit loop on:"); loop != std::string_view::npos)
    judgement.loop = line_at(text, loop);
  judgement.looked_for_loops =
      judgement.credit_loops || text.find("-I- no credit loops found") != std::string_view::npos;
  const bool whole = (scanned && judgement.looked_for_loops) || (missing && judgement.scanned_paths != 0);
  if (whole && judgement.lost_paths <= judgement.scanned_paths) return judgement;
  const std::size_t error = text.find("-E- ");
  return Status(Code::internal, asking,
                "it gave no verdict: " + (error == std::string_view::npos ? "it said nothing" : line_at(text, error)),
                "please report this");
}

Result<Judgement> ask_ibdmchk(const Fabric& fabric, const Forwarding& tables, std::int64_t time_limit_ns) {
  const std::string path = find_program("ibdmchk");
  if (path.empty())
    return Status(Code::unavailable, "looking for ibdmchk", "it is not installed", "install the package ibutils");
  remove_left_folders();
  auto keeper = Keeper::open(unused_folder());
  if (!keeper.ok()) return keeper.status();
  const auto file = [&](const char* name) { return keeper.value().folder() + "/" + name; };
  Status status = write_file(file("subnet.lst"), write_subnet_list(fabric));
  if (status.ok()) status = write_file(file("fdbs"), write_fdbs(fabric, tables));
  if (status.ok()) status = write_file(file("mcfdbs"), "");
  if (status.ok()) status = write_file(file("levels"), service_levels(fabric, tables));
  if (status.ok() && tables.has_lane_maps()) status = write_file(file("lanes"), lane_maps(fabric, tables));
  if (!status.ok()) return status;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Status(Code::io, asking, std::strerror(errno));
  Program program;
  program.words = {path, "-s", file("subnet.lst"), "-f", file("fdbs"), "-m", file("mcfdbs"), "-c", file("levels")};
  if (tables.has_lane_maps()) program.words.insert(program.words.end(), {"-d", file("lanes")});
  program.environment = {"LANG=C"};
  program.output = program.errors = ends[1];
  auto started = keeper.value().start(program);
  ::close(ends[1]);
  auto text = started.ok() ? read_until_end(ends[0], time::steady_now_ns() + time_limit_ns)
                           : Result<std::string>(started.status());
  ::close(ends[0]);
  if (!text.ok()) return text.status();
  return read_judgement(text.value());
}

}  // namespace holdfast::fabric::opensm
