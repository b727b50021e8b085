#include "cli/tables.h"

#include "replicate/launch/plan/library_options.h"
#include "simulate/packet/parameters.h"
#include "transport/engine/options.h"
#include "transport/rail/rail_options.h"

namespace holdfast::cli {

std::array<const config::AnyTable*, 4> all_tables() {
  return {&launch::library_table(), &transport::options_table(), &transport::rail_options_table(),
          &simulate::parameters_table()};
}

}  // namespace holdfast::cli
