#include "replicate/launch/plan/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "core/scratch/scratch_folder.h"

namespace holdfast::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseHostfile, ReadsBothDialects) {
  auto hosts = parse_hostfile("# cluster\nalpha slots=4 max_slots=8\n\nbeta:2  # two\ngamma\r\nalpha\n", "h");
  ASSERT_TRUE(hosts.ok()) << hosts.status().message();
  EXPECT_THAT(hosts.value(), ElementsAre(Host{"alpha", 5}, Host{"beta", 2}, Host{"gamma", 1}));
}

TEST(ParseHostfile, NamesLineAndColumn) {
  EXPECT_THAT(parse_hostfile("alpha\nbeta slots=x\n", "h").status().message(), HasSubstr("h:2:6: 'slots=x'"));
  EXPECT_THAT(parse_hostfile("alpha cores=3", "h").status().message(), HasSubstr("h:1:7: 'cores=3' is not"));
  EXPECT_THAT(parse_hostfile("alpha:0", "h").status().message(), HasSubstr("h:1:1: 'alpha:0' has no valid"));
  EXPECT_THAT(parse_hostfile(":3", "h").status().message(), HasSubstr("no host name"));
  EXPECT_THAT(parse_hostfile("alpha slots=", "h").status().message(), HasSubstr("no valid number"));
  EXPECT_THAT(parse_hostfile("# nothing\n", "h").status().message(), HasSubstr("names no host"));
}

TEST(ParseHostfile, RefusesMoreSlotsThanCanBeCounted) {
  std::string text;
  for (int line = 0; line < 2200; ++line) text += "alpha slots=1000000\n";
  EXPECT_THAT(parse_hostfile(text, "h").status().message(), HasSubstr("h:2148: there are more than 2147483647 slots"));
  EXPECT_EQ(parse_hostfile("alpha slots=999999\nalpha\nalpha\n", "h").value().front().slots, 1'000'001);
}

TEST(ParseHostfile, FindsHostsAgainAmongMany) {  // took half a minute with a search through the list for each line
  std::string text;
  for (int pass = 0; pass < 2; ++pass)
    for (int host = 0; host < 200'000; ++host) text += "node" + std::to_string(host) + "\n";
  const auto hosts = parse_hostfile(text, "h");
  ASSERT_TRUE(hosts.ok()) << hosts.status().message();
  ASSERT_EQ(hosts.value().size(), 200'000U);
  EXPECT_EQ(hosts.value().back(), (Host{"node199999", 2}));
}

TEST(ParseSlurmCounts, RefusesMoreThanAMillionHosts) {
  EXPECT_EQ(parse_slurm_counts("1(x999999),2").value().size(), 1'000'000U);
  EXPECT_FALSE(parse_slurm_counts("1(x999999),1,1").ok());
  std::string giant = "1(x1000000)";
  for (int i = 0; i < 8000; ++i) giant += ",1(x1000000)";
  EXPECT_FALSE(parse_slurm_counts(giant).ok());
  EXPECT_LT(parse_slurm_counts(giant).status().message().size(), 300U);
}

TEST(ParseSlurmCounts, ExpandsRepeats) {
  EXPECT_THAT(parse_slurm_counts("2(x3),1").value(), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(parse_slurm_counts("16").value(), ElementsAre(16));
  for (const char* bad : {"", "x", "2(x", "2(x)", "2(x0)", "0", "2(x99999999999)", ",", "2(x2"})
    EXPECT_FALSE(parse_slurm_counts(bad).ok()) << bad;
}

TEST(SlurmHosts, AsksScontrol) {
  const scratch::ScratchFolder folder;
  std::ofstream(folder.file("scontrol")) << "#!/bin/sh\n[ \"$3\" = 'n[1-3]' ] && printf 'n1\\nn2\\nn3\\n'\n";
  chmod(folder.file("scontrol").c_str(), 0755);
  std::string path = std::getenv("PATH");
  setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  setenv("SLURM_JOB_NODELIST", "n[1-3]", 1);
  setenv("SLURM_TASKS_PER_NODE", "4(x2),2", 1);
  auto hosts = slurm_hosts();
  unsetenv("SLURM_JOB_NODELIST");
  unsetenv("SLURM_TASKS_PER_NODE");
  setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(hosts.ok()) << hosts.status().message();
  EXPECT_THAT(hosts.value(), ElementsAre(Host{"n1", 4}, Host{"n2", 4}, Host{"n3", 2}));
  EXPECT_THAT(slurm_hosts().value(), ElementsAre()) << "outside an allocation";
}

TEST(UsableCores, IsAtLeastOne) {
  EXPECT_GE(usable_cores(), 1);
}

}  // namespace
}  // namespace holdfast::launch
