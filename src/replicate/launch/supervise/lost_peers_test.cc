#include "replicate/launch/supervise/lost_peers.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>
#include <fstream>

#include "core/scratch/scratch_folder.h"

namespace holdfast::launch {
namespace {

void leave(const std::string& path, const std::string& text) {
  std::ofstream(path + ".new") << text;
  std::filesystem::rename(path + ".new", path);
}

std::string incident_of(int process, const std::string& peer, const std::string& outcome) {
  return R"({"kind": "lost_peer", "message": "m", "process": )" + std::to_string(process) +
         R"(, "host": "hosta", "peer": ")" + peer + R"(", "outcome": ")" + outcome +
         R"(", "why": "nothing came back", "lost_messages": 10, "rails": "udp@hf1 out"})";
}

TEST(LostPeers, TheWatchIsReadyWhenOneIsFoundAndNotForOtherFiles) {
  const scratch::ScratchFolder folder;
  LostPeerWatch watch(folder.path());
  pollfd wait{watch.descriptor(), POLLIN, 0};
  leave(folder.path() + "/incident-1.0.json", "{}");
  EXPECT_EQ(poll(&wait, 1, 600), 0);
  leave(folder.path() + "/incident-lost-peer-7-00ff.json", incident_of(0, "00ff", "unreachable"));
  EXPECT_EQ(poll(&wait, 1, 60'000), 1);
}

TEST(LostPeers, TheLineNamesBothEndsAndTheCauseComesBeforeWhatFollowsFromIt) {
  const scratch::ScratchFolder folder;
  leave(folder.path() + "/endpoint-00aa.json", R"({"process": 4, "host": "hostb"})");
  std::vector<Incident> incidents = {
      read_incident(incident_of(4, "00bb", "restarted"), "incident-lost-peer-1-00bb.json"),
      read_incident(incident_of(1, "00aa", "unreachable"), "incident-lost-peer-2-00aa.json")};
  name_lost_peers(incidents, folder.path(), replicate::ReplicaMap::uniform(3, 2).value());
  EXPECT_EQ(incidents[0].message,
            "the network lost a peer: rank 1 replica 0 on hosta has given up rank 1 replica 1 on hostb: nothing came "
            "back; rails: udp@hf1 out; 10 messages that were reported as sent are lost");
  EXPECT_EQ(incidents[1].rank, 1);
  EXPECT_EQ(incidents[1].replica, 1);
  EXPECT_NE(incidents[1].message.find("has given up a peer"), std::string::npos) << "its file is not there";
}

TEST(LostPeers, ADamagedFileIsNamedWithoutWhatIsMissing) {
  std::vector<Incident> incidents = {
      read_incident(R"({"kind": "lost_peer", "peer": "../../etc", "process": -3})", "x")};
  name_lost_peers(incidents, "/nowhere", replicate::ReplicaMap::uniform(2, 1).value());
  EXPECT_EQ(incidents[0].message, "the network lost a peer: a peer has given up a peer: ");
}

}  // namespace
}  // namespace holdfast::launch
