#include "fabric/formats/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "core/scratch/scratch_folder.h"
#include "fabric/faults/difference.h"
#include "fabric/formats/export.h"
#include "fabric/formats/ibsim_net.h"
#include "fabric/formats/source.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/hosts.h"

namespace holdfast::fabric {
namespace {

using testing::HasSubstr;

/// What a discovery cannot say, set to what its reader puts there.
Fabric plain(Fabric fabric) {
  for (LinkId id = 0; id < fabric.links().size(); ++id) fabric.mutable_link(id).length_m = 0;
  return fabric;
}

class DiscoveryRoundTrip : public testing::TestWithParam<const char*> {};

TEST_P(DiscoveryRoundTrip, LosesNothing) {
  const Fabric fabric = plain(generate(GetParam()).value());
  for (const std::string& text : {write_discovery(fabric), write_ibsim_net(fabric)}) {
    auto read = read_discovery(text, "net");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_TRUE(read.value().notes.empty()) << read.value().notes[0];
    EXPECT_TRUE(difference(fabric, read.value().fabric).none_at_all());
    EXPECT_TRUE(difference(read.value().fabric, fabric).none_at_all());
    EXPECT_EQ(write_discovery(read.value().fabric), write_discovery(fabric));
    for (LinkId id = 0; id < fabric.links().size(); ++id)
      EXPECT_EQ(read.value().fabric.link(id).rate, fabric.link(id).rate);
  }
}

INSTANTIATE_TEST_SUITE_P(Discovery, DiscoveryRoundTrip,
                         testing::Values("torus(5,5) links=6 hosts=275", "tree(4,3)", "kautz(2,3) rate=1xSDR",
                                         "dragonfly(4,2,2,9) rate=12xDDR", "deimos", "mesh(2) hosts=0"));

/// As infiniband-diags prints it: two vendors, an unmanaged switch, a router, a two-port adapter of which one port is
/// not cabled, names with quotation marks, '#' and nothing, speeds of every kind.
constexpr const char* real_style = R"(ibwarn: [2034] get_abi_version: can't read ABI version
#
# Topology file: generated on Mon Dec 18 12:34:08 2023
#
# Initiated from node e41d2d0300a1b2c0 port e41d2d0300a1b2c1

vendid=0x2c9
devid=0xcb20
sysimgguid=0xec0d9a0300ec8240
switchguid=0xec0d9a0300ec8240(ec0d9a0300ec8240)
Switch	36 "S-ec0d9a0300ec8240"		# "SwitchIB Mellanox Technologies" enhanced port 0 lid 48 lmc 0
[1]	"H-e41d2d0300a1b2c0"[1](e41d2d0300a1b2c1) 		# "node "one" #1 HCA-1" lid 67 4xEDR
[2]	"H-506b4b03003fa9aa"[1](506b4b03003fa9aa) 		# "" lid 89 2xHDR s=7 w=16 v=4
[3]	"S-0008f104003f1e29"[4][ext 7]		# "ISR9024 Voltaire" lid 6 4xFDR10
[4]	"R-0005ad000001aaaa"[1](5ad000001aaab) 		# "gateway" lid 90 ?????

vendid=0x8f1
devid=0x5a06
sysimgguid=0x8f10400411a09		# Chassis 1
switchguid=0x8f104003f1e29(8f104003f1e29)	# ISR9024 slot 1
Switch	24 "S-0008f104003f1e29"		# "ISR9024 Voltaire" base port 0 lid 6 lmc 0
[4][ext 7]	"S-ec0d9a0300ec8240"[3]		# "SwitchIB Mellanox Technologies" lid 48 4xFDR10
src/query_smp.c:229; umad (DR path slid 0; dlid 0; 0,1,2 Attr 0x11:0) bad status 110; Connection timed out

vendid=0x2c9
devid=0x1013
sysimgguid=0x506b4b03003fa9aa
caguid=0x506b4b03003fa9aa
Ca	1 "H-506b4b03003fa9aa"		# ""
[1](506b4b03003fa9aa) 	"S-ec0d9a0300ec8240"[2]		# lid 89 lmc 0 "SwitchIB Mellanox Technologies" lid 48 2xHDR

vendid=0x2c9
devid=0x1013
sysimgguid=0xe41d2d0300a1b2c0
caguid=0xe41d2d0300a1b2c0
Ca	2 "H-e41d2d0300a1b2c0"		# "node "one" #1 HCA-1"
[1](e41d2d0300a1b2c1) 	"S-ec0d9a0300ec8240"[1]		# lid 67 lmc 1 "SwitchIB Mellanox Technologies" lid 48 4xEDR

vendid=0x5ad
devid=0x1
rtguid=0x5ad000001aaaa
Rt	1 "R-0005ad000001aaaa"		# "gateway"
[1](5ad000001aaab) 	"S-ec0d9a0300ec8240"[4]		# lid 90 lmc 0 "SwitchIB Mellanox Technologies" lid 48 4xEDR
)";

TEST(Discovery, TakesWhatIbnetdiscoverReallyPrints) {
  auto read = read_discovery(real_style, "cluster");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Fabric& fabric = read.value().fabric;
  EXPECT_EQ(fabric.switch_count(), 2U);
  EXPECT_EQ(fabric.adapter_count(), 3U);
  EXPECT_EQ(fabric.links().size(), 4U);
  const NodeId host = fabric.find("node \"one\" #1 HCA-1");
  ASSERT_NE(host, none);
  EXPECT_EQ(fabric.node(host).port_count, 2);
  EXPECT_EQ(fabric.node(host).device_id, 0x1013U);
  const Port& port = fabric.port(fabric.port_of(host, 1));
  EXPECT_EQ(port.lid, 67U);
  EXPECT_EQ(port.lmc, 1);
  EXPECT_EQ(port.guid, 0xe41d2d0300a1b2c1U);
  EXPECT_EQ(fabric.link(port.link).rate, (LinkRate{4, LaneSpeed::edr}));
  const NodeId nameless = fabric.find("H-506b4b03003fa9aa");
  ASSERT_NE(nameless, none) << "a node without a name is called by its id";
  EXPECT_EQ(fabric.port(fabric.port_of(nameless, 1)).guid, 0x506b4b03003fa9aaU);
  EXPECT_EQ(fabric.link(fabric.port(fabric.port_of(nameless, 1)).link).rate, (LinkRate{2, LaneSpeed::hdr}));
  const NodeId gateway = fabric.find("gateway");
  EXPECT_EQ(fabric.link(fabric.port(fabric.port_of(gateway, 1)).link).rate, (LinkRate{4, LaneSpeed::edr}))
      << "the other end knows its rate";
  const NodeId old = fabric.find_guid(0x8f104003f1e29);
  EXPECT_EQ(fabric.node(old).vendor_id, 0x8f1U);
  EXPECT_EQ(fabric.node(old).system_guid, 0x8f10400411a09U);
  EXPECT_EQ(fabric.port(fabric.port_of(old, 0)).lid, 6U);
  EXPECT_THAT(read.value().notes, testing::ElementsAre(AllOf(HasSubstr("cluster line 1: a line of another program"),
                                                             HasSubstr("line 23: a line of another program")),
                                                       HasSubstr("line 15: unknown rate"),
                                                       HasSubstr("line 42: router \"R-0005ad000001aaaa\" is taken")));
}

/// ibnetdiscover -s of infiniband-diags 44 on ibsim.
TEST(Discovery, TakesTheSearchPathThatIbnetdiscoverPrints) {
  auto read = read_discovery(
      "DR path slid 0; dlid 0; 0 -> new Channel Adapter {0000000000100000} portnum 1 lid 0-0 \"\"\n"
      "DR path slid 0; dlid 0; 0,1 -> new Switch {0000000000200000} portnum 0 lid 0-0 \"\"\n"
      "DR path slid 0; dlid 0; 0,1,4 -> known Switch {0000000000200001} portnum 0 lid 0-0 \"S1\"\n" +
          std::string(real_style),
      "cluster");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().fabric.nodes().size(), 5U);
  EXPECT_THAT(read.value().notes[0], AllOf(HasSubstr("cluster line 1: a line of another program"),
                                           HasSubstr("4 more of this kind, the last at cluster line 26")));
  EXPECT_EQ(read.value().notes.size(), 3U) << "a note a kind";
}

