#include "fabric/tables/columns.h"

#include <gtest/gtest.h>

#include "core/random/stream.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

TEST(Columns, HaveWhatTablesHaveInAnyOrder) {
  for (const char* text : {"tree(2,2)", "tree(6,2)", "torus(5,5) hosts=100"}) {
    const Fabric fabric = generate(text).value();
    Forwarding tables(fabric);
    random::Stream draw = random::Stream(1).child(text);
    for (std::uint32_t row = 0; row < tables.rows(); ++row) {
      for (Lid lid = 0; lid < tables.lids(); ++lid)
        tables.set_out_port(row, lid, static_cast<std::uint8_t>(draw.below(256)));
    }
    Columns columns(tables);
    const auto expect_column = [&](Lid lid) {
      const std::uint8_t* column = columns.of(lid);
      for (std::uint32_t row = 0; row < tables.rows(); ++row)
        ASSERT_EQ(column[row], tables.out_port(row, lid)) << text << ", LID " << lid;
    };
    for (Lid lid = 0; lid < tables.lids(); ++lid) expect_column(lid);
    for (unsigned i = 0; i < 200; ++i) expect_column(static_cast<Lid>(draw.below(tables.lids())));
    expect_column(tables.lids() - 1);
  }
}

}  // namespace
}  // namespace holdfast::fabric
