// In a network namespace of the test's own, with real interfaces.
#include "transport/rail/link_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>

#include <cstdlib>
#include <thread>

namespace holdfast::transport {
namespace {

// Waits for the change; other interfaces may tell of theirs.
bool hears(LinkWatch& watch, const LinkWatch::Change& wanted) {
  pollfd descriptor{watch.fd(), POLLIN, 0};
  while (::poll(&descriptor, 1, 10'000) > 0) {
    for (const LinkWatch::Change& change : watch.changes()) {
      if (change == wanted) return true;
    }
  }
  return false;
}

TEST(LinkWatch, HearsOfLinksThatAreSetDownLoseTheirCarrierAndComeBack) {
  bool possible = false;
  std::thread([&] {  // a thread's namespace is its own
    if (unshare(CLONE_NEWNET) != 0) return;
    const auto ip = [](const std::string& words) { return std::system(("ip " + words + " 2>/dev/null").c_str()) == 0; };
    if (!ip("link add wa type veth peer name wb") || !ip("link set wa up") || !ip("link set wb up")) return;
    possible = true;
    LinkWatch watch;
    ASSERT_GE(watch.fd(), 0);
    EXPECT_TRUE(watch.changes().empty()) << "nothing has changed since";
    ip("link set wa down");
    EXPECT_TRUE(hears(watch, {"wa", false}));
    ip("link set wa up");
    EXPECT_TRUE(hears(watch, {"wa", true}));
    ip("link set wb down");
    EXPECT_TRUE(hears(watch, {"wa", false})) << "no carrier";
    ip("link set wb up");
    EXPECT_TRUE(hears(watch, {"wa", true}));
    ip("link del wb");
    EXPECT_TRUE(hears(watch, {"wa", false})) << "it is gone";
  })
      .join();
  if (!possible) GTEST_SKIP() << "network namespaces need root and ip";
}

}  // namespace
}  // namespace holdfast::transport