/// Never a wrong verdict without a word: whatever is missing at the end is told, or refused with its place.
TEST(Discovery, AFileCutShortIsTold) {
  const std::string whole = write_discovery(generate("tree(3,2)").value());
  for (std::size_t size = 1; size + 1 < whole.size(); ++size) {
    for (const bool carriage_returns : {false, true}) {
      std::string text = whole.substr(0, size);
      for (std::size_t at = 0; carriage_returns && (at = text.find('\n', at)) != std::string::npos; at += 2)
        text.insert(at, "\r");
      auto read = read_discovery(text, "cut");
      if (!read.ok()) {
        EXPECT_THAT(read.status().message(), HasSubstr("reading cut"));
      } else if (text.find('[') != std::string::npos) {  // one switch alone may be all there is
        EXPECT_FALSE(read.value().notes.empty()) << text;
      }
    }
  }
}

TEST(Discovery, APortCanDoWhatTheBestOfItsTypeDoes) {
  auto read = read_discovery(real_style, "cluster");
  const Fabric& fabric = read.value().fabric;
  const NodeId nameless = fabric.find("H-506b4b03003fa9aa");
  EXPECT_EQ(fabric.port(fabric.port_of(nameless, 1)).capable, (LinkRate{4, LaneSpeed::hdr}));
}

