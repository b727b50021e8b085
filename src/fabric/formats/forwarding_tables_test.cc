#include "fabric/formats/forwarding_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/random/stream.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

using testing::HasSubstr;

/// Tables of arbitrary entries: what a file must carry does not depend on sense.
Forwarding arbitrary(const Fabric& fabric) {
  random::Stream stream(3);
  Forwarding tables(fabric);
  for (std::uint32_t row = 0; row < tables.rows(); ++row) {
    for (Lid lid = 1; lid < tables.lids(); ++lid)
      tables.set_out_port(row, lid,
                          stream.below(10) == 0 ? Forwarding::no_port : static_cast<std::uint8_t>(stream.below(37)));
  }
  return tables;
}

bool same_ports(const Forwarding& a, const Forwarding& b) {
  if (a.rows() != b.rows() || a.lids() != b.lids()) return false;
  for (std::uint32_t row = 0; row < a.rows(); ++row) {
    if (!std::equal(a.table(row), a.table(row) + a.lids(), b.table(row))) return false;
  }
  return true;
}

TEST(ForwardingTables, RoundTripOfBothDialects) {
  const Fabric fabric = generate("torus(3,3) hosts=20").value();
  const Forwarding tables = arbitrary(fabric);
  for (const std::string& text : {write_lfts(fabric, tables), write_fdbs(fabric, tables)}) {
    EXPECT_TRUE(is_forwarding_dump(text));
    auto read = read_forwarding(text, "dump", fabric);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_TRUE(same_ports(read.value().forwarding, tables));
    EXPECT_TRUE(read.value().notes.empty());
  }
}

/// One switch with one host, and a second switch.
Fabric pair() {
  Fabric fabric;
  fabric.add_node(NodeKind::switch_, 8, "left", 0x10);
  fabric.add_node(NodeKind::switch_, 8, "right", 0x20);
  fabric.add_node(NodeKind::adapter, 1, "host", 0x30);
  fabric.add_link(fabric.port_of(0, 5), fabric.port_of(1, 6));
  fabric.add_link(fabric.port_of(2, 1), fabric.port_of(1, 2));
  fabric.assign_lids();
  return fabric;
}

/// As ibroute and dump_lfts of infiniband-diags 44 print it.
constexpr const char* ibroute_text =
    "ibwarn: [2995] sim_connect: attached\n"
    "Unicast lids [0x0-0x3] of switch Lid 1 guid 0x0000000000000010 (left):\n"
    "  Lid  Out   Destination\n       Port     Info \n"
    "0x0001 000 : (Switch portguid 0x0000000000000010: 'left')\n"
    "0x0003 005 : (Channel Adapter portguid 0x0000000000000031: 'host')\n"
    "2 valid lids dumped \n"
    "Unicast lids [0x0-0x3] of switch Lid 9 guid 0x0000000000000077 (elsewhere):\n0x0001 200 : (x)\n1 valid lids "
    "dumped\n";

TEST(ForwardingTables, TakesWhatIbroutePrints) {
  const Fabric fabric = pair();
  auto read = read_forwarding(ibroute_text, "dump", fabric);
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Forwarding& tables = read.value().forwarding;
  EXPECT_EQ(tables.out_port(0, 1), 0);
  EXPECT_EQ(tables.out_port(0, 2), Forwarding::no_port);
  EXPECT_EQ(tables.out_port(0, 3), 5);
  EXPECT_EQ(tables.out_port(1, 3), Forwarding::no_port);
  EXPECT_THAT(read.value().notes, testing::ElementsAre(HasSubstr("dump line 1: a line of another program"),
                                                       HasSubstr("1 switches of the fabric have no table"),
                                                       HasSubstr("1 tables are of switches that the fabric has not")));
}

/// As dump_lfts prints it where two switches do not answer, one of them in the middle of its table.
TEST(ForwardingTables, TakesErrorsAmongTablesAndSaysWhichAreCutShort) {
  const std::string text =
      "Unicast lids [0x0-0x3] of switch DR path slid 0; dlid 0; 0,1 guid 0x0000000000000010 (left):\r\n"
      "  Lid  Out   Destination\r\n       Port     Info \r\n"
      "0x0001 000 : (Switch portguid 0x0000000000000010: 'left')\r\n"
      "ibwarn: [11783] mad_rpc: _do_madrpc failed; dport (DR path slid 65535; dlid 65535; 0,1,7)\n"
      "nodeinfo\n0000 0000 0000 0000 0000 0000 0000 0000\n0000 0000 0000 0000 0000 0000 0000 0000\n"
      "ibroute: iberror: failed: dump tables: node info failed: valid addr?\n"
      "Unicast lids [0x0-0x3] of switch Lid 2 guid 0x0000000000000020 (right):\n"
      "0x0001 006 : (Switch portguid 0x0000000000000010: 'left')\n"
      "0x0003 002 : (Channel Adapter portguid 0x0000000000000031: 'host')\n"
      "0x0003 006 : (Channel Adapter portguid 0x0000000000000031: 'host')\n"
      "3 valid lids dumped \n\n*** WARNING ***: this command has been replaced by dump_fts\n";
  auto read = read_forwarding(text, "dump", pair());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().forwarding.out_port(1, 1), 6);
  EXPECT_THAT(read.value().notes,
              testing::ElementsAre(
                  AllOf(HasSubstr("dump line 5: a line of another program"), HasSubstr("the last at dump line 16")),
                  HasSubstr("dump line 4: the table of left ends here with LID 1: it was cut short"),
                  HasSubstr("dump line 13: LID 3 has port 2 and port 6 in the table of right")));
}

