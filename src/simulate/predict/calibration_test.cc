#include "simulate/predict/calibration.h"

#include <gtest/gtest.h>

#include "core/config/toml_file.h"
#include "simulate/job/protocol.h"

namespace holdfast::simulate::predict {
namespace {

/// As a machine with these parameters would measure: send 400 + 0.05 a byte, receive 250 + 0.1 a byte, latency 150.
std::string measured(int hosts = 1) {
  return "Some launcher says hello\nhosts " + std::to_string(hosts) +
         "\neager_limit 4000\nsend 0 400\nsend 2000 500\nsend 4000 600\nreceive 0 250\nreceive 2000 450\n"
         "receive 4000 650\none_way 1 800\nreduce 1000 125\nbarrier 900\nallreduce8 1000\nlate 400 20\nend\n";
}

TEST(Calibration, FindsTheParametersOfAMachine) {
  const auto read = read_measurements(measured());
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto found = fit(read.value());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().eager_limit, 4000u);
  EXPECT_EQ(found.value().send_overhead_ns, 400);
  EXPECT_EQ(found.value().receive_overhead_ns, 250);
  EXPECT_EQ(found.value().send_byte_ps, 50);
  EXPECT_EQ(found.value().receive_byte_ps, 100);
  EXPECT_EQ(found.value().reduce_byte_ps, 125);
  EXPECT_EQ(found.value().latency_ns, 150);
  EXPECT_DOUBLE_EQ(found.value().barrier_by_model_ns(), 800);
  EXPECT_NE(to_toml(found.value(), "mpich").find("busy: 5 %"), std::string::npos);
}

TEST(Calibration, ItsFileIsReadAsOptions) {
  const Calibration one = fit(read_measurements(measured()).value()).value();
  const Calibration two = fit(read_measurements(measured(2)).value()).value();
  config::Settings<job::Protocol> near(job::protocol_table()), far(job::protocol_table());
  config::AnySettings* of_one[] = {&near};
  config::AnySettings* of_two[] = {&far};
  ASSERT_TRUE(config::read_toml(to_toml(one, "mpich"), "one", of_one).ok());
  ASSERT_TRUE(config::read_toml(to_toml(two, "openmpi"), "two", of_two).ok());
  EXPECT_EQ(near.options().collectives, job::Rules::mpich);
  EXPECT_EQ(near.options().shared_eager_limit, 4000u);
  EXPECT_EQ(near.options().shared_latency_ns, 150);
  EXPECT_EQ(near.options().shared_byte_ps, 50);
  EXPECT_EQ(near.options().send_overhead_ns, 400);
  EXPECT_EQ(far.options().eager_limit, 4000u);
  EXPECT_EQ(far.options().send_byte_ps, 50);
  // What was measured is not assumed; what was not, is.
  const auto guesses = near.left_at_defaults();
  const auto has = [&](std::string_view name) {
    for (const std::string& guess : guesses)
      if (guess.starts_with(name)) return true;
    return false;
  };
  EXPECT_FALSE(has("mpi.shared_latency "));
  EXPECT_FALSE(has("mpi.send_overhead "));
  EXPECT_TRUE(has("mpi.eager_limit "));
}

TEST(Calibration, NonsenseIsTold) {
  const auto refuses = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    const auto read = read_measurements(text);
    return !read.ok() && read.status().code() == Code::bad_input;
  };
  EXPECT_TRUE(refuses(measured(), "end\n", ""));
  EXPECT_TRUE(refuses(measured(), "send 2000 500", "send 2000"));
  EXPECT_TRUE(refuses(measured(), "send 2000 500", "send 2000 nan"));
  EXPECT_TRUE(refuses(measured(), "send 2000 500", "send -1 500"));
  EXPECT_TRUE(refuses(measured(), "barrier 900", "barrier 900 1"));
  EXPECT_TRUE(refuses(measured(), "barrier 900\n", ""));
  EXPECT_TRUE(refuses(measured(), "barrier 900\n", "barrier 900\nbarrier 900\n"));
  EXPECT_TRUE(refuses(measured(), "eager_limit 4000", "eager_limit 1e30"));
}

TEST(Calibration, NothingIsBelowZero) {
  std::string text = measured();
  text.replace(text.find("one_way 1 800"), 13, "one_way 1 100");
  EXPECT_EQ(fit(read_measurements(text).value()).value().latency_ns, 0);
}

}  // namespace
}  // namespace holdfast::simulate::predict
