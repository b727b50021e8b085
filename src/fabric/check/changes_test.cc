#include "fabric/check/changes.h"

#include <gtest/gtest.h>

#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

TEST(CompareTables, CountsEntriesBlocksSwitchesAndLevels) {
  const Fabric fabric = generate("mesh(2,2) hosts=100").value();
  const Forwarding before(fabric);
  Forwarding after(fabric);
  Changes none_yet = compare_tables(fabric, before, after);
  EXPECT_EQ(none_yet.entries, 4U * 104);
  EXPECT_EQ(none_yet.changed, 0U);
  after.set_out_port(0, 3, 5);
  after.set_out_port(0, 63, 5);
  after.set_out_port(0, 64, 5);
  after.set_out_port(2, 104, 5);
  after.set_out_port(2, 0, 5);  // LID 0 belongs to nobody
  after.set_service_level(1, 0, 40, 3);
  const Changes changes = compare_tables(fabric, before, after);
  EXPECT_EQ(changes.changed, 4U);
  EXPECT_EQ(changes.switches, 2U);
  EXPECT_EQ(changes.blocks, 3U);
  EXPECT_EQ(changes.levels, 1U);
}

}  // namespace
}  // namespace holdfast::fabric
