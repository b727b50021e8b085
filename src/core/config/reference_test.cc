#include "core/config/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "core/config/sample_options_for_tests.h"

namespace holdfast::config {
namespace {

using testing::HasSubstr;

const AnyTable* const tables[] = {&sample::table()};

TEST(Reference, HelpSaysAllAboutARow) {
  EXPECT_EQ(help_text(*sample::table().find("replicate.window")),
            "--replicate.window INTEGER\n    Packets in flight.\n    [default: 64 packets; allowed: 1 to 4096 packets; "
            "environment: HOLDFAST_REPLICATE_WINDOW]\n");
}

TEST(Reference, MarkdownHasEveryNameOfARow) {
  EXPECT_THAT(reference_markdown(tables), HasSubstr("\n### `replicate.ack_delay`\n\n"
                                                    "How long an acknowledgement may wait.\n\n"
                                                    "- flag: `--replicate.ack-delay DURATION`\n"
                                                    "- environment: `HOLDFAST_REPLICATE_ACK_DELAY`\n"
                                                    "- file: `[replicate]` `ack_delay = \"10ms\"`\n"
                                                    "- default: `10ms`\n"
                                                    "- allowed: 1us to 10s\n"));
}

TEST(Reference, EveryRowIsInThePage) {
  const std::string markdown = reference_markdown(tables);
  for (const Option& option : sample::table().rows())
    EXPECT_THAT(markdown, HasSubstr("### `" + std::string(option.row.name) + "`"));
}

TEST(Reference, ProseIsBrokenBetweenWords) {
  std::string page = reference_markdown(tables);
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
  std::replace(page.begin(), page.end(), '\n', ' ');
  EXPECT_THAT(page, HasSubstr("and the file over the default. `holdfast config explain` shows the effective values and "
                              "where each came from."));
}

TEST(Reference, ACommittedFileIsHeldToTheRows) {
  const std::string path = testing::TempDir() + "holdfast_reference_test-" + std::to_string(::getpid());
  const std::string page = reference_markdown(tables);
  std::ofstream(path, std::ios::binary) << page;
  EXPECT_EQ(check_generated_file(path, page, "make page").message(), "ok");
  EXPECT_EQ(check_generated_file(path, "# Options\n\nchanged", "make page").message(),
            "checking the generated file " + path + ": line 3 differs from the option rows: run 'make page'");
  EXPECT_FALSE(check_generated_file(path, page + "more", "make page"));
  std::remove(path.c_str());
  EXPECT_EQ(check_generated_file(path, page, "make page").code(), Code::io);
}

TEST(Reference, ADocOfSeveralLinesIsOneLineOfHelp) {
  EXPECT_EQ(doc_line({.name = "a.b", .initial = "1", .doc = "What to do: end, or go on without the\nreplica. More."}),
            "What to do: end, or go on without the replica. More.");
}

}  // namespace
}  // namespace holdfast::config
