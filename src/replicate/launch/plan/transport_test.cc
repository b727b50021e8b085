#include "replicate/launch/plan/transport.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "replicate/launch/detect/library.h"

namespace holdfast::launch {
namespace {

TEST(Transport, AnMpichWithoutLibfabricIsRefusedWithAReason) {
  Program program{"/program", Mpi::mpich, false, false, "/proc/self/exe"};
  const auto variables = transport_variables(program, "", "/nowhere");
  ASSERT_FALSE(variables.ok());
  EXPECT_EQ(variables.status().code(), Code::bad_input);
  EXPECT_NE(variables.status().message().find("does not use libfabric"), std::string::npos);
  program.library.clear();
  EXPECT_EQ(transport_variables(program, "", "/nowhere").status().code(), Code::bad_input);
}

TEST(Transport, AnMpichThatCallsLibfabricIsGivenTheProvider) {
  const auto calls_libfabric = find_provider();
  if (!calls_libfabric.ok()) GTEST_SKIP() << calls_libfabric.status().message();
  const auto variables =
      transport_variables({"/program", Mpi::mpich, false, false, calls_libfabric.value()}, "udp", "/x");
  ASSERT_TRUE(variables.ok()) << variables.status().message();
  const auto& list = variables.value();
  EXPECT_NE(std::find(list.begin(), list.end(), Variable("FI_PROVIDER", "holdfast")), list.end());
  EXPECT_NE(std::find(list.begin(), list.end(), Variable("HOLDFAST_RAILS_USE", "udp")), list.end());
}

TEST(Transport, OptionsOfTheEnvironmentArePassedOnAndDoNotReplaceOurs) {
  setenv("HOLDFAST_TRANSPORT_UNREACHABLE_AFTER", "3s", 1);
  setenv("HOLDFAST_RAILS_COUNTERS", "/elsewhere", 1);
  const auto variables = transport_variables(Program{"/program", Mpi::openmpi, false, false, ""}, "", "/here");
  unsetenv("HOLDFAST_TRANSPORT_UNREACHABLE_AFTER");
  unsetenv("HOLDFAST_RAILS_COUNTERS");
  if (!variables.ok()) GTEST_SKIP() << variables.status().message();  // the provider's library is not built
  const auto count = [&](const char* name, const char* value) {
    return std::count(variables.value().begin(), variables.value().end(), Variable(name, value));
  };
  EXPECT_EQ(count("HOLDFAST_TRANSPORT_UNREACHABLE_AFTER", "3s"), 1);
  EXPECT_EQ(count("HOLDFAST_RAILS_COUNTERS", "/here"), 1);
  EXPECT_EQ(count("HOLDFAST_RAILS_COUNTERS", "/elsewhere"), 0);
}

TEST(Transport, CountersOfAllProcessesAreSummed) {
  char folder[] = "/tmp/holdfast-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::filesystem::path path = folder;
  std::ofstream(path / "transport-1-a.json") << R"({"fragments_sent": 1200, "rails_lost": 1})";
  std::ofstream(path / "transport-2-b.json") << R"({"fragments_sent": 34, "time_without_rail_ns": 5000000})";
  std::ofstream(path / "transport-3-c.json") << "{damaged";
  std::ofstream(path / "record.json") << R"({"fragments_sent": 7})";
  EXPECT_EQ(messages_lost(read_transport_counters(folder)), std::nullopt) << "the third process may have lost some";
  EXPECT_EQ(transport_line(read_transport_counters(folder)),
            "transport: 1,234 fragments, 0 sent again, 0 corrupt, 0 duplicates, 1 times a rail lost, "
            "5 ms without a rail");
  std::filesystem::remove_all(path);
  EXPECT_TRUE(read_transport_counters(folder).is_null());
  EXPECT_EQ(messages_lost(read_transport_counters(folder)), 0U) << "of a program that had no transport";
}

}  // namespace
}  // namespace holdfast::launch
