#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/status/status.h"
#include "plan/quantity.h"

namespace holdfast::plan {

/// A number of a machine description, and where it was read.
struct Number {
  double value = 0;    ///< in SI units (plan/quantity.h)
  bool given = false;  ///< by the file or as a default; false: there is none
  std::string source;  ///< "tsubame.toml:12; Table I", or "default"
};

struct Text {
  std::string value;
  bool given = false;
  std::string source;
};

/// How many ports each level of a fat tree has, from the hosts up.
struct Levels {
  std::vector<double> value;
  bool given = false;
  std::string source;
};

/// What `holdfast plan` is told, one member a key of the file. docs/spec/machine.md lists the keys; rows() is their
/// source.
struct Machine {
  Text name, about;
  Number nodes;
  Number node_mtbf_s, system_mtbf_s;
  Number checkpoint_s, restart_s;
  Number job_nodes, job_time_s, job_wrong_answer;
  Text job_aim;
  Text overheads_file, overhead_pattern, crash, calibration_file;
  Number corruption_rate_per_s, escape_share, identical_share, digest_bits;
  Number bandwidth_bit_per_s, round_trip_s, bit_error_rate, garbage_share, header_bytes, fragment_cost_s, message_bytes,
      traffic_share, undetected, copy_bit_per_s, checksum_bit_per_s;
  Levels levels;
  Number collective_bytes, packet_bytes, link_bit_per_s, link_bit_error_rate, hca_delay_s, switch_delay_s,
      collective_rate_per_s, dual_port_cost, network_share;
  Number links, switches, link_failures_per_s, switch_failures_per_s, throughput_threshold, life_s;
  Text regression_file, regression_group;

  std::vector<std::string> tables;  ///< the tables that the file has, in its order: which questions it asks
  std::string folder;               ///< of the file; paths in it are relative to this

  bool has(std::string_view table) const;
};

/// One key: how it is written, read, bounded and explained.
struct Row {
  std::string_view key;      ///< "job.time"
  std::string_view initial;  ///< the default as a user would write it; empty: none
  Dimension dimension{};     ///< of numbers
  double least = 0;
  double most = 0;
  bool required = false;  ///< in a file that has the key's table
  std::variant<Number Machine::*, Text Machine::*, Levels Machine::*> member;
  std::span<const std::string_view> choices{};  ///< of a text
  std::string_view doc;
};

/// All keys, table by table.
std::span<const Row> rows();

/// Reads a machine description, TOML 1.0. `name` is the file's name in messages and sources. Errors (bad_input), one
/// line with "name:line": bad syntax, an unknown table or key (with a hint), a value without its unit, out of its
/// bounds or of another kind, a key that the table needs and lacks, keys that contradict each other. Stops at the
/// first. Any thread.
Result<Machine> read_machine(std::string_view text, std::string_view name);

/// The same for a file. Errors besides: not_found, io.
Result<Machine> read_machine_file(const std::string& path);

/// The reference of the keys, Markdown, for docs/spec/machine.md.
std::string machine_reference();

}  // namespace holdfast::plan
