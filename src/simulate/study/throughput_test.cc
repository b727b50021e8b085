#include "simulate/study/throughput.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "core/input/text_file.h"
#include "core/scratch/scratch_folder.h"
#include "fabric/formats/discovery.h"
#include "fabric/topology/generate.h"
#include "simulate/study/provenance.h"

namespace holdfast::simulate::study {
namespace {

using testing::HasSubstr;

constexpr const char* small_study = R"toml([study]
name = "small"
[simulate]
mtu = 1024
[ageing.fast]
link_rate = 0.2
links_per_switch = 4
[[group]]
name = "g"
fabric = ["tree(4,2)", "torus(3,3) hosts=18"]
engine = ["ftree", "dfsssp,updn"]
failures = ["none", "fail-link share 10%"]
ageing = "fast"
years = [0, 2]
traffic = ["exchange", "uniform messages=10"]
seeds = 3
)toml";

TEST(ThroughputFile, PointsAreTheProductWithOneSeedWhereNothingIsRandom) {
  const auto file = read_throughput_file(small_study, "small.toml");
  ASSERT_TRUE(file.ok()) << file.status().message();
  // 2 fabrics x 3 engines x (exchange: 2 healthy scenarios once, 2 damaged by 3 seeds; uniform: 4 by 3)
  EXPECT_EQ(file.value().points.size(), 2U * 3 * ((2 + 2 * 3) + 4 * 3));
  EXPECT_EQ(file.value().options.front().settings.options().mtu, 1024U);
  const auto study = read_any_study(small_study, "small.toml").value();
  std::set<std::string> keys;
  for (const Point& point : study->points) keys.insert(point.key);
  EXPECT_EQ(keys.size(), study->points.size());
  EXPECT_EQ(study->points.front().parameters["options"]["simulate.mtu"], "1024");
}

TEST(ThroughputFile, OptionSetsAreRunBesideOneAnother) {
  const std::string text =
      "[study]\nname = \"x\"\n[simulate]\nmtu = 1024\n[options.slow]\nswitch_latency = \"10us\"\n[options.short]\n"
      "mtu = 256\n[[group]]\nfabric = \"tree(4,2)\"\nengine = [\"updn\", \"dfsssp\"]\ntraffic = \"exchange\"\n"
      "options = [\"default\", \"slow\", \"short\"]\n";
  const auto file = read_throughput_file(text, "x.toml");
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file.value().options.size(), 3U);
  const auto study = read_any_study(text, "x.toml").value();
  ASSERT_EQ(study->points.size(), 6U);
  std::set<std::string> keys;
  for (const Point& point : study->points) keys.insert(point.key);
  EXPECT_EQ(keys.size(), 6U);
  const auto given = [&](std::size_t point) { return study->points[point].parameters["options"]; };
  EXPECT_EQ(given(0), Json({{"simulate.mtu", "1024"}})) << "as without option sets";
  EXPECT_EQ(given(1).size(), 2U) << "over [simulate]: " << given(1);
  EXPECT_EQ(given(2), Json({{"simulate.mtu", "256"}})) << "in its place";
  // what is simulated is what the key says: 10 us in each of three switches are seen at once
  const Json plain = study->run(0).value().result, slow = study->run(1).value().result;
  EXPECT_GT(slow["message_latency_mean_ps"].get<double>(), plain["message_latency_mean_ps"].get<double>() + 9e6);
}

TEST(ThroughputFile, AgeingMayComeFromALogOfFailures) {
  const scratch::ScratchFolder folder;
  std::ofstream log(folder.file("room.csv"));
  log << "observed, 2010-01-01, 2018-01-01\nparts, link, 1000\nparts, switch, 50\n";
  for (int i = 0; i < 80; ++i) log << "failed, link, l" << i << ", " << 2010 + i / 10 << "-0" << 1 + i % 9 << "-15\n";
  log.close();
  const std::string text =
      "[study]\nname = \"x\"\n[ageing.room]\nlog = \"room.csv\"\n[[group]]\nfabric = \"tree(4,2)\"\nengine = \"updn\"\n"
      "ageing = \"room\"\nyears = [2]\n";
  const auto study = read_any_study(text, folder.file("x.toml"));
  ASSERT_TRUE(study.ok()) << study.status().message();
  const Json& parameters = study.value()->points.at(0).parameters;
  EXPECT_NEAR(parameters["link_rate"].get<double>(), 0.01, 0.004) << "80 of 1,000 in eight years";
  EXPECT_NEAR(parameters["shape"].get<double>(), 1, 0.15);
  EXPECT_EQ(parameters["switch_rate"].get<double>(), 0);
  for (const char* wrong : {"log = \"none.csv\"\n", "log = \"room.csv\"\nshape = 2\n", "log = \"x\\u0000\"\n"})
    EXPECT_FALSE(read_any_study("[study]\nname = \"x\"\n[ageing.a]\n" + std::string(wrong), folder.file("x.toml")).ok())
        << wrong;
}

