#pragma once

#include <cstdint>
#include <string>

#include "core/config/settings.h"

/// The options that the tests of this folder work on: one of every type.
namespace holdfast::config::sample {

enum class Protocol { msg_plus_hash, all_to_all };

struct Options {
  Protocol protocol{};
  std::int64_t ack_delay_ns{};
  std::int64_t offset{};
  std::uint64_t window{};
  int degree{};
  double share{};
  bool verify{};
  std::string map;
};

inline constexpr std::string_view protocols[] = {"msg-plus-hash", "all-to-all"};

inline const Table<Options>& table() {
  static const Table<Options> rows(
      "replicate",
      {
          option<&Options::protocol>({.name = "replicate.protocol",
                                      .initial = "msg-plus-hash",
                                      .choices = protocols,
                                      .doc = "How the copies of a message are compared."}),
          duration<&Options::ack_delay_ns>({.name = "replicate.ack_delay",
                                            .initial = "10ms",
                                            .least = "1us",
                                            .most = "10s",
                                            .doc = "How long an acknowledgement may wait."}),
          option<&Options::offset>({.name = "replicate.offset", .initial = "-3", .least = "-10", .doc = "An offset."}),
          option<&Options::window>({.name = "replicate.window",
                                    .initial = "64",
                                    .least = "1",
                                    .most = "4096",
                                    .unit = "packets",
                                    .doc = "Packets in flight."}),
          option<&Options::degree>({.name = "replicate.degree", .initial = "3", .least = "1", .doc = "Replicas."}),
          option<&Options::share>(
              {.name = "replicate.share", .initial = "0.25", .least = "0", .most = "1", .doc = "A share."}),
          option<&Options::verify>({.name = "replicate.verify", .initial = "true", .doc = "Whether to compare."}),
          option<&Options::map>({.name = "replicate.map", .initial = "", .doc = "A map file."}),
      });
  return rows;
}

}  // namespace holdfast::config::sample
