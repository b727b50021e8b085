#include "simulate/packet/record.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "core/event/record.h"

namespace holdfast::simulate {

using Json = nlohmann::ordered_json;

std::string_view ending_name(Ending ending) {
  switch (ending) {
    case Ending::complete:
      return "complete";
    case Ending::steady:
      return "steady";
    case Ending::limit:
      return "limit";
    case Ending::deadlock:
      return "deadlock";
    case Ending::stuck:
      return "stuck";
    case Ending::stopped:
      return "stopped";
    case Ending::broken:
      return "broken";
  }
  return "";
}

namespace {

Json latency_json(const Latency& latency) {
  return {{"count", latency.count},      {"least_ps", latency.least}, {"mean_ps", latency.mean},
          {"median_ps", latency.median}, {"p99_ps", latency.p99},     {"most_ps", latency.most}};
}

std::string number(double value, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4g %s", value, unit);
  return text;
}

std::string bandwidth(double bytes_per_s) {
  return number(bytes_per_s / 1e9, "GB/s");
}

std::string duration(double ps) {
  if (ps >= 1e12) return number(ps / 1e12, "s");
  if (ps >= 1e9) return number(ps / 1e9, "ms");
  if (ps >= 1e6) return number(ps / 1e6, "us");
  return number(ps / 1e3, "ns");
}

std::string latency_text(const Latency& latency) {
  return "mean " + duration(latency.mean) + ", median " + duration(static_cast<double>(latency.median)) + ", 99 % " +
         duration(static_cast<double>(latency.p99)) + ", most " + duration(static_cast<double>(latency.most));
}

std::string ending_text(const Record& record) {
  switch (record.ending) {
    case Ending::complete:
      return "complete after " + duration(static_cast<double>(record.completion_ps));
    case Ending::steady:
      return "steady state after " + duration(static_cast<double>(record.end_ps));
    case Ending::limit:
      return "ended by a limit after " + duration(static_cast<double>(record.end_ps));
    case Ending::deadlock:
      return "DEADLOCK after " + duration(static_cast<double>(record.end_ps));
    case Ending::stuck:
      return "STUCK after " + duration(static_cast<double>(record.end_ps)) +
             ": nothing moves, and messages are still waited for";
    case Ending::stopped:
      return "interrupted after " + duration(static_cast<double>(record.end_ps));
    case Ending::broken:
      return "BROKEN after " + duration(static_cast<double>(record.end_ps)) +
             ": a connection gave up, and with it the program";
  }
  return "";
}

Json faults_json(const FaultRecord& faults) {
  Json json;
  json["reliable"] = faults.reliable;
  json["lost"] = {{"cut", faults.lost_cut},
                  {"link_down", faults.lost_down},
                  {"noise", faults.lost_noise},
                  {"looping", faults.lost_looping},
                  {"no_route", faults.lost_no_route}};
  json["under_way"] = faults.under_way;
  json["looped"] = faults.looped;
  json["repeated"] = faults.repeated;
  json["out_of_order"] = faults.out_of_order;
  json["late"] = faults.late;
  json["retransmitted"] = faults.retransmitted;
  json["timeouts"] = faults.timeouts;
  json["sequence_errors"] = faults.sequence_errors;
  json["connections"] = {{"all", faults.connections},
                         {"broken", faults.connections_broken},
                         {"stalls", faults.connections_stalled},
                         {"longest_stall_ps", faults.longest_stall_ps},
                         {"total_stall_ps", faults.total_stall_ps}};
  json["messages_failed"] = faults.messages_failed;
  json["goodput"] = {{"sample_ps", faults.sample_ps}, {"payload_bytes", faults.goodput}};
  return json;
}

std::string faults_text(const FaultRecord& faults) {
  std::string text = "lost to faults        " + std::to_string(faults.lost_cut) + " on failing links, " +
                     std::to_string(faults.lost_down) + " for links that were down, " +
                     std::to_string(faults.lost_noise) + " to noise, " + std::to_string(faults.lost_looping) +
                     " looping, " + std::to_string(faults.lost_no_route) + " without a route\n";
  if (!faults.reliable) return text;
  text += "sent again            " + std::to_string(faults.retransmitted) + " packets after " +
          std::to_string(faults.timeouts) + " timeouts and " + std::to_string(faults.sequence_errors) +
          " sequence errors\n";
  text += "connections           " + std::to_string(faults.connections) + ", " +
          std::to_string(faults.connections_broken) + " broken (" + std::to_string(faults.messages_failed) +
          " messages failed); " + std::to_string(faults.connections_stalled) + " stalls, the longest " +
          duration(static_cast<double>(faults.longest_stall_ps)) + "\n";
  return text;
}

}  // namespace

Json to_json(const Record& record, bool machine) {
  Json json = event::make_record("holdfast.simulation", 1);
  json["ending"] = ending_name(record.ending);
  json["hosts"] = record.hosts;
  json["switches"] = record.switches;
  json["end_ps"] = record.end_ps;
  json["completion_ps"] = record.completion_ps;
  json["measured_from_ps"] = record.measured_from_ps;
  json["measured_to_ps"] = record.measured_to_ps;
  json["throughput_bytes_per_s"] = record.throughput_bytes_per_s;
  json["host_bytes_per_s"] = {{"mean", record.host_mean_bytes_per_s},
                              {"least", record.host_least_bytes_per_s},
                              {"most", record.host_most_bytes_per_s}};
  json["steady_share"] = record.steady_share;
  json["messages"] = {{"sent", record.messages_sent},
                      {"delivered", record.messages_delivered},
                      {"unroutable", record.unroutable_messages}};
  json["packets"] = {{"sent", record.packets_sent},
                     {"delivered", record.packets_delivered},
                     {"dropped_lifetime", record.dropped_lifetime},
                     {"dropped_stalled", record.dropped_stalled},
                     {"dropped_unroutable", record.dropped_unroutable}};
  json["payload_bytes"] = {{"sent", record.payload_bytes_sent}, {"delivered", record.payload_bytes_delivered}};
  json["packet_hops"] = record.packet_hops;
  json["message_latency"] = latency_json(record.message_latency);
  json["packet_latency"] = latency_json(record.packet_latency);
  json["ports"] = {{"idle", record.ports.idle}, {"sending", record.ports.sending}, {"blocked", record.ports.blocked}};
  json["deadlocks_seen"] = record.deadlocks_seen;
  json["circle"] = Json::array();
  for (const BlockedPort& port : record.circle)
    json["circle"].push_back({{"node", port.node},
                              {"in_port", port.in_port},
                              {"in_lane", port.in_lane},
                              {"out_port", port.out_port},
                              {"out_lane", port.out_lane},
                              {"packets", port.packets}});
  if (record.faults.any) json["faults_during_run"] = faults_json(record.faults);
  if (machine)
    json["machine"] = {{"wall_seconds", record.wall_seconds},
                       {"packet_hops_per_s", static_cast<double>(record.packet_hops) / record.wall_seconds},
                       {"events", record.events},
                       {"memory_bytes", record.memory_bytes},
                       {"memory_bytes_per_host", record.memory_bytes / std::max<std::uint64_t>(1, record.hosts)}};
  return json;
}

std::string to_text(const Record& record) {
  std::string text = ending_text(record) + "\n";
  for (const BlockedPort& port : record.circle)
    text += "  waits in a circle: " + port.node + " port " + std::to_string(port.in_port) + " lane " +
            std::to_string(port.in_lane) + " (" + std::to_string(port.packets) + " packets) for port " +
            std::to_string(port.out_port) + " lane " + std::to_string(port.out_lane) + "\n";
  if (record.ending == Ending::deadlock || record.ending == Ending::stuck)
    text += "switch ports          " + std::to_string(record.ports.blocked) + " blocked, " +
            std::to_string(record.ports.sending) + " sending, " + std::to_string(record.ports.idle) + " idle\n";
  text += "throughput            " + bandwidth(record.throughput_bytes_per_s) + " (a host: mean " +
          bandwidth(record.host_mean_bytes_per_s) + ", least " + bandwidth(record.host_least_bytes_per_s) + ", most " +
          bandwidth(record.host_most_bytes_per_s) + ")\n";
  text += "message latency       " + latency_text(record.message_latency) + "\n";
  text += "packet latency        " + latency_text(record.packet_latency) + "\n";
  text += "messages              " + std::to_string(record.messages_delivered) + " of " +
          std::to_string(record.messages_sent) + " delivered";
  if (record.unroutable_messages > 0) text += ", " + std::to_string(record.unroutable_messages) + " had no path";
  text += "\npackets               " + std::to_string(record.packets_delivered) + " of " +
          std::to_string(record.packets_sent) + " delivered over " + std::to_string(record.packet_hops) + " hops\n";
  const std::uint64_t dropped = record.dropped_lifetime + record.dropped_stalled + record.dropped_unroutable;
  if (dropped > 0)
    text += "dropped               " + std::to_string(record.dropped_lifetime) + " too long at the head of a queue, " +
            std::to_string(record.dropped_stalled) + " on stalled lanes, " + std::to_string(record.dropped_unroutable) +
            " without a route\n";
  if (record.faults.any) text += faults_text(record.faults);
  if (record.deadlocks_seen > 0 && record.ending != Ending::deadlock)
    text += "deadlocks             seen at " + std::to_string(record.deadlocks_seen) + " checks, dissolved by drops\n";
  return text;
}

}  // namespace holdfast::simulate
