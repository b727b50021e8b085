#include "fabric/opensm/ibdmchk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/check/credit_loops.h"
#include "fabric/check/paths.h"
#include "fabric/opensm/session.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric::opensm {
namespace {

constexpr std::int64_t a_minute_ns = 60'000'000'000;

Fabric made(const char* text) {
  auto fabric = generate(text);
  EXPECT_TRUE(fabric.ok()) << fabric.status().message();
  return fabric.ok() ? std::move(fabric.value()) : Fabric();
}

/// ibdmchk and our own checks must say the same of these tables.
void expect_agreement(const Fabric& fabric, const Forwarding& tables, const std::string& what) {
  auto judgement = ask_ibdmchk(fabric, tables, a_minute_ns);
  ASSERT_TRUE(judgement.ok()) << what << ": " << judgement.status().message();
  const PathReport paths = check_paths(fabric, tables, 1);
  EXPECT_EQ(judgement.value().scanned_paths, paths.pairs) << what;
  EXPECT_EQ(judgement.value().lost_paths, paths.lost_pairs()) << what;
  EXPECT_TRUE(judgement.value().looked_for_loops) << what;
  EXPECT_EQ(judgement.value().credit_loops, !check_credit_loops(fabric, tables, 1).none_found())
      << what << ": " << judgement.value().loop;
}

TEST(Ibdmchk, AgreesWithOurChecksOnOpensmsTables) {
  for (const char* text : {"torus(5,5) hosts=50 ports=6", "tree(3,2) ports=6", "kautz(2,3) hosts=24 ports=6"})
    for (const char* engine : {"minhop", "updn", "lash", "dfsssp", "dor", "nue", "torus-2QoS"}) {
      const Fabric fabric = made(text);
      Request request;
      request.engine = engine;
      if (request.engine == "torus-2QoS" && fabric.structure().shape != Shape::torus) continue;
      auto outcome = opensm::route(fabric, request);
      ASSERT_TRUE(outcome.ok()) << outcome.status().message();
      if (outcome.value().verdict != Verdict::routed) continue;
      expect_agreement(fabric, outcome.value().forwarding, std::string(text) + " " + engine);
    }
}

TEST(Ibdmchk, AgreesWithOurChecksOnOurTables) {
  for (const char* text : {"torus(5,5) hosts=50 ports=6", "tree(3,2) ports=6", "kautz(2,3) hosts=24 ports=6"})
    for (const Engine& engine : fabric::engines()) {
      const Fabric fabric = made(text);
      auto tables = fabric::route(fabric, engine.name);
      if (tables.ok()) expect_agreement(fabric, tables.value(), std::string(text) + " " + std::string(engine.name));
    }
}

TEST(Ibdmchk, FindsALostPathThatWeFind) {
  const Fabric fabric = made("torus(3,3) hosts=9");
  auto tables = fabric::route(fabric, "updn");
  ASSERT_TRUE(tables.ok());
  tables.value().set_out_port(0, tables.value().lids() - 1, Forwarding::no_port);
  auto judgement = ask_ibdmchk(fabric, tables.value(), a_minute_ns);
  ASSERT_TRUE(judgement.ok()) << judgement.status().message();
  EXPECT_GT(judgement.value().lost_paths, 0U);
  EXPECT_EQ(judgement.value().lost_paths, check_paths(fabric, tables.value(), 1).lost_pairs());
}

TEST(Ibdmchk, NoVerdictIsAnError) {
  EXPECT_EQ(read_judgement("").status().code(), Code::internal);
  EXPECT_THAT(read_judgement("-E- Could not find it\n").status().message(), testing::HasSubstr("Could not find it"));
  EXPECT_FALSE(read_judgement("-I- no credit loops found\n").ok()) << "nothing was scanned";
  EXPECT_FALSE(read_judgement("-E- Found 7 missing paths out of:6 paths\n").ok()) << "more than there are";
  auto good = read_judgement("-I- Scanned:306 CA to CA paths \n-E- credit loops in routing\n");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good.value().scanned_paths, 306U);
  EXPECT_TRUE(good.value().credit_loops);
  auto lossy = read_judgement("-E- Found 44 missing paths out of:75350 paths\n");
  ASSERT_TRUE(lossy.ok());
  EXPECT_EQ(lossy.value().lost_paths, 44U);
  EXPECT_EQ(lossy.value().scanned_paths, 75350U);
  EXPECT_FALSE(lossy.value().looked_for_loops);
}

}  // namespace
}  // namespace holdfast::fabric::opensm
