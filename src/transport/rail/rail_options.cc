#include "transport/rail/rail_options.h"

namespace holdfast::transport {

const config::Table<RailOptions>& rail_options_table() {
  using config::duration;
  using config::option;
  static const config::Table<RailOptions> table(
      "rails", {
                   option<&RailOptions::use>(
                       {.name = "rails.use",
                        .initial = "",
                        .doc = "The rails, as 'tcp@eth0,tcp@eth1,udp,shm'; the same list on "
                               "every host.\nA rail may name the checksum of its payloads, as 'tcp@eth0/none'; "
                               "others have transport.checksum.\nEmpty: tcp on every interface "
                               "but the loopback."}),
                   option<&RailOptions::counters>(
                       {.name = "rails.counters",
                        .initial = "",
                        .doc = "Folder where each endpoint writes its counters as JSON while it runs and when it "
                               "closes."}),
                   duration<&RailOptions::counters_every_ns>(
                       {.name = "rails.counters_every",
                        .initial = "1s",
                        .least = "10ms",
                        .most = "24h",
                        .doc = "How often the counters are written while an endpoint runs."}),
                   option<&RailOptions::faults>(
                       {.name = "rails.faults",
                        .initial = "",
                        .doc = "What goes wrong on this process's rails, in the notation of docs/spec/faults.md, as "
                               "'flip any rate 1/1000'.\nFor tests of programs; a process's rank is what its "
                               "launcher says."}),
                   option<&RailOptions::seed>(
                       {.name = "rails.seed", .initial = "1", .doc = "Decides where chance strikes in rails.faults."}),
               });
  return table;
}

}  // namespace holdfast::transport
