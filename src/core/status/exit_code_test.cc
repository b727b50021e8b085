#include "core/status/exit_code.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace holdfast {
namespace {

TEST(ExitCodes, EachStandsOnceWithItsMeaning) {
  std::set<int> codes;
  std::set<std::string_view> meanings;
  for (const ExitRow& row : exit_codes()) {
    EXPECT_TRUE(codes.insert(row.code).second) << row.code;
    EXPECT_TRUE(meanings.insert(row.meaning).second) << row.meaning;
    EXPECT_FALSE(row.doc.empty());
  }
  for (Exit code : {Exit::success, Exit::application, Exit::bad_input, Exit::uncorrected, Exit::diverged,
                    Exit::unavailable, Exit::refused, Exit::internal, Exit::time_limit, Exit::signal_base})
    EXPECT_TRUE(codes.contains(static_cast<int>(code))) << static_cast<int>(code);
}

TEST(ExitCodes, MeaningNamesTheSignal) {
  EXPECT_EQ(exit_meaning(130), "ended by signal 2 (Interrupt)");
  EXPECT_EQ(exit_meaning(2), "bad input");
}

TEST(ExitCodes, ReferencePageIsTheTable) {
  std::ifstream file(HOLDFAST_SOURCE_DIR "/docs/reference/exit-codes.md");
  std::string page((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(page, exit_code_page()) << "regenerate: holdfast reference exit-codes > docs/reference/exit-codes.md";
}

TEST(ExitFor, KeepsBadInputApartFromDamage) {
  EXPECT_EQ(exit_for(Code::not_found), Exit::bad_input);
  EXPECT_EQ(exit_for(Code::corrupt), Exit::uncorrected);
  EXPECT_EQ(exit_for(Code::diverged), Exit::diverged);
  EXPECT_EQ(exit_for(Code::io), Exit::unavailable);
  EXPECT_EQ(exit_for(Code::internal), Exit::internal);
}

}  // namespace
}  // namespace holdfast
