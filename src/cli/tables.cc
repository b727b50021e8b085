#include "cli/tables.h"

#include "replicate/launch/plan/library_options.h"
#include "simulate/job/protection.h"
#include "simulate/job/protocol.h"
#include "simulate/packet/parameters.h"
#include "transport/engine/options.h"
#include "transport/rail/rail_options.h"

namespace holdfast::cli {

std::array<const config::AnyTable*, 6> all_tables() {
  return {&launch::library_table(),      &transport::options_table(),      &transport::rail_options_table(),
          &simulate::parameters_table(), &simulate::job::protocol_table(), &simulate::job::replication_costs_table()};
}

}  // namespace holdfast::cli