TEST(ForwardingTables, SaysWhereAFileIsCut) {
  const Fabric fabric = pair();
  const std::string whole = write_lfts(fabric, arbitrary(fabric));
  const std::string routes = write_fdbs(fabric, arbitrary(fabric));
  for (const std::string& text : {whole, routes}) {
    const std::size_t first_end = text.find("0x0000000000000020");
    for (std::size_t size = first_end + 40; size < text.size(); ++size) {
      auto read = read_forwarding(std::string_view(text).substr(0, size), "dump", fabric);
      if (!read.ok()) continue;
      const bool only_last_line_end_is_gone = size + 1 == text.size();
      EXPECT_FALSE(read.value().notes.empty() && !only_last_line_end_is_gone) << text.substr(0, size);
    }
  }
}

TEST(ForwardingTables, ALidOfTwoAdaptersIsNobodysMistake) {
  Fabric fabric = pair();
  fabric.add_node(NodeKind::adapter, 1, "twin", 0x40);
  fabric.add_link(fabric.port_of(3, 1), fabric.port_of(0, 2));
  fabric.mutable_port(fabric.port_of(3, 1)).lid = 3;
  EXPECT_TRUE(read_forwarding(ibroute_text, "dump", fabric).ok());
}

TEST(ForwardingTables, TakesWhatOpensmWritesOfItsRoutes) {
  auto read = read_forwarding(
      "dump_ucast_routes: Switch 0x0000000000000010\nLID    : Port : Hops : Optimal\n"
      "0x0001 : 000  : 00   : yes\n0x0002 : UNREACHABLE\n0x0003 : 005  : 02   : No 1 hop path possible via port 3!\n"
      "0x0009 : 005  : HOPS UNKNOWN\n",
      "opensm.fdbs", pair());
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().forwarding.out_port(0, 3), 5);
  EXPECT_EQ(read.value().forwarding.out_port(0, 2), Forwarding::no_port);
  EXPECT_THAT(read.value().notes, testing::Contains(HasSubstr("1 entries are for LIDs that the fabric has not")));
}

TEST(ForwardingTables, RefusesWithLineAndColumn) {
  auto message = [](std::string text) { return read_forwarding(text + "\n", "dump", pair()).status().message(); };
  const std::string head = "Unicast lids [0-3] of switch Lid 1 guid 0x10 ('left'):\n";
  EXPECT_THAT(message(""), HasSubstr("no forwarding table in it"));
  EXPECT_THAT(message("nonsense"), HasSubstr("reading dump line 1 column 1: this line belongs to no dump"));
  EXPECT_THAT(message("0x0001 000"), HasSubstr("an entry before the first switch"));
  EXPECT_THAT(message(head + "0xzz 1"), HasSubstr("line 2 column 3: expected a LID"));
  EXPECT_THAT(message(head + "0x12345 1"), HasSubstr("expected a LID"));
  EXPECT_THAT(message(head + "0x0001 x"), HasSubstr("line 2 column 8: expected a port"));
  EXPECT_THAT(message(head + "0x0001 9"), HasSubstr("the switch has 8 ports"));
  EXPECT_THAT(
      message(head + "0x0003 5 # Channel Adapter portguid 0x99: 'other'"),
      HasSubstr("LID 3 is another node's in the fabric, host: take the tables and the fabric at the same time"));
  EXPECT_THAT(message("dump_ucast_routes: Switch 0xg\n"), HasSubstr("expected the switch's GUID"));
}