TEST(Discovery, TakesTheStyleOf2006) {
  auto read = read_discovery(
      "vendid=0x8f1\ndevid=0x5a30\nswitchguid=0x8f10400411a08\n"
      "Switch  24 \"S-0008f104003f1e29\"         # \"ISR2012 Voltaire\" base port 0 lid 742 lmc 0\n"
      "[24]    \"H-0002c90200247010\"[1]         # \"atlas35\" lid 1252\n\n"
      "hcaguids=0x2c90200247010\nHca  2 \"H-0002c90200247010\"         # \"atlas35\"\n"
      "[1]    \"S-0008f104003f1e29\"[24]         # lid 1252 lmc 0 \"ISR2012 Voltaire\" lid 742\n",
      "old");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().fabric.links().size(), 1U);
  EXPECT_EQ(read.value().fabric.find("atlas35"), 1U);
}

TEST(Discovery, ChassisNodesMayStandTwice) {
  const std::string node =
      "switchguid=0x10(10)\nSwitch\t8 \"S-0000000000000010\"\t\t# \"spine\" base port 0 lid 1 lmc 0\n"
      "[1]\t\"H-0000000000000020\"[1](21) \t\t# \"h\" lid 2 4xQDR\n";
  const std::string host =
      "caguid=0x20\nCa\t1 \"H-0000000000000020\"\t\t# \"h\"\n"
      "[1](21) \t\"S-0000000000000010\"[1]\t\t# lid 2 lmc 0 \"spine\" lid 1 4xQDR\n";
  auto read = read_discovery("\nChassis 1 (guid 0x99)\nHostname: x\n\n# Spine Nodes\n" + node +
                                 "\n# Chassis Switches\n" + node + "\nNon-Chassis Nodes\n\n" + host,
                             "grouped");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().fabric.nodes().size(), 2U);
  EXPECT_EQ(read.value().fabric.links().size(), 1U);
  EXPECT_TRUE(read.value().notes.empty());
}

