#include "fabric/opensm/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace holdfast::fabric::opensm {
namespace {

/// Two switches of three ports with a cable between them, two hosts on the first, one on the second.
/// LIDs: switches 1, 2; hosts 3, 4, 5.
Fabric small() {
  Fabric fabric;
  const NodeId a = fabric.add_node(NodeKind::switch_, 3, "a", 0x10);
  const NodeId b = fabric.add_node(NodeKind::switch_, 3, "b", 0x20);
  fabric.connect(a, b);
  fabric.connect(a, fabric.add_node(NodeKind::adapter, 1, "h0", 0x30));
  fabric.connect(a, fabric.add_node(NodeKind::adapter, 1, "h1", 0x40));
  fabric.connect(b, fabric.add_node(NodeKind::adapter, 1, "h2", 0x50));
  fabric.assign_lids();
  return fabric;
}

template <class Number>
void put(std::string& text, Number value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The file that tap.c would write for small(). `levels` is 9 bytes, or empty; `map` fills every lane map.
std::string file(const std::string& levels, const std::string& map) {
  std::string text = "HFTAP001";
  for (const std::uint64_t number : {7, 8, 9}) put(text, number);
  for (const std::uint32_t number : {5, 2}) put(text, number);
  put<std::uint8_t>(text, !levels.empty());
  put<std::uint8_t>(text, !map.empty());
  text.append(6, '\0');
  for (std::uint16_t lid = 1; lid <= 5; ++lid) {
    put<std::uint64_t>(text, 0x10U * lid);
    put(text, lid);
    put<std::uint8_t>(text, lid > 2);
    put<std::uint8_t>(text, 0);
  }
  put<std::uint64_t>(text, 0x10);
  put<std::uint16_t>(text, 5);
  text += std::string("\3\0", 2) + "\xff" + std::string("\0\1\2\3\1", 5);
  put<std::uint64_t>(text, 0x20);
  put<std::uint16_t>(text, 5);
  text += std::string("\3\0", 2) + "\xff" + std::string("\1\0\1\1\2", 5);
  text += levels;
  for (int i = 0; !map.empty() && i < 2 * 4 * 3; ++i) text += map;
  return text + "HFTAPEND";
}

TEST(Snapshot, TablesAndFiguresAreRead) {
  const Fabric fabric = small();
  auto snapshot = read_snapshot(file("", ""), fabric);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  EXPECT_EQ(snapshot.value().routing_cpu_ns, 7);
  EXPECT_EQ(snapshot.value().routing_wall_ns, 8);
  EXPECT_EQ(snapshot.value().memory_bytes, 9U);
  const Forwarding& tables = snapshot.value().forwarding;
  EXPECT_EQ(tables.out_port(0, 4), 3);
  EXPECT_EQ(tables.out_port(0, 5), 1);
  EXPECT_EQ(tables.out_port(1, 1), 1);
  EXPECT_EQ(tables.lanes_used, 1);
}

TEST(Snapshot, LevelsThatDependOnTheSwitchAloneAreKeptBySwitch) {
  const Fabric fabric = small();
  auto snapshot = read_snapshot(file(std::string("\0\1\2\1\0\2\3\4\0", 9), ""), fabric);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  const Forwarding& tables = snapshot.value().forwarding;
  EXPECT_FALSE(tables.distinguishes_sources());
  EXPECT_EQ(tables.service_level(0, 3, 5), 2);
  EXPECT_EQ(tables.service_level(0, 4, 5), 2);
  EXPECT_EQ(tables.service_level(1, 5, 4), 4);
  EXPECT_EQ(tables.lanes_used, 5) << "level 4 crosses the cable; level 1 between hosts of one switch does not";
}

TEST(Snapshot, LevelsThatDifferBetweenHostsOfASwitchAreKeptApart) {
  const Fabric fabric = small();
  auto snapshot = read_snapshot(file(std::string("\0\1\2\1\0\6\3\4\0", 9), ""), fabric);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  const Forwarding& tables = snapshot.value().forwarding;
  EXPECT_TRUE(tables.distinguishes_sources());
  EXPECT_EQ(tables.service_level(0, 3, 5), 2);
  EXPECT_EQ(tables.service_level(0, 4, 5), 6);
  EXPECT_EQ(tables.lanes_used, 7);
}

TEST(Snapshot, LaneMapsDecideTheLanes) {
  const Fabric fabric = small();
  auto snapshot = read_snapshot(file(std::string("\0\1\2\1\0\2\3\4\0", 9), "\x10\x32\x54\x76\x98\xba\xdc\xfe"), fabric);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  const Forwarding& tables = snapshot.value().forwarding;
  ASSERT_TRUE(tables.has_lane_maps());
  EXPECT_EQ(tables.lane(0, 2, 1, 2), 3);
  EXPECT_EQ(tables.lane(1, 0, 1, 4), 5);
  EXPECT_EQ(tables.lanes_used, 6);
}

TEST(Snapshot, EveryPlaceWhereItMayBeCutIsFound) {
  const Fabric fabric = small();
  const std::string whole = file(std::string(9, '\1'), std::string(8, '\0'));
  ASSERT_TRUE(read_snapshot(whole, fabric).ok());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(read_snapshot(std::string_view(whole).substr(0, size), fabric).ok()) << size;
  EXPECT_FALSE(read_snapshot(whole + "x", fabric).ok());
}

TEST(Snapshot, AnotherFabricIsToldApart) {
  Fabric fabric = small();
  EXPECT_TRUE(read_snapshot(file("", ""), fabric).ok());
  fabric.mutable_port(fabric.port_of(2, 1)).lid = 9;
  EXPECT_THAT(read_snapshot(file("", ""), fabric).status().message(), testing::HasSubstr("LID 3"));
  EXPECT_FALSE(read_snapshot(file(std::string(9, '\x20'), ""), small()).ok()) << "levels end at 15";
}

}  // namespace
}  // namespace holdfast::fabric::opensm
