#include "fabric/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fabric/compare/paper_tables.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

using testing::HasSubstr;

std::vector<std::string> labels(std::string_view text) {
  std::vector<std::string> labels;
  auto contenders = parse_contenders(text);
  EXPECT_TRUE(contenders.ok()) << contenders.status().message();
  if (contenders.ok())
    for (const Contender& one : contenders.value()) labels.push_back(one.label());
  return labels;
}

Fabric made(const char* text) {
  auto fabric = generate(text);
  EXPECT_TRUE(fabric.ok()) << fabric.status().message();
  return fabric.ok() ? std::move(fabric.value()) : Fabric();
}

TEST(Contenders, AreReadInOrderAndOnce) {
  EXPECT_THAT(labels("updn,opensm:updn,updn"), testing::ElementsAre("updn", "opensm:updn"));
  EXPECT_THAT(labels("opensm:torus-2qos"), testing::ElementsAre("opensm:torus-2QoS"));
  EXPECT_EQ(labels("native").size(), engines().size());
  EXPECT_EQ(labels("all").size(), engines().size() + opensm::engines().size());
  EXPECT_EQ(labels("lash,native").size(), engines().size());
}

TEST(Contenders, AnUnknownOneGetsAHint) {
  EXPECT_THAT(parse_contenders("opensm:upnd").status().message(), HasSubstr("opensm:updn"));
  EXPECT_EQ(parse_contenders("").status().code(), Code::bad_input);
  EXPECT_EQ(parse_contenders("updn,,lash").status().code(), Code::bad_input);
}

TEST(Comparison, ValidOnesComeFirstAndRefusalsLast) {
  const Fabric fabric = made("torus(5,5) hosts=25");
  auto contenders = parse_contenders("ftree,minhop,updn,dfsssp");
  ASSERT_TRUE(contenders.ok());
  std::size_t calls = 0;
  auto ranking = compare(fabric, contenders.value(), ContestRules(), 2,
                         [&calls](const Judged&, std::size_t done, std::size_t all) {
                           EXPECT_EQ(done, ++calls);
                           EXPECT_EQ(all, 4U);
                         });
  ASSERT_TRUE(ranking.ok()) << ranking.status().message();
  EXPECT_EQ(calls, 4U);
  const std::vector<Judged>& rows = ranking.value();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_TRUE(rows[0].valid() && rows[1].valid());
  EXPECT_LE(rows[0].forwarding_index, rows[1].forwarding_index);
  EXPECT_EQ(rows[2].contender.engine, "minhop");
  EXPECT_GT(rows[2].credit_loops, 0U);
  EXPECT_FALSE(rows[3].routed());
  EXPECT_FALSE(rows[3].routing.reason.empty());
  const std::string text = comparison_text(rows);
  EXPECT_THAT(text, HasSubstr("can deadlock"));
  EXPECT_THAT(text, HasSubstr("ftree: " + rows[3].routing.reason));
  EXPECT_EQ(comparison_record(fabric, rows)["engines"][3]["verdict"], "refused");
}

TEST(Comparison, LostPairsAreCounted) {
  const Fabric fabric = made("tree(3,2)");
  Routing routing;
  auto tables = route(fabric, "updn");
  ASSERT_TRUE(tables.ok());
  routing.verdict = opensm::Verdict::routed;
  routing.forwarding = std::move(tables.value());
  routing.forwarding.set_out_port(0, routing.forwarding.lids() - 1, Forwarding::no_port);
  const Judged judged = judge({false, "updn"}, fabric, std::move(routing), 1);
  EXPECT_EQ(judged.lost_pairs, 3U) << "the hosts of one leaf";
  EXPECT_FALSE(judged.valid());
  EXPECT_THAT(judged.example, HasSubstr("dropped"));
}

TEST(PaperTables, ConfigurationsAreThoseOfThePaper) {
  EXPECT_EQ(small_configurations().size(), 9U);
  EXPECT_EQ(large_configurations().size(), 7U);
}

TEST(PaperTables, OneConfigurationShowsBothSides) {
  const std::string_view name[] = {"16-ary-2-tree"};
  auto rows = run_paper_tables(name, ContestRules(), 2, PaperProgress());
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  ASSERT_EQ(rows.value().size(), 1U);
  const PaperRow& row = rows.value().front();
  EXPECT_EQ(row.switches, 32U);
  EXPECT_EQ(row.hosts, 256U);
  EXPECT_EQ(row.links, 256U);
  EXPECT_EQ(row.redundancy, 1U);
  const std::string text = paper_tables_markdown(rows.value());
  EXPECT_THAT(text, HasSubstr("| 16-ary-2-tree | ok | ok |")) << text;
  EXPECT_THAT(text, HasSubstr("Where they disagree"));
}

}  // namespace
}  // namespace holdfast::fabric
