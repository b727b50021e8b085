#include "replicate/launch/transport.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

TEST(Transport, MpichIsRefusedWithAReason) {
  const auto variables = transport_variables(Mpi::mpich, "", "/nowhere");
  ASSERT_FALSE(variables.ok());
  EXPECT_EQ(variables.status().code(), Code::bad_input);
}

TEST(Transport, CountersOfAllProcessesAreSummed) {
  char folder[] = "/tmp/holdfast-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::filesystem::path path = folder;
  std::ofstream(path / "transport-1-a.json") << R"({"fragments_sent": 1200, "rails_lost": 1})";
  std::ofstream(path / "transport-2-b.json") << R"({"fragments_sent": 34, "time_without_rail_ns": 5000000})";
  std::ofstream(path / "transport-3-c.json") << "{damaged";
  std::ofstream(path / "record.json") << R"({"fragments_sent": 7})";
  EXPECT_EQ(transport_line(read_transport_counters(folder)),
            "transport: 1,234 fragments, 0 sent again, 0 corrupt, 0 duplicates, 1 times a rail lost, "
            "5 ms without a rail");
  std::filesystem::remove_all(path);
  EXPECT_TRUE(read_transport_counters(folder).is_null());
}

}  // namespace
}  // namespace holdfast::launch