TEST(Discovery, WhatIsMissingOrDisagreesIsNoted) {
  auto read = read_discovery(
      "switchguid=0x10\nSwitch 8 \"S-10\" # \"sw\" base port 0 lid 1 lmc 0\n"
      "[1] \"H-20\"[1](21) # \"gone\" lid 7 4xQDR\n"
      "[2] \"S-30\"[5] # \"also gone\" lid 9 4xQDR\n"
      "[3] \"H-40\"[1] # \"h\" lid 4 4xQDR\n"
      "[4] \"S-10\"[4] # \"sw\" lid 1 4xQDR\n"
      "caguid=0x40\nCa 1 \"H-40\" # \"h\"\n"
      "[1] \"S-10\"[8] # lid 4 lmc 0 \"sw\" lid 1 4xQDR\n",
      "odd");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Fabric& fabric = read.value().fabric;
  EXPECT_EQ(fabric.node(fabric.find("gone")).kind, NodeKind::adapter);
  EXPECT_EQ(fabric.port(fabric.port_of(fabric.find("gone"), 1)).lid, 7U);
  EXPECT_EQ(fabric.port(fabric.port_of(fabric.find("gone"), 1)).guid, 0x21U);
  EXPECT_EQ(fabric.node(fabric.find("also gone")).port_count, 5);
  EXPECT_EQ(fabric.links().size(), 3U);
  EXPECT_THAT(
      read.value().notes,
      testing::ElementsAre(HasSubstr("line 3: \"H-20\" is mentioned and not described"),
                           HasSubstr("line 4: \"S-30\" is mentioned and not described; it is taken as a switch of 5"),
                           HasSubstr("line 6: a port that is cabled to itself"),
                           HasSubstr("line 9: the two ends of a cable disagree"),
                           HasSubstr("3 links are described at one end only")));
}

TEST(Discovery, NamesAreMadeUnique) {
  auto read = read_discovery(
      "caguid=0x20\nCa 1 \"H-20\" # \"MT25408 ConnectX\"\n[1] \"H-40\"[1]\n"
      "caguid=0x40\nCa 1 \"H-40\" # \"MT25408 ConnectX\"\n[1] \"H-20\"[1]\n",
      "pair");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().fabric.node(0).name, "MT25408 ConnectX 0x0000000000000020");
  EXPECT_EQ(read.value().fabric.node(1).name, "MT25408 ConnectX 0x0000000000000040");
  EXPECT_EQ(read.value().fabric.links().size(), 1U);
  EXPECT_EQ(read.value().fabric.top_lid(), 2U) << "LIDs are assigned where there are none";
}

TEST(Discovery, IbsimsOwnExamplesAreRead) {
  auto read = read_discovery(
      "# 2 switches\nspeed=4\nSwitch\t8 \"Switch1\"\n[1]\t\"Hca1\"[1]\n[2]\t\"Hca2\"[2]\tw=1 "
      "s=1\n[3]\t\"Switch2\"[3]\n\n"
      "Switch\t8 \"Switch2\"\n[3]\t\"Switch1\"[3]\n\nHca\t2 \"Hca1\"\n[1]\t\"Switch1\"[1]\n\nHca\t2 "
      "\"Hca2\"\n[2]\t\"Switch1\"[2] w=3\n",
      "net");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Fabric& fabric = read.value().fabric;
  EXPECT_EQ(fabric.node(0).guid, 0x200000U) << "ibsim counts so";
  EXPECT_EQ(fabric.node(1).guid, 0x200001U);
  EXPECT_EQ(fabric.node(2).guid, 0x100000U);
  EXPECT_EQ(fabric.node(3).guid, 0x100003U);
  EXPECT_EQ(fabric.node(2).name, "H-0000000000100000");
  EXPECT_EQ(fabric.links().size(), 3U);
  EXPECT_EQ(fabric.link(0).rate, (LinkRate{4, LaneSpeed::qdr}));
  EXPECT_EQ(fabric.link(1).rate, (LinkRate{1, LaneSpeed::sdr}));
}

