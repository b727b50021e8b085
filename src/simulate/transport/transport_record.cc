#include "simulate/transport/transport_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace holdfast::simulate {

nlohmann::ordered_json to_json(const TransportRecord& record) {
  nlohmann::ordered_json json;
  json["endpoints"] = record.endpoints;
  json["messages"] = {{"sent", record.messages_sent},
                      {"delivered", record.messages_delivered},
                      {"inside_hosts", record.messages_inside}};
  json["bytes_delivered"] = record.bytes_delivered;
  json["completion_ps"] = record.completion_ps;
  json["goodput_bytes_per_s"] = record.goodput_bytes_per_s;
  json["latency"] = {{"count", record.latency.count},  {"least_ps", record.latency.least},
                     {"mean_ps", record.latency.mean}, {"median_ps", record.latency.median},
                     {"p99_ps", record.latency.p99},   {"most_ps", record.latency.most}};
  auto& rails = json["rails"] = nlohmann::ordered_json::array();
  for (const TransportRecord::Rail& rail : record.rails)
    rails.push_back({{"packets", rail.packets},
                     {"bytes", rail.bytes},
                     {"lost_packets", rail.lost_packets},
                     {"lost_bytes", rail.lost_bytes}});
  json["packets_struck"] = record.packets_struck;
  json["wrong_messages"] = record.wrong_messages;
  auto& engines = json["engines"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < transport::counter_rows.size(); ++i)
    engines[std::string(transport::counter_rows[i].name)] = record.engines.values()[i];
  if (record.loss)
    json["loss"] = {{"at_ps", record.loss->at},
                    {"host", record.loss->host},
                    {"peer", record.loss->peer},
                    {"outcome", record.loss->outcome}};
  json["memory"] = {{"engine_bytes", record.engine_bytes}, {"most_packet_bytes", record.most_packet_bytes}};
  json["goodput"] = {{"sample_ps", record.sample_ps}, {"bytes", record.goodput}};
  json["assumed"] = record.assumed;
  return json;
}

std::string to_text(const TransportRecord& record) {
  using transport::Count;
  const transport::Counters& engines = record.engines;
  std::string text =
      fmt::format("transport             {} hosts, {} rails; {} of {} messages delivered", record.endpoints,
                  record.rails.size(), record.messages_delivered, record.messages_sent);
  if (record.messages_inside > 0) text += fmt::format(", {} inside hosts", record.messages_inside);
  text += fmt::format("\n  time                {:.6g} us, goodput {:.4g} GB/s\n",
                      static_cast<double>(record.completion_ps) / 1e6, record.goodput_bytes_per_s / 1e9);
  text += fmt::format("  message latency     mean {:.4g} us, median {:.4g} us, 99 % {:.4g} us, most {:.4g} us\n",
                      record.latency.mean / 1e6, static_cast<double>(record.latency.median) / 1e6,
                      static_cast<double>(record.latency.p99) / 1e6, static_cast<double>(record.latency.most) / 1e6);
  text += fmt::format("  fragments           {} sent, {} sent again after {} timeouts, {} arrived twice\n",
                      engines[Count::fragments_sent], engines[Count::fragments_retransmitted], engines[Count::timeouts],
                      engines[Count::duplicates]);
  text += fmt::format("  acknowledgements    {} sent, {} of them with data\n", engines[Count::acks_sent],
                      engines[Count::acks_piggybacked]);
  if (record.packets_struck > 0 || engines[Count::corrupt_fragments] + engines[Count::corrupt_headers] > 0)
    text +=
        fmt::format("  damaged             {} packets struck; caught {} fragments and {} headers, {} wrong messages\n",
                    record.packets_struck, engines[Count::corrupt_fragments], engines[Count::corrupt_headers],
                    record.wrong_messages);
  if (engines[Count::rails_suspected] + engines[Count::rails_lost] > 0)
    text += fmt::format("  rails               {} suspected, {} left, {} found again\n",
                        engines[Count::rails_suspected], engines[Count::rails_lost], engines[Count::rails_regained]);
  for (std::size_t rail = 0; rail < record.rails.size(); ++rail)
    text += fmt::format("  rail {:<14} {} packets of {} bytes, {} of them lost\n", rail, record.rails[rail].packets,
                        record.rails[rail].bytes, record.rails[rail].lost_packets);
  if (record.loss)
    text += fmt::format("  LOST                after {:.6g} ms {} gave up {}: {}\n",
                        static_cast<double>(record.loss->at) / 1e9, record.loss->host, record.loss->peer,
                        record.loss->outcome);
  if (!record.assumed.empty()) {
    std::string rows;
    for (const std::string& row : record.assumed) rows += (rows.empty() ? "" : ", ") + row;
    text += "  assumed             " + rows + "\n";
  }
  return text;
}

}  // namespace holdfast::simulate