TEST(ThroughputFile, TheContentsOfAFileArePartOfTheKey) {
  const scratch::ScratchFolder folder;
  const auto lay = [&](const char* topology) {
    std::ofstream(folder.file("f.net")) << fabric::write_discovery(fabric::generate(topology).value());
  };
  const std::string text =
      "[study]\nname = \"x\"\n[[group]]\nfabric = [\"f.net\", \"tree(4,2)\"]\nengine = \"updn\"\ntraffic = "
      "\"exchange\"\n";
  lay("tree(4,2)");
  const auto before = read_any_study(text, folder.file("x.toml")).value();
  EXPECT_EQ(read_any_study(text, folder.file("x.toml")).value()->points[0].key, before->points[0].key);
  lay("torus(3,3) hosts=18");
  const auto after = read_any_study(text, folder.file("x.toml")).value();
  EXPECT_NE(after->points[0].key, before->points[0].key);
  EXPECT_EQ(identity(after->points[0].parameters), identity(before->points[0].parameters));
  EXPECT_EQ(after->points[1].key, before->points[1].key) << "a topology is its own contents";
  EXPECT_EQ(difference(before->points[0].parameters, after->points[0].parameters),
            folder.file("f.net") + " has other contents now");
  // What is computed is what the key says, although the file has been replaced since the study was read.
  const Json healthy = before->run(1).value().result;
  EXPECT_EQ(before->run(0).value().result["throughput_bytes_per_s"], healthy["throughput_bytes_per_s"]);
  EXPECT_NE(after->run(0).value().result["throughput_bytes_per_s"], healthy["throughput_bytes_per_s"]);
  Staleness staleness("throughput");
  EXPECT_EQ(staleness.of(before->points[0].parameters), folder.file("f.net") + " has other contents now");
  EXPECT_EQ(staleness.of(after->points[0].parameters), "");
  EXPECT_EQ(staleness.of(after->points[1].parameters), "");
  Json older = after->points[1].parameters;
  older["computed_by"] = "throughput 0";
  EXPECT_EQ(staleness.of(older), "computed by throughput 0, which is " + computed_by("throughput") + " now");
}

TEST(ThroughputFile, AFileInTheFolderIsNotTakenForATopology) {
  const std::string text =
      "[study]\nname = \"x\"\n[[group]]\nfabric = \"torus-5x5\"\nengine = \"updn\"\ntraffic = "
      "\"exchange messages=1\"\n";
  const auto study = read_any_study(text, "x.toml").value();
  const scratch::ScratchFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  std::ofstream("torus-5x5") << "nonsense\n";
  const auto finished = study->run(0);
  std::filesystem::current_path(before);
  EXPECT_TRUE(finished.ok()) << finished.status().message();
}

TEST(ThroughputFile, MistakesAreSaidWithTheirLine) {
  const std::string head = "[study]\nname = \"x\"\n[[group]]\nfabric = \"tree(4,2)\"\nengine = \"updn\"\n";
  const std::pair<std::string, std::string> wrong[] = {
      {"[study\n", "line 1"},
      {"x = 1\n", "no name"},
      {"[study]\nname = \"x\"\n", "no points"},
      {"[study]\nname = \"x\"\nkind = \"throughputs\"\n", "line 3: there is no kind of study 'throughputs'"},
      {"[study]\nname = \"x\"\n[simulate]\nmtuu = 3\n", "line 4"},
      {"[study]\nname = \"x\"\n[simulate]\nmtu = 3000000\n", "line 4"},
      {"[study]\nname = \"x\"\n[simulate]\nmtu = []\n", "no value"},
      {"[study]\nname = \"x\"\n[[group]]\n", "line 3: the group has no fabric"},
      {"[study]\nname = \"x\"\n[[group]]\nfabric = \"tree(4,2)\"\n", "no engine"},
      {head + "failures = [\"none\", \"fail-lnk share 1%\"]\n", "line 6"},
      {head + "failures = \"drop rate 1/2\"\n", "no failure of a fabric"},
      {head + "failures = 3\n", "no text"},
      {head + "traffic = \"unifrom\"\n", "line 6"},
      {head + "years = [1]\n", "'years' without ageing"},
      {head + "ageing = \"a\"\n", "there is no ageing 'a'"},
      {head + "seeds = 0\n", "line 6"},
      {head + "seeds = 2\nseed = 3\n", "contradict"},
      {head + "sedes = 2\n", "did you mean 'seed"},
      {head + "options = \"b\"\n", "line 6: there are no options 'b'"},
      {head + "[options.b]\nmtuu = 3\n", "line 7"},
      {head + "[options]\nb = 3\n", "line 7: this is no table"},
      {head + "lanes = 99\n", "line 6"},
      {head + "limit = \"5\"\n", "'limit'"},
      {head + "[ageing.a]\nlink_rate = 2\n", "line 7"},
      {head + "[ageing.a]\nshape = 2\n", "nothing fails"},
      {"[study]\nname = \"x\"\n[[group]]\nfabric = \"tre(4,2)\"\n", "line 4"},
      {"[study]\nname = \"x\"\n[[group]]\nfabric = \"no-such-file\"\n", "neither a topology nor a file"},
      {"[study]\nname = \"x\"\n[[group]]\nfabric = \"tree(4,2)\"\nengine = \"udpn\"\n", "line 5"},
  };
  for (const auto& [text, part] : wrong) {
    const auto study = read_any_study(text, "x.toml");
    ASSERT_FALSE(study.ok()) << text;
    EXPECT_EQ(study.status().code(), Code::bad_input);
    EXPECT_THAT(study.status().message(), HasSubstr(part)) << text;
    EXPECT_EQ(study.status().message().find('\n'), std::string::npos);
  }
  EXPECT_EQ(kind_of("[study", "x.toml").status().code(), Code::bad_input);
  EXPECT_EQ(kind_of("[study]\nkind = \"prediction\"", "x.toml").value(), "prediction");
  EXPECT_EQ(kind_of("", "x.toml").value(), "throughput");
}