TEST(Discovery, AFabricBeyondSixteenBitsOfLidsIsReadBack) {
  Fabric fabric;
  for (int i = 0; i < 400; ++i) fabric.add_node(NodeKind::switch_, 254, std::to_string(i));
  for (NodeId id = 1; id < 400; ++id) fabric.connect(id - 1, id);
  fabric.assign_lids();
  for (std::uint32_t number = 0; number <= 254; ++number)
    fabric.mutable_port(fabric.port_of(7, static_cast<std::uint8_t>(number))).lid = 70000;
  EXPECT_TRUE(difference(fabric, read_discovery(write_discovery(fabric), "big").value().fabric).none_at_all());
}

struct Wrong {
  const char* text;
  const char* message;
};
void PrintTo(const Wrong& wrong, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << testing::PrintToString(std::string(wrong.text));
}

class DiscoveryRefused : public testing::TestWithParam<Wrong> {};

TEST_P(DiscoveryRefused, NamesLineAndColumn) {
  auto read = read_discovery(std::string(GetParam().text) + "\n", "file");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), Code::bad_input);
  EXPECT_THAT(read.status().message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Discovery, DiscoveryRefused,
    testing::Values(
        Wrong{"", "reading file: no switch and no channel adapter in it"},
        Wrong{"hello world\n", "reading file line 1 column 6: this line belongs to no discovery"},
        Wrong{"\n\ncolour=3", "reading file line 3 column 9: there is no key 'colour'"},
        Wrong{"vendid=x", "line 1 column 8: expected a number after vendid"},
        Wrong{"Switch S", "line 1 column 8: expected the number of ports"},
        Wrong{"Switch 255 \"S\"", "expected the number of ports, from 1 to 254"},
        Wrong{"Switch 8 S", "line 1 column 10: expected the node's id in quotation marks"},
        Wrong{"Switch 8 \"S", "expected the node's id in quotation marks"},
        Wrong{"switchguid=0\nSwitch 8 \"S\"", "the node's GUID is 0"},
        Wrong{"Switch 8 \"S\"\nSwitch 9 \"S\"", "stood here before with another number of ports"},
        Wrong{"Switch 8 \"S\" # \"s\" base port 0 lid x", "expected a LID"},
        Wrong{"Switch 8 \"S\" # \"s\" base port 0 lid 70000", "reading file: LID 70000, which is above 65535"},
        Wrong{"Switch 8 \"S\" # \"s\" base port 0 lid 1 lmc 8", "expected an LMC"},
        Wrong{"[1] \"S\"[1]", "line 1 column 1: a port before any node"},
        Wrong{"Switch 8 \"S\"\n[9] \"T\"[1]", "line 2 column 3: expected a port number, from 1 to 8"},
        Wrong{"Switch 8 \"S\"\n[1 \"T\"[1]", "expected ']'"},
        Wrong{"Switch 8 \"S\"\n[1] T", "line 2 column 5: expected the id of the node at the other end"},
        Wrong{"Switch 8 \"S\"\n[1] \"T\"[0]", "expected a port number, from 1 to 254"},
        Wrong{"Switch 8 \"S\"\n[1](x) \"T\"[1]", "expected a port GUID"},
        Wrong{"Switch 8 \"S\"\n[1] \"T\"[1](3", "expected a port GUID and ')'"},
        Wrong{"Switch 8 \"S\"\n[1] \"T\"[1] z=3", "expected w=, s= or a comment"},
        Wrong{"Switch 8 \"S\"\n[1] \"T\"[1] # \"t\" lid x", "expected a LID"},
        Wrong{"Switch 8 \"S\"\n[1] \"T\"[1]\n[1] \"T\"[2]", "line 3 column 11: port 1 of this node stood in line 2"},
        Wrong{"Switch 8 \"S\"\n[1] \"T\"[9]\nSwitch 8 \"T\"", "line 2: port 9 of \"T\", which has 8 ports"},
        Wrong{"@\"a\"", "port aliases are not supported"}, Wrong{"module \"x\"", "module, do and pdebug"},
        Wrong{"< Switch 8 \"S\"", "a difference of two discoveries"}));

