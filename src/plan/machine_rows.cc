#include <fmt/format.h>

#include <array>

#include "plan/machine.h"
#include "plan/redundancy.h"

namespace holdfast::plan {
namespace {

constexpr std::array<std::string_view, 2> aims{"cost", "time"};
constexpr std::array<std::string_view, 3> patterns{"cg", "ft", "lu"};
constexpr double second = 1;
constexpr double century = 100 * 365.0 * 86400;
using M = Machine;
using D = Dimension;

// key, default, dimension, least, most, required, member, choices, doc
constexpr Row all_rows[] = {
    {"machine.name", "", D::real, 0, 0, true, &M::name, {}, "What the machine is called."},
    {"machine.about", "", D::real, 0, 0, false, &M::about, {}, "A sentence on it."},
    {"machine.nodes", "", D::count, 1, 1e8, true, &M::nodes, {}, "Compute nodes."},

    {"failures.node_mtbf",
     "",
     D::time,
     second,
     1e4 * century,
     false,
     &M::node_mtbf_s,
     {},
     "Mean time between fail-stop failures of one node."},
    {"failures.system_mtbf",
     "",
     D::time,
     1e-3,
     1e4 * century,
     false,
     &M::system_mtbf_s,
     {},
     "The same of the whole machine; give one of the two."},

    {"checkpoint.write", "", D::time, 1e-3, century, true, &M::checkpoint_s, {}, "Time to write a checkpoint."},
    {"checkpoint.restart", "", D::time, 0, century, true, &M::restart_s, {}, "Time to restart from one."},

    {"job.time",
     "",
     D::time,
     second,
     century,
     true,
     &M::job_time_s,
     {},
     "Work of the job: its time without failures, checkpoints and replicas, on job.nodes."},
    {"job.nodes",
     "",
     D::count,
     1,
     1e8,
     false,
     &M::job_nodes,
     {},
     "Nodes it uses without replicas; machine.nodes if absent."},
    {"job.wrong_answer",
     "1 %",
     D::share,
     0,
     1,
     false,
     &M::job_wrong_answer,
     {},
     "The greatest acceptable chance of a wrong answer that nobody notices."},
    {"job.aim", "cost", D::real, 0, 0, false, &M::job_aim, aims,
     "What to make least: node-hours, or the time to the answer."},

    {"replication.overheads",
     "",
     D::real,
     0,
     0,
     false,
     &M::overheads_file,
     {},
     "A result of bench/replication_overhead.py (JSON); without one, RedMPI's figures are used and labelled."},
    {"replication.crash", "rank", D::real, 0, 0, false, &M::crash, crash_names,
     "What a crash of one node ends: its ranks' replicas alone, as in rMPI; the whole replica that they belong to, as "
     "with `holdfast run --on-failure continue`; or the job, as with `--on-failure abort`."},
    {"replication.pattern", "cg", D::real, 0, 0, false, &M::overhead_pattern, patterns,
     "Which of RedMPI's programs is most like the job, where nothing was measured."},

    {"corruption.rate",
     "",
     D::rate,
     0,
     1,
     true,
     &M::corruption_rate_per_s,
     {},
     "Silent corruptions of one node that would change a result."},
    {"corruption.escapes",
     "0",
     D::share,
     0,
     1,
     false,
     &M::escape_share,
     {},
     "The share of them that reaches the answer without passing a message or a collective, so that no comparison sees "
     "it."},
    {"corruption.identical",
     "0",
     D::share,
     0,
     1,
     false,
     &M::identical_share,
     {},
     "The share of double corruptions of a rank that look alike, so that they outvote the truth."},
    {"corruption.digest_bits",
     "64",
     D::count,
     8,
     512,
     false,
     &M::digest_bits,
     {},
     "Length of the digests that are compared."},

    {"transport.bandwidth", "", D::bit_rate, 1e3, 1e15, true, &M::bandwidth_bit_per_s, {}, "Of a node's path."},
    {"transport.round_trip",
     "",
     D::time,
     1e-9,
     3600,
     true,
     &M::round_trip_s,
     {},
     "From a fragment to its acknowledgement."},
    {"transport.bit_error_rate",
     "",
     D::real,
     0,
     0.1,
     true,
     &M::bit_error_rate,
     {},
     "Of the bits that arrive: what the links' own checks let through, and what buses and memory add."},
    {"transport.garbage",
     "1 %",
     D::share,
     0,
     1,
     false,
     &M::garbage_share,
     {},
     "The share of the corrupt fragments that turn to garbage as a whole (a bad DMA, a firmware fault)."},
    {"transport.header",
     "64 B",
     D::bytes,
     0,
     65536,
     false,
     &M::header_bytes,
     {},
     "Bytes that every fragment carries besides data."},
    {"transport.fragment_cost",
     "1 us",
     D::time,
     0,
     1,
     false,
     &M::fragment_cost_s,
     {},
     "Time of the host for a fragment, whatever its length, that nothing else hides."},
    {"transport.calibration",
     "",
     D::real,
     0,
     0,
     false,
     &M::calibration_file,
     {},
     "What `holdfast calibrate` wrote on this machine: it gives transport.fragment_cost and transport.copy where they "
     "are "
     "not given."},
    {"transport.message",
     "4 MiB",
     D::bytes,
     1,
     0x1p50,
     false,
     &M::message_bytes,
     {},
     "A typical large message; no fragment is longer."},
    {"transport.traffic",
     "10 %",
     D::share,
     0,
     1,
     false,
     &M::traffic_share,
     {},
     "The share of the time that a node sends."},
    {"transport.undetected",
     "1e-6",
     D::share,
     1e-300,
     1,
     false,
     &M::undetected,
     {},
     "The greatest acceptable chance that a job meets a corrupt fragment that its check takes for good."},
    {"transport.copy",
     "80 Gbit/s",
     D::bit_rate,
     1e3,
     1e15,
     false,
     &M::copy_bit_per_s,
     {},
     "Of one core that copies memory."},
    {"transport.checksum",
     "400 Gbit/s",
     D::bit_rate,
     1e3,
     1e15,
     false,
     &M::checksum_bit_per_s,
     {},
     "Of one core that sums what is in its cache (CRC-32C: docs/results/transport-engine.md)."},

    {"collective.children",
     "",
     D::count,
     1,
     1e6,
     true,
     &M::levels,
     {},
     "Children of a switch at each level of the tree, from the hosts up: [24, 12, 6]."},
    {"collective.message", "", D::bytes, 1, 0x1p40, true, &M::collective_bytes, {}, "Bytes of the operand."},
    {"collective.packet",
     "256 B",
     D::bytes,
     1,
     65536,
     false,
     &M::packet_bytes,
     {},
     "Greatest payload of a packet (MTU)."},
    {"collective.link_rate", "", D::bit_rate, 1e3, 1e15, true, &M::link_bit_per_s, {}, "Data rate of a link."},
    {"collective.bit_error_rate",
     "",
     D::real,
     0,
     0.1,
     true,
     &M::link_bit_error_rate,
     {},
     "Of a link, before its checks."},
    {"collective.hca_delay", "100 ns", D::time, 0, 1, false, &M::hca_delay_s, {}, "Of a host adapter."},
    {"collective.switch_delay", "100 ns", D::time, 0, 1, false, &M::switch_delay_s, {}, "Of a switch."},
    {"collective.rate",
     "1000 /s",
     D::rate,
     0,
     1e9,
     false,
     &M::collective_rate_per_s,
     {},
     "Collectives that a job does."},
    {"collective.dual_port_cost",
     "2",
     D::real,
     1,
     100,
     false,
     &M::dual_port_cost,
     {},
     "Price of a network for adapters of two ports, of that for one: twice the switches."},
    {"collective.network_share",
     "15 %",
     D::share,
     0,
     1,
     false,
     &M::network_share,
     {},
     "Share of the machine's price that its network has; an assumption."},

    {"fabric.links", "", D::count, 0, 1e9, true, &M::links, {}, "Links between switches."},
    {"fabric.switches", "", D::count, 0, 1e8, true, &M::switches, {}, "Switches."},
    {"fabric.link_failures", "", D::rate, 0, 1, true, &M::link_failures_per_s, {}, "Failures of one link."},
    {"fabric.switch_failures", "", D::rate, 0, 1, true, &M::switch_failures_per_s, {}, "Failures of one switch."},
    {"fabric.threshold",
     "90 %",
     D::share,
     0,
     1,
     false,
     &M::throughput_threshold,
     {},
     "Throughput at which maintenance is due, of the chosen engine's without failures."},
    {"fabric.life", "6 y", D::time, 3600, century, false, &M::life_s, {}, "How long the fabric is to serve."},
    {"fabric.regression",
     "",
     D::real,
     0,
     0,
     false,
     &M::regression_file,
     {},
     "Throughput against failures for each routing engine: a database of 'holdfast study run', or a record "
     "(docs/spec/regression.md)."},
    {"fabric.group",
     "",
     D::real,
     0,
     0,
     false,
     &M::regression_group,
     {},
     "The group of the study whose lines count, where fabric.regression is a database with several."},
};

std::string_view dimension_name(Dimension dimension) {
  switch (dimension) {
    case D::count:
      return "whole number";
    case D::real:
      return "number";
    case D::share:
      return "share";
    case D::time:
      return "time";
    case D::rate:
      return "rate";
    case D::bytes:
      return "bytes";
    case D::bit_rate:
      return "bit rate";
  }
  return {};
}

std::string kind_of(const Row& row) {
  if (std::holds_alternative<Levels Machine::*>(row.member)) return "list of whole numbers";
  if (std::holds_alternative<Number Machine::*>(row.member)) return std::string(dimension_name(row.dimension));
  if (row.choices.empty()) return "text";
  return fmt::format("{}", fmt::join(row.choices, " or "));
}

std::string bounds_of(const Row& row) {
  if (std::holds_alternative<Text Machine::*>(row.member)) return "";
  return format_quantity(row.least, row.dimension) + " to " + format_quantity(row.most, row.dimension);
}

}  // namespace

std::span<const Row> rows() {
  return all_rows;
}

std::string machine_reference() {
  std::string page = "| key | takes | bounds | default | meaning |\n|---|---|---|---|---|\n";
  for (const Row& row : rows()) {
    page += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.key, kind_of(row), bounds_of(row),
                        row.required ? "needed" : std::string(row.initial), row.doc);
  }
  return page;
}

}  // namespace holdfast::plan
