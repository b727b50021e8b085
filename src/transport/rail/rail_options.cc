#include "transport/rail/rail_options.h"

namespace holdfast::transport {

const config::Table<RailOptions>& rail_options_table() {
  using config::option;
  static const config::Table<RailOptions> table(
      "rails", {
                   option<&RailOptions::use>({.name = "rails.use",
                                              .initial = "",
                                              .doc = "The rails, as 'tcp@eth0,tcp@eth1,udp,shm'; the same list on "
                                                     "every host.\nEmpty: tcp on every interface but the loopback."}),
                   option<&RailOptions::counters>(
                       {.name = "rails.counters",
                        .initial = "",
                        .doc = "Folder where each endpoint leaves its counters as JSON when it closes."}),
               });
  return table;
}

}  // namespace holdfast::transport