TEST(Source, OpensFilesAndTopologies) {
  EXPECT_TRUE(open_fabric("torus(3,3)").ok());
  EXPECT_TRUE(open_fabric("torus-5x5 hosts=3").ok());
  auto missing = open_fabric("/no/such/file");
  EXPECT_EQ(missing.status().code(), Code::not_found);
  EXPECT_THAT(missing.status().message(), HasSubstr("there is no such file: give a file, or a topology"));
  EXPECT_EQ(open_fabric("/").status().code(), Code::bad_input);
  EXPECT_EQ(open_fabric("torus(3,x)").status().code(), Code::bad_input);
}

TEST(Discovery, TakesWhatOlderAndOddFilesHave) {
  auto read = read_discovery(
      "\xEF\xBB\xBF# from an editor\r\n"
      "switchguid=0x8f10400410015\r\n"
      "Switch\t8 \"S-0008f10400410015\"\t\t# SW-6IB4 Voltaire port 0 lid 5\r\n"
      "[1]\t\"H-0008f10403961354\"[1]\t\t# \"k\xC3\xB6ln (rack [7]) don't\" lid 0xffff 4xNDR\r\n"
      "[2]\t\"?-0008f10403961400\"[1](8f10403961401) \t\t# \"odd\" lid 7 4xHDR s=4 w=2 v=8 slot 3\r\n"
      "caguid=0x8f10403961354\r\n"
      "Hca\t2 \"H-0008f10403961354\"\t\t# \"k\xC3\xB6ln (rack [7]) don't\" (scp)\r\n"
      "[1](8f10403961355) \t\"S-0008f10400410015\"[1]\t\t# lid 65535 lmc 0 \"SW-6IB4 Voltaire\" lid 5 4xNDR\r\n"
      "???guid=0x8f10403961400\r\n"
      "???\t1 \"?-0008f10403961400\"\t\t# \"odd\"\r\n"
      "[1](8f10403961401) \t\"S-0008f10400410015\"[2]\t\t# lid 7 lmc 0 \"SW-6IB4 Voltaire\" lid 5 4xHDR\r\n",
      "net");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Fabric& fabric = read.value().fabric;
  EXPECT_EQ(fabric.switch_count(), 1U);
  EXPECT_EQ(fabric.adapter_count(), 2U);
  EXPECT_EQ(fabric.links().size(), 2U);
  EXPECT_NE(fabric.find("SW-6IB4 Voltaire"), none);
  const NodeId host = fabric.find("k\xC3\xB6ln (rack [7]) don't");
  ASSERT_NE(host, none);
  EXPECT_EQ(fabric.port(fabric.port_of(host, 1)).lid, 0U) << "0xffff is no LID";
  EXPECT_EQ(format(fabric.link(fabric.port(fabric.port_of(host, 1)).link).rate), "4xNDR");
  EXPECT_TRUE(read.value().notes.empty()) << read.value().notes[0];
}

