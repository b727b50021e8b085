#include <gtest/gtest.h>

#include <string>

#include "simulate/study/provenance.h"
#include "simulate/study/study.h"

/// What these small studies come to, beside the version of what computes them. Where a change makes one fail, runs that
/// users have kept would come out otherwise too: raise the version in provenance.h, and put the new digest here.
namespace holdfast::simulate::study {
namespace {

std::string results_of(const char* text) {
  const auto study = read_any_study(text, "here.toml").value();
  std::string results;
  for (std::size_t i = 0; i < study->points.size(); ++i) {
    const Finished finished = study->run(i).value();
    results += identity(study->points[i].parameters) + finished.outcome + finished.result.dump() + "\n";
  }
  return digest_text(results);
}

TEST(Computation, ThroughputIsWhatItsVersionSays) {
  EXPECT_EQ(throughput_computation, 12U);
  EXPECT_EQ(results_of(R"toml(
[study]
name = "computation"
[ageing.fast]
link_rate = 0.1
links_per_switch = 4
[[group]]
fabric = ["tree(4,2)", "torus(3,3) hosts=18"]
engine = ["native"]
failures = ["none", "fail-link share 10%"]
traffic = ["exchange", "uniform messages=10"]
[[group]]
fabric = ["dragonfly(4,2,2,9)"]
engine = ["dfsssp", "updn"]
ageing = "fast"
years = [2]
traffic = ["bisection messages=10", "hotspot messages=10 load=0.5"]
)toml"),
            "xxh3-128:cf49e6fe4295e12c9d6e6ded8a46299d");
}

TEST(Computation, CollectivesAreWhatTheirVersionSays) {
  EXPECT_EQ(collectives_computation, 2U);
  EXPECT_EQ(results_of(R"toml(
[study]
kind = "collectives"
name = "computation"
fabric = "xgft(2;4,4;1,4)"
collectives = 20
[[group]]
name = "errors"
operation = ["allreduce", "broadcast"]
protection = ["retransmission", "temporal", "spatial", "hybrid", "link-retry"]
source = ["link", "switch-ports", "network"]
mean = ["10us"]
)toml"),
            "xxh3-128:fc3609e283154ce8b1443698b5e634cb");
}

}  // namespace
}  // namespace holdfast::simulate::study