TEST(Sl2vl, RoundTripAndWhatOpensmWrites) {
  const Fabric fabric = pair();
  ImportedTables tables{Forwarding(fabric), {}};
  const std::string text =
      "Channel Adapter 0x0000000000000031, base LID 3, \"host\"\n#in out : 0 ...\n"
      "0   0   : 1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1 \n#---\n\n"
      "Switch 0x0000000000000010, base LID 1, \"left\"\n"
      "2   5   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  15\n#---\n"
      "Switch 0x0000000000000099, base LID 1, \"stranger\"\n99   5   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  "
      "15\n";
  ASSERT_TRUE(read_sl2vl(text, "dump", fabric, tables).ok());
  EXPECT_TRUE(tables.forwarding.has_lane_maps());
  EXPECT_EQ(tables.forwarding.lane(0, 2, 5, 9), 1);
  EXPECT_EQ(tables.forwarding.lane(0, 2, 5, 15), 15);
  EXPECT_EQ(tables.forwarding.lane(1, 2, 6, 9), 9) << "untouched";
  EXPECT_THAT(tables.notes,
              testing::UnorderedElementsAre(HasSubstr("1 SL to VL tables are of switches that the fabric"),
                                            HasSubstr("have no SL to VL table, the first: right")));
  ImportedTables again{Forwarding(fabric), {}};
  ASSERT_TRUE(read_sl2vl(write_sl2vl(fabric, tables.forwarding), "dump", fabric, again).ok());
  for (std::uint8_t level = 0; level < 16; ++level)
    EXPECT_EQ(again.forwarding.lane(0, 2, 5, level), tables.forwarding.lane(0, 2, 5, level));
  tables.forwarding.set_service_level(1, 3, 3, 9);
  settle_lanes(fabric, tables.forwarding);
  EXPECT_EQ(tables.forwarding.lanes_used, 10);
  auto message = [&](std::string lines) { return read_sl2vl(lines, "dump", fabric, again).message(); };
  EXPECT_THAT(message(""), HasSubstr("no SL to VL table of a switch"));
  EXPECT_THAT(message("Switch x\n"), HasSubstr("line 1 column 8: expected the switch's port GUID"));
  EXPECT_THAT(message("Switch 0x10\n9 1 : 0\n"), HasSubstr("line 2 column 2: expected a port from 0 to 8"));
  EXPECT_THAT(message("Switch 0x10\n1 1 0\n"), HasSubstr("expected ':'"));
  EXPECT_THAT(message("Switch 0x10\n1 1 : 0 1 2\n"), HasSubstr("expected 16 lanes"));
}

TEST(Sl2vl, ADumpThatWasCutShortIsTold) {
  const Fabric fabric = pair();
  ImportedTables tables{Forwarding(fabric), {}};
  for (std::uint32_t row = 0; row < 2; ++row) tables.forwarding.set_lane_map(row, 1, 1, {1});
  const std::string whole = write_sl2vl(fabric, tables.forwarding);
  for (std::size_t at = 1; at <= whole.size(); ++at) {
    ImportedTables read{Forwarding(fabric), {}};
    if (!read_sl2vl(whole.substr(0, at), "dump", fabric, read).ok()) {
      EXPECT_LT(at, 300U) << "there is no table yet, or the GUID of a switch is cut";
      continue;
    }
    const bool lost = whole.find_first_of("0123456789", at) != std::string::npos;
    EXPECT_TRUE(!lost || !read.notes.empty()) << at << " of " << whole.size();
    EXPECT_TRUE(at < whole.size() || read.notes.empty());
  }
}

/// As saquery of infiniband-diags 44 prints it.
constexpr const char* saquery_text =
    "ibwarn: [1] x\nPathRecord "
    "dump:\n\t\tservice_id..............0x0000000000000000\n\t\tdgid....................fe80::2:c900:0:1\n"
    "\t\tdlid....................3\n\t\tslid....................4\n\t\thop_flow_raw............0x0\n\t\tqos_class......"
    ".........0x0\n"
    "\t\tsl......................0x2\n\t\tmtu.....................0x83\n"
    "PathRecord dump:\n\t\tdlid....................0\n\t\tslid....................0\n\t\tsl......................0x0\n";

TEST(PathRecords, RoundTripAndWhatSaqueryPrints) {
  Fabric fabric = pair();
  fabric.add_node(NodeKind::adapter, 1, "second", 0x40);
  fabric.add_link(fabric.port_of(3, 1), fabric.port_of(0, 1));
  fabric.assign_lids();
  ImportedTables tables{Forwarding(fabric), {}};
  ASSERT_TRUE(read_path_records(saquery_text, "records", fabric, tables).ok());
  EXPECT_EQ(tables.forwarding.service_level(0, 4, 3), 2);
  EXPECT_EQ(tables.forwarding.service_level(1, 3, 4), Forwarding::no_path);
  EXPECT_THAT(tables.notes, testing::ElementsAre(
                                HasSubstr("1 pairs of adapters have no path record; the last one leads from LID 4 to "
                                          "LID 3: was the file cut short?"),
                                HasSubstr("1 path records have LIDs that no adapter")));
  settle_lanes(fabric, tables.forwarding);
  EXPECT_EQ(tables.forwarding.lanes_used, 3);
  ImportedTables again{Forwarding(fabric), {}};
  ASSERT_TRUE(read_path_records(write_path_records(fabric, tables.forwarding), "records", fabric, again).ok());
  EXPECT_EQ(again.forwarding.service_level(0, 4, 3), 2);
  EXPECT_EQ(again.forwarding.service_level(1, 3, 4), Forwarding::no_path);
  auto message = [&](std::string text) { return read_path_records(text, "records", fabric, again).message(); };
  EXPECT_THAT(message(""), HasSubstr("no path record of this fabric's adapters"));
  EXPECT_THAT(message("PathRecord dump:\nslid....x\n"),
              HasSubstr("reading records line 2 column 9: expected a number"));
}

}  // namespace
}  // namespace holdfast::fabric