TEST(ThroughputFile, TheRepositorysStudiesAreReadable) {
  std::size_t studies = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HOLDFAST_SOURCE_DIR "/studies")) {
    if (entry.path().extension() != ".toml") continue;
    const std::string text = input::read_text_file(entry.path(), "the study").value();
    if (kind_of(text, "x.toml").value() == "prediction") continue;  // of recordings, which are not here
    const auto study = read_any_study(text, entry.path().string());
    ASSERT_TRUE(study.ok()) << study.status().message();
    EXPECT_EQ(study.value()->name, entry.path().stem());
    EXPECT_GT(study.value()->points.size(), 50U);
    ++studies;
  }
  EXPECT_GE(studies, 5U);
}

ThroughputPoint point_of(const std::string& fabric, const std::string& engine, const std::string& traffic) {
  ThroughputPoint point;
  point.fabric = fabric;
  point.engine = fabric::parse_contenders(engine).value().front();
  point.traffic = parse_traffic(traffic).value();
  point.limit_ps = 2'000 * ps_per_us;
  return point;
}

TEST(Measure, OneFailedLinkOfAStarsTrunkHalvesWhatCrosses) {
  const config::Settings<Parameters> settings(parameters_table());
  // two switches with two links between them, four hosts each: bisection traffic is bound by the links between
  ThroughputPoint point = point_of("mesh(2) links=2 hosts=8", "updn", "bisection order=lid messages=400");
  const Finished healthy = measure(point, settings.options()).value();
  EXPECT_EQ(healthy.outcome, "measured");
  EXPECT_EQ(healthy.result["failed_links"], 0);
  point.scenario.label = "half";
  fault::Fault half;
  half.kind = fault::Kind::fail_link;
  half.when = fault::Share{{50, 100}};
  point.scenario.faults = {half};
  const Finished damaged = measure(point, settings.options()).value();
  EXPECT_EQ(damaged.result["failed_links"], 1);
  EXPECT_EQ(damaged.result["links_down"], 1);
  EXPECT_EQ(damaged.result["links"], 2);
  const double ratio =
      damaged.result["throughput_bytes_per_s"].get<double>() / healthy.result["throughput_bytes_per_s"].get<double>();
  EXPECT_NEAR(ratio, 0.5, 0.03);
  EXPECT_EQ(measure(point, settings.options()).value().result, damaged.result) << "equal points, equal results";
}

TEST(Measure, FailedRoutingsAreOutcomes) {
  const config::Settings<Parameters> settings(parameters_table());
  const Finished refused = measure(point_of("torus(4,4) hosts=16", "ftree", "exchange"), settings.options()).value();
  EXPECT_EQ(refused.outcome, "refused");
  EXPECT_NE(refused.result["reason"], "");
  ThroughputPoint circle = point_of("torus(5,5) hosts=100", "dor", "tornado order=lid messages=2000");
  const Finished stuck = measure(circle, settings.options()).value();
  if (stuck.outcome != "deadlock") {  // which shift meets the circle depends on the order of hosts
    circle.traffic = parse_traffic("uniform").value();
    EXPECT_EQ(measure(circle, settings.options()).value().outcome, "deadlock");
  }
  ThroughputPoint late = point_of("tree(4,2)", "updn", "exchange size=1000000");
  late.limit_ps = ps_per_us;
  EXPECT_EQ(measure(late, settings.options()).value().outcome, "time limit");
  EXPECT_EQ(measure(point_of("tree(4,", "updn", "exchange"), settings.options()).status().code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::simulate::study
