#include "fabric/topology/presets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string_view>

#include "fabric/topology/connectivity.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {

// In reports, which would show its bytes otherwise.
static void PrintTo(const Preset& preset, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << preset.name;
}

namespace {

class PresetNamed : public testing::TestWithParam<Preset> {};

TEST_P(PresetNamed, HasExactlyThePublishedNumbers) {
  const Preset& preset = GetParam();
  auto fabric = generate(preset.name);
  ASSERT_TRUE(fabric.ok()) << fabric.status().message();
  const Fabric& f = fabric.value();
  EXPECT_EQ(f.switch_count(), preset.switches);
  EXPECT_EQ(f.adapter_count(), preset.hosts);
  EXPECT_EQ(f.links().size(), preset.hosts + preset.links);
  EXPECT_NE(diameter(f), none) << "not connected";
  const std::map<std::string_view, std::uint32_t> others = {{"deimos-cluster", 24},
                                                            {"jupiter", 96},
                                                            {"dgx-superpod-h100", 64},
                                                            {"dgx-superpod-h100-16", 64},
                                                            {"frontera-clx", 62}};
  const std::uint32_t ports = others.contains(preset.name) ? others.at(preset.name) : 36;
  for (NodeId id = 0; id < f.switch_count(); ++id) ASSERT_EQ(f.node(id).port_count, ports) << f.node(id).name;
}

INSTANTIATE_TEST_SUITE_P(Presets, PresetNamed, testing::ValuesIn(presets().begin(), presets().end()),
                         [](const auto& test) {
                           std::string name(test.param.name);
                           std::ranges::replace(name, '-', '_');
                           return "P" + name;
                         });

TEST(Presets, OptionsMayFollowAName) {
  auto fabric = generate("torus-5x5 hosts=256 links=2");
  ASSERT_TRUE(fabric.ok());
  EXPECT_EQ(fabric.value().adapter_count(), 256U);
  EXPECT_EQ(fabric.value().links().size(), 256U + 100U);
  EXPECT_EQ(find_preset("torus-5x6"), nullptr);
}

}  // namespace
}  // namespace holdfast::fabric