/// As ibnetdiscover of rdma-core prints a newer machine: XDR, FDR10 and NDR beside one another, lanes of all widths, a
/// switch's own aggregation node, a rate that no program knows, a chassis with --grouping's headings.
TEST(Discovery, TakesEveryWidthAndSpeedAndAggregationNodes) {
  std::string text = "Chassis 2 (guid 0xb8cef60300e2b0a0)\nHostname: \n\n# Line Nodes\n";
  const std::vector<std::string> rates = {"1xSDR", "2xHDR", "4xXDR", "8xNDR", "12xFDR10", "4xundefined (512)"};
  text +=
      "switchguid=0x10(10)\nSwitch\t41 \"S-0000000000000010\"\t\t# \"MF0;rack[1]:MQM9700/U1\" enhanced port 0 lid 1 "
      "lmc 0\n";
  for (std::size_t i = 0; i < rates.size(); ++i)
    text += "[" + std::to_string(i + 1) + "]\t\"H-000000000000002" + std::to_string(i) + "\"[1](" +
            std::to_string(90 + i) + ") \t\t# \"n" + std::to_string(i) + " mlx5_0\" lid " + std::to_string(10 + i) +
            " " + rates[i] + "\n";
  text += "[41]\t\"H-0000000000000030\"[1](31) \t\t# \"Mellanox Technologies Aggregation Node\" lid 30 4xHDR\n";
  for (std::size_t i = 0; i < rates.size(); ++i)
    text += "\nvendid=0x2c9\ndevid=0x102" + std::to_string(i) + "\ncaguid=0x2" + std::to_string(i) +
            "\nCa\t1 \"H-000000000000002" + std::to_string(i) + "\"\t\t# \"n" + std::to_string(i) + " mlx5_0\"\n[1](" +
            std::to_string(90 + i) + ") \t\"S-0000000000000010\"[" + std::to_string(i + 1) + "]\t\t# lid " +
            std::to_string(10 + i) + " lmc 0 \"MF0;rack[1]:MQM9700/U1\" lid 1 " + rates[i] + "\n";
  text +=
      "\nvendid=0x2c9\ndevid=0xcf09\ncaguid=0x30\nCa\t1 \"H-0000000000000030\"\t\t# \"Mellanox Technologies "
      "Aggregation "
      "Node\"\n[1](31) \t\"S-0000000000000010\"[41]\t\t# lid 30 lmc 0 \"MF0;rack[1]:MQM9700/U1\" lid 1 4xHDR\n";
  auto read = read_discovery(text, "new");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Fabric& fabric = read.value().fabric;
  for (std::size_t i = 0; i + 1 < rates.size(); ++i) {
    const NodeId node = fabric.find("n" + std::to_string(i) + " mlx5_0");
    ASSERT_NE(node, none);
    EXPECT_EQ(format(fabric.link(fabric.port(fabric.port_of(node, 1)).link).rate), rates[i]);
  }
  EXPECT_THAT(read.value().notes, testing::Each(HasSubstr("unknown rate '4xundefined")));
  const HostCount count = count_hosts(fabric);
  EXPECT_EQ(count.hosts, 6U);
  EXPECT_EQ(count.aggregation_nodes, 1U);
  EXPECT_NE(fabric.find("MF0;rack[1]:MQM9700/U1"), none);
}

TEST(Discovery, AListOfNodesIsNoNetwork) {
  auto read = read_discovery("Switch\t : 0x0008f10400410015 ports 8 devid 0x5a06 vendid 0x8f1 \"SW\"\n", "net");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("without -l"));
}

/// Every prefix of a file: what was cut off is told, or it says where it broke; nothing is made up.
TEST(Discovery, CutAnywhereIsToldOrRefused) {
  const std::string whole = write_discovery(generate("tree(2,2)").value());
  const Fabric fabric = read_discovery(whole, "net").value().fabric;
  std::size_t silent = 0;
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto read = read_discovery(whole.substr(0, bytes), "net");
    if (!read.ok()) {
      EXPECT_THAT(read.status().message(), HasSubstr("reading net")) << bytes;
      continue;
    }
    EXPECT_LE(read.value().fabric.nodes().size(), fabric.nodes().size()) << bytes;
    EXPECT_LE(read.value().fabric.links().size(), fabric.links().size()) << bytes;
    const bool all = read.value().fabric.links().size() == fabric.links().size();
    const bool none_yet = read.value().fabric.links().empty();  // what was read says no more than a lone switch would
    if (read.value().notes.empty() && !all && !none_yet) ++silent;
  }
  EXPECT_EQ(silent, 0U) << "a fabric with fewer links than the whole, and no word of it";
}

/// Line ends of both kinds in one file, and names in another character set, are no oddities.
TEST(Discovery, LineEndsAndCharacterSetsMayMix) {
  const std::string whole = write_discovery(generate("tree(2,2)").value());
  std::string mixed;
  bool carriage = false;
  for (const char letter : whole) {
    if (letter == '\n' && (carriage = !carriage)) mixed += '\r';
    mixed += letter;
  }
  for (std::size_t at = mixed.find("host-0"); at != std::string::npos; at = mixed.find("host-0"))
    mixed.replace(at, 6, "h\xF4te-0");
  const auto read = read_discovery(mixed, "net");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read.value().notes.empty()) << read.value().notes[0];
  EXPECT_EQ(read.value().fabric.links().size(), 8U);
  EXPECT_NE(read.value().fabric.find("h\xF4te-0"), none);
}

