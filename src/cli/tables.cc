#include "cli/tables.h"

#include "replicate/launch/plan/library_options.h"
#include "simulate/job/protection.h"
#include "simulate/job/protocol.h"
#include "simulate/packet/parameters.h"
#include "simulate/transport/datagram_options.h"
#include "transport/engine/options.h"
#include "transport/rail/rail_options.h"

namespace holdfast::cli {

std::array<const config::AnyTable*, 7> all_tables() {
  return {&launch::library_table(),      &transport::options_table(),      &transport::rail_options_table(),
          &simulate::parameters_table(), &simulate::job::protocol_table(), &simulate::job::replication_costs_table(),
          &simulate::datagram_table()};
}

}  // namespace holdfast::cli
