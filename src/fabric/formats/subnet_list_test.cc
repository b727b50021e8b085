#include "fabric/formats/subnet_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/faults/difference.h"
#include "fabric/formats/source.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

using testing::HasSubstr;

/// As OpenSM 3.3.23 wrote it, with its device id in the upper half of the second field.
const std::string line =
    "{ SW-SM Ports:24 SystemGUID:0002c90000000001 NodeGUID:0002c90000000001 PortGUID:0002c90000000001 VenID:0002C9 "
    "DevID:BD36 Rev:000000A1 {leaf {1} a} LID:000A PN:11 } { CA Ports:02 SystemGUID:0002c90000000129 "
    "NodeGUID:0002c90000000129 PortGUID:0002c9000000012b VenID:000002C9 DevID:673C0000 Rev:000000A1 {host} LID:0009 "
    "PN:02 "
    "} PHY=4x LOG=ACT SPD=2.5\n";

TEST(SubnetList, TakesWhatOpensmWrites) {
  ASSERT_TRUE(is_subnet_list(line));
  auto read = read_fabric(line, "opensm-subnet.lst");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Fabric& fabric = read.value().fabric;
  EXPECT_EQ(fabric.node(0).name, "leaf {1} a");
  EXPECT_EQ(fabric.node(0).port_count, 36);
  EXPECT_EQ(fabric.node(0).device_id, 0xBD36U);
  EXPECT_EQ(fabric.node(1).device_id, 0x673CU);
  EXPECT_EQ(fabric.port(fabric.port_of(0, 3)).lid, 10U);
  EXPECT_EQ(fabric.port(fabric.port_of(1, 2)).lid, 9U);
  EXPECT_EQ(fabric.port(fabric.port_of(1, 2)).guid, 0x0002c9000000012bU);
  EXPECT_EQ(fabric.peer(fabric.port_of(0, 17)), fabric.port_of(1, 2));
  EXPECT_EQ(fabric.link(0).rate, (LinkRate{4, LaneSpeed::sdr}));
  std::string down = line;
  down.replace(down.find("LOG=ACT"), 7, "LOG=DWN");
  EXPECT_FALSE(read_subnet_list(down, "x").value().fabric.link(0).up);
}

TEST(SubnetList, RoundTrip) {
  for (const char* topology : {"torus(5,5) links=6 hosts=275", "tree(4,3) rate=4xEDR", "kautz(2,3) rate=1xFDR10"}) {
    const Fabric fabric = generate(topology).value();
    auto read = read_subnet_list(write_subnet_list(fabric), "list");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_TRUE(difference(fabric, read.value().fabric).none_at_all()) << topology;
    EXPECT_TRUE(difference(read.value().fabric, fabric).none_at_all()) << topology;
  }
}

TEST(SubnetList, RefusesWithLineAndColumn) {
  auto message = [](std::string text) { return read_subnet_list(text, "list").status().message(); };
  auto with = [](std::string_view what, std::string_view by) {
    std::string text = line;
    return text.replace(text.find(what), what.size(), by);
  };
  EXPECT_THAT(message(""), HasSubstr("no link in it"));
  EXPECT_THAT(message("x\n"), HasSubstr("reading list line 1 column 1: expected '{' and a node"));
  EXPECT_THAT(message(with("SW-SM", "XX")), HasSubstr("expected SW, CA or Rt"));
  EXPECT_THAT(message(with("NodeGUID:", "Node:")), HasSubstr("line 1 column 46: expected 'NodeGUID:'"));
  EXPECT_THAT(message(with("DevID:BD36", "DevID:x")), HasSubstr("expected hexadecimal digits after DevID:"));
  EXPECT_THAT(message(with("NodeGUID:0002c90000000001", "NodeGUID:0")), HasSubstr("a node with GUID 0"));
  EXPECT_THAT(message(with("LID:000A", "LD:000A")), HasSubstr("column 325: expected '{' and a node"));
  EXPECT_THAT(message(with("PN:11", "PN:25")), HasSubstr("port 37 of a node with 36 ports"));
  EXPECT_THAT(message(with("PN:11 }", "PN:11")), HasSubstr("expected '}'"));
  EXPECT_THAT(message(with("NodeGUID:0002c90000000129", "NodeGUID:0002c90000000001")),
              HasSubstr("a node that was another one"));
  EXPECT_THAT(message(line.substr(0, line.size() / 2)), HasSubstr("no link in it"));
}

TEST(SubnetList, OdditiesAreNotes) {
  const auto read = [](const std::string& text) {
    auto list = read_fabric(text, "list");
    EXPECT_TRUE(list.ok()) << list.status().message();
    return list.ok() ? std::move(list.value()) : Imported();
  };
  const auto with = [](std::string_view what, std::string_view by) {
    std::string text = line;
    return text.replace(text.find(what), what.size(), by);
  };
  EXPECT_THAT(read(line).notes, testing::IsEmpty());
  Imported odd = read("ibwarn: [9] mad_rpc: failed\n" + line + line.substr(0, 300));
  EXPECT_EQ(odd.fabric.links().size(), 1U);
  EXPECT_THAT(odd.notes, testing::ElementsAre(HasSubstr("list line 1: a line of another program"),
                                              HasSubstr("list line 3: the file ends in the middle of this line")));
  odd = read(line + with("PN:02", "PN:01"));
  EXPECT_EQ(odd.fabric.links().size(), 1U);
  EXPECT_THAT(odd.notes, testing::Contains(HasSubstr("list line 2: the two ends of a cable disagree")));
  odd = read(line + with("LID:0009", "LID:0007"));
  EXPECT_THAT(odd.notes, testing::ElementsAre(HasSubstr("LID 7 of \"host\", which was 9 in a line before")));
  EXPECT_THAT(read(with("LID:0009", "LID:000A")).notes, testing::ElementsAre(HasSubstr("LID 10 is used twice")));
  EXPECT_THAT(read(with("LID:0009", "LID:C000")).notes, testing::ElementsAre(HasSubstr("is for multicast")));
  EXPECT_THAT(read(with("CA Ports", "Rt Ports")).notes, testing::ElementsAre(HasSubstr("router \"host\" is taken")));
}

}  // namespace
}  // namespace holdfast::fabric