TEST(Discovery, DuplicatedLidsAndGuidsAreNoted) {
  const std::string whole = write_discovery(generate("tree(2,2)").value());
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string text = whole;
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return read_discovery(text, "net");
  };
  auto read = replaced(" lid 6 ", " lid 5 ");
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(read.value().notes, testing::Contains(HasSubstr("LID 5 is used twice")));
  read = read_discovery(write_discovery(generate("tree(2,2) lmc=2").value()), "net");
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(read.value().notes, testing::IsEmpty());
  read = replaced(" lid 5 lmc 0 ", " lid 5 lmc 1 ");
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(read.value().notes, testing::Contains(HasSubstr("LID 6 is used twice"))) << "5 and 6 are the first's";
  read = replaced(" lid 5 ", " lid 49152 ");
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(read.value().notes, testing::Contains(HasSubstr("LID 49152 of H-")));
  read = replaced("switchguid=0x2c90000000026(", "switchguid=0x2c90000000001(");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_THAT(read.value().notes, testing::Contains(HasSubstr("belongs to another node as well")));
}

TEST(Discovery, ANodeThatIsDescribedAgainAsAnotherIsNoted) {
  const auto notes_of = [](std::string_view second) {
    const std::string first = "Switch\t4 \"S-21\"\t\t# \"leaf 1\" enhanced port 0 lid 7 lmc 0\n";
    const auto read = read_discovery("switchguid=0x21\n" + first + "[1]\t\"H-31\"[1]\n\n" + std::string(second), "net");
    return read.ok() ? read.value().notes : std::vector<std::string>{read.status().message()};
  };
  const auto again = testing::Contains(HasSubstr("do two nodes have one GUID"));
  EXPECT_THAT(notes_of("Switch\t4 \"S-21\"\t\t# \"leaf 1\" enhanced port 0 lid 7 lmc 0\n"), testing::Not(again));
  EXPECT_THAT(notes_of("Switch\t4 \"S-21\"\n"), testing::Not(again));
  EXPECT_THAT(notes_of("Switch\t4 \"S-21\"\t\t# \"leaf 2\" enhanced port 0 lid 7 lmc 0\n"), again);
  EXPECT_THAT(notes_of("Switch\t4 \"S-21\"\t\t# \"leaf 1\" enhanced port 0 lid 8 lmc 0\n"), again);
}

TEST(Discovery, IncludesWhatIbsimIncludes) {
  const scratch::ScratchFolder scratch;
  const std::string& folder = scratch.path();
  ASSERT_TRUE(
      write_text_file(folder + "/part.net", "Switch 4 \"S1\"\n[1] \"H1\"[1]\nHca 1 \"H1\"\n[1] \"S1\"[1]\n").ok());
  ASSERT_TRUE(write_text_file(folder + "/itself.net", "include \"itself.net\"\n").ok());
  ASSERT_TRUE(write_text_file(folder + "/broken.net", "Switch 4\n").ok());
  auto read = read_discovery("include \"part.net\"\nSwitch 4 \"S2\"\n[2] \"S1\"[2]\n", folder + "/whole.net");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read.value().fabric.switch_count(), 2U);
  EXPECT_EQ(read.value().fabric.links().size(), 2U);
  read = read_discovery("include \"itself.net\"\n", folder + "/whole.net");
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("included by itself"));
  read = read_discovery("include \"broken.net\"\n", folder + "/whole.net");
  EXPECT_THAT(read.status().message(), HasSubstr("broken.net line 1 column"));
  read = read_discovery("include \"none.net\"\n", folder + "/whole.net");
  EXPECT_THAT(read.status().message(), HasSubstr("cannot include none.net: there is no such file"));
}

}  // namespace
}  // namespace holdfast::fabric
