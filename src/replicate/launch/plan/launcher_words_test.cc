#include "replicate/launch/plan/launcher_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::launch {
namespace {

const std::string rule = std::string(74, '-') + "\n";
const std::string banner =
    rule + "mpirun.openmpi noticed that process rank 3 with PID 0 on node here exited on signal 9 (Killed).\n" + rule;
const std::string pmix = "[here:1234] PMIX ERROR: BAD-PARAM in file ../dstore.c at line 1\n";
const std::string connection =
    "[here][[9456,1],0][../../opal/mca/btl/tcp/btl_tcp_proc.c:266:create_graph] Unable to find reachable pairing\n";
const std::string prrte = rule + "prterun detected that one or more processes exited with non-zero status,\n\n" +
                          "   Process name: [prterun-here-51@1,1]\n   Exit code:    3\n" + rule;
const std::string hydra = "[proxy:0:0@here] HYD_pmcd_pmip_control_cmd_cb (proxy/pmip_cb.c:480): assert failed\n";
const std::string table = rule + "step   energy\n" + rule + "1  2\n";
const std::string lines = "a word\n[rank 0] done\n[1:2] x\n[a][[1,2],3] matrix.c: 4\nsrun is a launcher\n- item\n";

struct Told {
  std::string shown;
  std::string kept;
};

/// With a piece at a time, which are as long as that.
Told tell(const std::string& text, std::size_t piece) {
  LauncherWords words;
  Told told;
  for (std::size_t at = 0; at < text.size(); at += piece) words.take(text.substr(at, piece), told.shown, told.kept);
  words.flush(told.shown, told.kept);
  return told;
}

TEST(LauncherWords, AreKeptApartHoweverTheyArrive) {
  const std::string all =
      "begin\n" + banner + lines + pmix + connection + table + prrte + hydra + "end without a newline";
  for (std::size_t piece = 1; piece <= all.size(); ++piece) {
    const Told told = tell(all, piece);
    EXPECT_EQ(told.shown, "begin\n" + lines + table + "end without a newline") << piece;
    EXPECT_EQ(told.kept, banner + pmix + connection + prrte + hydra) << piece;
  }
}

TEST(LauncherWords, AProgramsPromptIsShownAtOnce) {
  LauncherWords words;
  Told told;
  words.take("how many? ", told.shown, told.kept);
  EXPECT_EQ(told.shown, "how many? ");
  words.take("[y/n] ", told.shown, told.kept);
  EXPECT_EQ(told.shown, "how many? [y/n] ");
  words.take("\n[", told.shown, told.kept);
  EXPECT_EQ(told.shown, "how many? [y/n] \n") << "this may be the launcher's";
  words.flush(told.shown, told.kept);
  EXPECT_EQ(told.shown, "how many? [y/n] \n[");
  EXPECT_EQ(told.kept, "");
}

TEST(LauncherWords, ABlockThatNeverEndsHidesNoProgram) {
  std::string endless = rule + "mpirun noticed something\n";
  for (int i = 0; i < 200; ++i) endless += "line\n";
  EXPECT_THAT(tell(endless, 7).shown, testing::HasSubstr("line\nline\n"));
}

}  // namespace
}  // namespace holdfast::launch
