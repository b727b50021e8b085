#include "replicate/launch/report/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace holdfast::launch {
namespace {

using testing::HasSubstr;

TEST(Inventory, NamesThePackageOfWhatIsMissing) {
  std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  Inventory inventory = take_inventory();
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(inventory.any_mpi);
  EXPECT_GE(inventory.cores, 1);
  std::string text = inventory_text(inventory);
  EXPECT_THAT(text, HasSubstr("apt-get install openmpi-bin"));
  EXPECT_THAT(text, HasSubstr("apt-get install mpich"));
  EXPECT_THAT(text, HasSubstr("apt-get install lammps"));
  EXPECT_THAT(text, HasSubstr("no job can run"));
}

TEST(Inventory, TextAndRecordSayTheSame) {
  Inventory inventory;
  inventory.items = {{"A", true, "1.2, /bin/a", "get a", "x"}, {"B", false, "", "get b", "y"}};
  inventory.any_mpi = true;
  EXPECT_THAT(inventory_text(inventory), HasSubstr("1.2, /bin/a"));
  EXPECT_THAT(inventory_text(inventory), HasSubstr("missing, needed for y: get b"));
  auto record = inventory_json(inventory);
  EXPECT_EQ(record["items"][0]["remedy"], "");
  EXPECT_EQ(record["items"][1]["remedy"], "get b");
}

}  // namespace
}  // namespace holdfast::launch
