#include "plan/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::plan {
namespace {

using testing::HasSubstr;

Machine machine(const std::string& transport = "") {
  return read_machine(
             "[machine]\nname = \"m\"\nnodes = 4\n[transport]\nbandwidth = \"10 Gbit/s\"\nround_trip = \"5 us\"\n"
             "bit_error_rate = 1e-12\n" +
                 transport,
             "m.toml")
      .value();
}

TEST(Calibration, ReplacesDefaultsAndSaysFromWhere) {
  Machine at = machine();
  ASSERT_TRUE(take_calibration("[mpi]\nsend_overhead = \"46ns\"\nreceive_overhead = \"287ns\"\nreceive_byte = 400\n",
                               "here.toml", at)
                  .ok());
  EXPECT_DOUBLE_EQ(at.fragment_cost_s.value, 287e-9);
  EXPECT_THAT(at.fragment_cost_s.source, HasSubstr("here.toml"));
  EXPECT_DOUBLE_EQ(at.copy_bit_per_s.value, 20e9);
  EXPECT_THAT(at.copy_bit_per_s.source, HasSubstr("mpi.receive_byte"));
}

TEST(Calibration, LeavesWhatTheDescriptionSaysAndWhatWasNotMeasured) {
  Machine at = machine("fragment_cost = \"3 us\"\n");
  const double copy = at.copy_bit_per_s.value;
  ASSERT_TRUE(take_calibration("[mpi]\nsend_overhead = \"46ns\"\nreceive_byte = 0\n", "here.toml", at).ok());
  EXPECT_DOUBLE_EQ(at.fragment_cost_s.value, 3e-6);
  EXPECT_DOUBLE_EQ(at.copy_bit_per_s.value, copy);
}

TEST(Calibration, RefusesWhatIsNone) {
  for (const auto& [text, says] : {std::pair<std::string_view, std::string_view>{"[mpi", "line 1"},
                                   {"\xc3\xa5", "line 1"},
                                   {"", "no table [mpi]"},
                                   {"mpi = 3\n", "no table [mpi]"},
                                   {"[mpi]\nsend_overhead = 3\n", "mpi.send_overhead is no time"},
                                   {"[mpi]\nreceive_overhead = \"3 h\"\n", "mpi.receive_overhead is no time"},
                                   {"[mpi]\nreceive_byte = -1\n", "mpi.receive_byte is no number"},
                                   {"[mpi]\nreceive_byte = 1e-320\n", "mpi.receive_byte is no number"},
                                   {"[mpi]\nreceive_byte = nan\n", "mpi.receive_byte is no number"}}) {
    Machine at = machine();
    const Status status = take_calibration(text, "here.toml", at);
    EXPECT_EQ(status.code(), Code::bad_input) << text;
    EXPECT_THAT(status.message(), HasSubstr(std::string(says)));
  }
}

}  // namespace
}  // namespace holdfast::plan
