#include "core/config/environment.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/config/sample_options_for_tests.h"

namespace holdfast::config {
namespace {

Status read(Settings<sample::Options>& settings, std::vector<const char*> environment) {
  environment.push_back(nullptr);
  return read_environment(settings, environment.data());
}

TEST(Environment, ReadsTheComponentsVariablesAndLeavesOthersAlone) {
  Settings<sample::Options> settings(sample::table());
  const Status status = read(settings, {"PATH=/bin", "HOLDFAST_REPLICATE_ACK_DELAY=3ms", "HOLDFAST_TRANSPORT_X=1",
                                        "HOLDFAST_REPLICATE_MAP=a=b", "HOLDFAST_REPLICATES=1", "NO_EQUALS"});
  EXPECT_EQ(status.message(), "ok");
  EXPECT_EQ(settings.options().ack_delay_ns, 3'000'000);
  EXPECT_EQ(settings.options().map, "a=b");
  EXPECT_EQ(origin_text(settings.show()[1].origin), "HOLDFAST_REPLICATE_ACK_DELAY");
}

TEST(Environment, AnUnknownVariableIsAnErrorWithAHint) {
  Settings<sample::Options> settings(sample::table());
  EXPECT_EQ(read(settings, {"HOLDFAST_REPLICATE_PROTCOL=x"}).message(),
            "reading the environment: unknown option 'HOLDFAST_REPLICATE_PROTCOL': did you mean "
            "'HOLDFAST_REPLICATE_PROTOCOL'?");
}

TEST(Environment, ABadValueNamesTheVariable) {
  Settings<sample::Options> settings(sample::table());
  EXPECT_EQ(read(settings, {"HOLDFAST_REPLICATE_WINDOW=0"}).message(),
            "reading HOLDFAST_REPLICATE_WINDOW: '0' is out of bounds for replicate.window: give a value of 1 to 4096 "
            "packets");
}

TEST(Environment, GivesAnotherProcessTheSameSettings) {
  Settings<sample::Options> here(sample::table());
  ASSERT_TRUE(here.set("replicate.protocol", "all-to-all", {Source::flag, "--replicate.protocol"}));
  ASSERT_TRUE(here.set("replicate.share", "0.1", {Source::file, "x.toml line 1"}));
  Settings<sample::Options> there(sample::table());
  std::vector<std::string> entries;
  for (const auto& [name, text] : here.to_environment()) entries.push_back(name + "=" + text);
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  ASSERT_EQ(read(there, environment).message(), "ok");
  for (std::size_t i = 0; i < here.show().size(); ++i) EXPECT_EQ(here.show()[i].value, there.show()[i].value);
}

}  // namespace
}  // namespace holdfast::config
