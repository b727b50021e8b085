// The provider as an application sees it: loaded by libfabric from FI_PROVIDER_PATH, two endpoints in this process.
#include <gtest/gtest.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/scratch/scratch_folder.h"
#include "transport/ofi/address.h"
#include "transport/ofi/parameters.h"
#include "transport/rail/libfabric/libfabric_rail.h"
#include "transport/rail/rail_options.h"

#ifdef __SANITIZE_ADDRESS__
// libfabric 1.17's net provider forgets the copy of the fi_info that each of its endpoints makes.
extern "C" const char* __lsan_default_suppressions();  // NOLINT: the sanitizer's name
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfabric.so";
}
#endif

namespace holdfast::transport::ofi {
namespace {

using Bytes = std::vector<std::byte>;

Bytes pattern(std::size_t bytes, unsigned seed = 1) {
  Bytes made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>((i * 131 + seed * 17 + (i >> 9)) & 255);
  return made;
}

struct FreeInfo {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

Info ask(std::uint64_t caps, int* code = nullptr) {
  setenv("FI_PROVIDER_PATH", HOLDFAST_BINARY_DIR "/lib", 1);
  Info hints(fi_allocinfo());
  hints->caps = caps;
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = strdup("holdfast");
  fi_info* found = nullptr;
  const int got = fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &found);
  if (code != nullptr) *code = got;
  return Info(found);
}

/// One endpoint with a queue, a counter and an address vector of its own.
struct End {
  fid_av* names = nullptr;
  fid_cq* queue = nullptr;
  fid_cntr* counter = nullptr;
  fid_ep* endpoint = nullptr;
  fid_eq* events = nullptr;
  fi_addr_t other = FI_ADDR_NOTAVAIL;

  void open(fid_fabric* fabric, fid_domain* domain, fi_info* info, fi_wait_obj wait) {
    fi_eq_attr eq{};
    ASSERT_EQ(fi_eq_open(fabric, &eq, &events, nullptr), 0);
    fi_cq_attr cq{};
    cq.format = FI_CQ_FORMAT_TAGGED;
    cq.wait_obj = wait;
    ASSERT_EQ(fi_cq_open(domain, &cq, &queue, nullptr), 0);
    fi_av_attr av{};
    ASSERT_EQ(fi_av_open(domain, &av, &names, nullptr), 0);
    fi_cntr_attr counting{};
    ASSERT_EQ(fi_cntr_open(domain, &counting, &counter, nullptr), 0);
    ASSERT_EQ(fi_endpoint(domain, info, &endpoint, nullptr), 0);
    ASSERT_EQ(fi_ep_bind(endpoint, &events->fid, 0), 0);
    ASSERT_EQ(fi_ep_bind(endpoint, &names->fid, 0), 0);
    ASSERT_EQ(fi_ep_bind(endpoint, &queue->fid, FI_SEND | FI_RECV), 0);
    ASSERT_EQ(fi_ep_bind(endpoint, &counter->fid, FI_READ | FI_WRITE), 0);
    ASSERT_EQ(fi_enable(endpoint), 0);
  }
  void close() {
    if (endpoint != nullptr) fi_close(&endpoint->fid);
    if (queue != nullptr) fi_close(&queue->fid);
    if (counter != nullptr) fi_close(&counter->fid);
    if (names != nullptr) fi_close(&names->fid);
    if (events != nullptr) fi_close(&events->fid);
    events = nullptr;
    endpoint = nullptr;
    queue = nullptr;
    counter = nullptr;
    names = nullptr;
  }
};

class ProviderTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { start(GetParam(), FI_WAIT_NONE); }
  void TearDown() override {
    for (End& end : ends) end.close();
    if (domain != nullptr) fi_close(&domain->fid);
    if (fabric != nullptr) fi_close(&fabric->fid);
  }
  void start(const char* rails, fi_wait_obj wait) {
    setenv("HOLDFAST_RAILS_USE", rails, 1);
    info = ask(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_MULTI_RECV | FI_DIRECTED_RECV | FI_SOURCE);
    ASSERT_NE(info, nullptr);
    ASSERT_EQ(fi_fabric(info->fabric_attr, &fabric, nullptr), 0);
    ASSERT_EQ(fi_domain(fabric, info.get(), &domain, nullptr), 0);
    for (End& end : ends) end.open(fabric, domain, info.get(), wait);
    for (int i = 0; i < 2; ++i) {
      std::array<std::byte, 64> address;
      std::size_t length = address.size();
      ASSERT_EQ(fi_getname(&ends[1 - i].endpoint->fid, address.data(), &length), 0);
      ASSERT_EQ(fi_av_insert(ends[i].names, address.data(), 1, &ends[i].other, 0, nullptr), 1);
    }
  }
  // The next completion of one end, with both making progress; an error completion fills `error`.
  fi_cq_tagged_entry next(End& end, fi_cq_err_entry* error = nullptr) {
    fi_cq_tagged_entry entry{};
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < until) {
      fi_cq_read(&end == &ends[0] ? ends[1].queue : ends[0].queue, nullptr, 0);
      const ssize_t got = fi_cq_read(end.queue, &entry, 1);
      if (got == 1) return entry;
      if (got == -FI_EAVAIL) {
        fi_cq_err_entry failed{};
        EXPECT_EQ(fi_cq_readerr(end.queue, &failed, 0), 1);
        EXPECT_NE(error, nullptr) << fi_strerror(failed.err);
        if (error != nullptr) *error = failed;
        return entry;
      }
    }
    ADD_FAILURE() << "no completion came";
    return entry;
  }

  Info info;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  std::array<End, 2> ends;
};

TEST_P(ProviderTest, CarriesTaggedMessagesOfEveryLength) {
  for (const std::size_t bytes : {0UL, 1UL, 4096UL, 65536UL, 65537UL, 3000000UL}) {
    Bytes out = pattern(bytes);
    Bytes in(bytes);
    int context = 0;
    ASSERT_EQ(fi_trecv(ends[1].endpoint, in.data(), bytes, nullptr, FI_ADDR_UNSPEC, 7, 0, &context), 0);
    ASSERT_EQ(fi_tsenddata(ends[0].endpoint, out.data(), bytes, nullptr, 99, ends[0].other, 7, &context), 0);
    const fi_cq_tagged_entry got = next(ends[1]);
    EXPECT_EQ(got.len, bytes);
    EXPECT_EQ(got.tag, 7U);
    EXPECT_EQ(got.data, 99U);
    EXPECT_EQ(got.op_context, &context);
    EXPECT_NE(got.flags & FI_REMOTE_CQ_DATA, 0U);
    EXPECT_TRUE(in == out);
    EXPECT_NE(next(ends[0]).flags & FI_SEND, 0U);
  }
}

TEST_P(ProviderTest, ALongerMessageThanItsReceiveIsTruncatedAndSaysSo) {
  for (const std::size_t bytes : {100UL, 200000UL}) {
    Bytes out = pattern(bytes);
    Bytes in(bytes / 2);
    ASSERT_EQ(fi_trecv(ends[1].endpoint, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
    ASSERT_EQ(fi_tsend(ends[0].endpoint, out.data(), bytes, nullptr, ends[0].other, 1, nullptr), 0);
    fi_cq_err_entry error{};
    next(ends[1], &error);
    EXPECT_EQ(error.err, FI_ETRUNC);
    EXPECT_EQ(error.olen, bytes - in.size());
    EXPECT_TRUE(std::equal(in.begin(), in.end(), out.begin()));
    next(ends[0]);
  }
}

TEST_P(ProviderTest, PeeksAndClaims) {
  Bytes out = pattern(500);
  Bytes in(500);
  iovec piece = {in.data(), in.size()};
  fi_context context{};
  fi_msg_tagged want{};
  want.msg_iov = &piece;
  want.iov_count = 1;
  want.addr = FI_ADDR_UNSPEC;
  want.tag = 3;
  want.context = &context;
  fi_cq_err_entry error{};
  ASSERT_EQ(fi_trecvmsg(ends[1].endpoint, &want, FI_PEEK), 0);
  next(ends[1], &error);
  EXPECT_EQ(error.err, FI_ENOMSG);
  ASSERT_EQ(fi_tsend(ends[0].endpoint, out.data(), out.size(), nullptr, ends[0].other, 3, nullptr), 0);
  next(ends[0]);
  for (int tries = 0; tries < 1000; ++tries) {
    ASSERT_EQ(fi_trecvmsg(ends[1].endpoint, &want, FI_PEEK | FI_CLAIM), 0);
    error = {};
    if (next(ends[1], &error).len == out.size()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(error.err, 0);
  ASSERT_EQ(fi_trecvmsg(ends[1].endpoint, &want, FI_CLAIM), 0);
  EXPECT_EQ(next(ends[1]).len, out.size());
  EXPECT_TRUE(in == out);
}

TEST_P(ProviderTest, ACanceledReceiveSaysSo) {
  Bytes in(8);
  fi_context context{};
  ASSERT_EQ(fi_trecv(ends[1].endpoint, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, &context), 0);
  EXPECT_EQ(fi_cancel(&ends[1].endpoint->fid, &context), 0);
  fi_cq_err_entry error{};
  next(ends[1], &error);
  EXPECT_EQ(error.err, FI_ECANCELED);
  EXPECT_EQ(error.op_context, &context);
  EXPECT_EQ(fi_cancel(&ends[1].endpoint->fid, &context), -FI_ENOENT);
}

TEST_P(ProviderTest, WritesReadsAndOperatesOnRemoteMemory) {
  std::vector<std::uint64_t> memory(40000);
  fid_mr* region = nullptr;
  ASSERT_EQ(
      fi_mr_reg(domain, memory.data(), memory.size() * 8, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 55, 0, &region, nullptr),
      0);
  std::vector<std::uint64_t> out(memory.size());
  std::iota(out.begin(), out.end(), 1);
  ASSERT_EQ(fi_write(ends[0].endpoint, out.data(), out.size() * 8, nullptr, ends[0].other, 0, 55, nullptr), 0);
  EXPECT_NE(next(ends[0]).flags & FI_WRITE, 0U);
  EXPECT_TRUE(memory == out);
  std::vector<std::uint64_t> in(memory.size());
  ASSERT_EQ(fi_read(ends[0].endpoint, in.data(), in.size() * 8, nullptr, ends[0].other, 0, 55, nullptr), 0);
  EXPECT_NE(next(ends[0]).flags & FI_READ, 0U);
  EXPECT_TRUE(in == out);

  const std::uint64_t five = 5;
  ASSERT_EQ(fi_atomic(ends[0].endpoint, &five, 1, nullptr, ends[0].other, 8, 55, FI_UINT64, FI_SUM, nullptr), 0);
  EXPECT_EQ(next(ends[0]).flags & (FI_ATOMIC | FI_WRITE), FI_ATOMIC | FI_WRITE);
  EXPECT_EQ(memory[1], 7U);
  std::uint64_t old = 0;
  ASSERT_EQ(fi_fetch_atomic(ends[0].endpoint, &five, 1, nullptr, &old, nullptr, ends[0].other, 8, 55, FI_UINT64,
                            FI_ATOMIC_WRITE, nullptr),
            0);
  EXPECT_EQ(next(ends[0]).flags & (FI_ATOMIC | FI_READ), FI_ATOMIC | FI_READ);
  EXPECT_EQ(old, 7U);
  EXPECT_EQ(memory[1], 5U);
  const std::uint64_t six = 6;
  ASSERT_EQ(fi_compare_atomic(ends[0].endpoint, &six, 1, nullptr, &five, nullptr, &old, nullptr, ends[0].other, 8, 55,
                              FI_UINT64, FI_CSWAP, nullptr),
            0);
  next(ends[0]);
  EXPECT_EQ(old, 5U);
  EXPECT_EQ(memory[1], 6U);
  ASSERT_EQ(fi_fetch_atomic(ends[0].endpoint, nullptr, 1, nullptr, &old, nullptr, ends[0].other, 8, 55, FI_UINT64,
                            FI_ATOMIC_READ, nullptr),
            0);
  next(ends[0]);
  EXPECT_EQ(old, 6U);
  EXPECT_EQ(fi_cntr_read(ends[0].counter), 6U);
  ASSERT_EQ(fi_inject_atomic(ends[0].endpoint, &five, 1, ends[0].other, 8, 55, FI_UINT64, FI_SUM), 0);
  EXPECT_EQ(fi_cntr_wait(ends[0].counter, 7, 20000), 0);
  EXPECT_EQ(memory[1], 11U);
  fi_cq_tagged_entry none{};
  EXPECT_EQ(fi_cq_read(ends[0].queue, &none, 1), -FI_EAGAIN);

  fi_cq_err_entry error{};  // a key that is not there
  ASSERT_EQ(fi_atomic(ends[0].endpoint, &five, 1, nullptr, ends[0].other, 8, 56, FI_UINT64, FI_SUM, nullptr), 0);
  next(ends[0], &error);
  EXPECT_EQ(error.err, FI_EACCES);
  EXPECT_EQ(fi_cntr_readerr(ends[0].counter), 1U);
  fi_close(&region->fid);
}

TEST_P(ProviderTest, SaysWhichAtomicOperationsItHas) {
  std::size_t count = 0;
  EXPECT_EQ(fi_atomicvalid(ends[0].endpoint, FI_INT64, FI_SUM, &count), 0);
  EXPECT_GE(count, 64U);
  EXPECT_EQ(fi_fetch_atomicvalid(ends[0].endpoint, FI_DOUBLE, FI_SUM, &count), 0);
  EXPECT_EQ(fi_compare_atomicvalid(ends[0].endpoint, FI_UINT32, FI_CSWAP, &count), 0);
  EXPECT_EQ(fi_compare_atomicvalid(ends[0].endpoint, FI_UINT32, FI_SUM, &count), -FI_EOPNOTSUPP);
  EXPECT_EQ(fi_atomicvalid(ends[0].endpoint, FI_DOUBLE, FI_BXOR, &count), -FI_EOPNOTSUPP);
  fi_atomic_attr attributes{};
  EXPECT_EQ(fi_query_atomic(domain, FI_UINT32, FI_CSWAP, &attributes, FI_COMPARE_ATOMIC), 0);
  EXPECT_EQ(attributes.size, 4U);
  const std::uint64_t one = 1;
  EXPECT_EQ(fi_atomic(ends[0].endpoint, &one, 1, nullptr, ends[0].other, 0, 1, FI_UINT64, FI_CSWAP, nullptr),
            -FI_EOPNOTSUPP);
  const std::vector<std::uint64_t> many(1000);
  EXPECT_EQ(
      fi_atomic(ends[0].endpoint, many.data(), many.size(), nullptr, ends[0].other, 0, 1, FI_UINT64, FI_SUM, nullptr),
      -FI_EINVAL);
}

TEST_P(ProviderTest, WhatAPeerLeavesBehindIsReported) {
  Bytes out = pattern(1000);
  Bytes in(1000);
  ASSERT_EQ(fi_trecv(ends[1].endpoint, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
  ASSERT_EQ(fi_tsend(ends[0].endpoint, out.data(), out.size(), nullptr, ends[0].other, 1, nullptr), 0);
  next(ends[1]);
  next(ends[0]);
  Bytes longer = pattern(500000);  // announced, and nobody will take it
  ASSERT_EQ(fi_tsend(ends[0].endpoint, longer.data(), longer.size(), nullptr, ends[0].other, 2, nullptr), 0);
  fi_cq_read(ends[1].queue, nullptr, 0);
  fi_close(&ends[1].endpoint->fid);
  ends[1].endpoint = nullptr;
  fi_cq_err_entry error{};
  next(ends[0], &error);
  EXPECT_EQ(error.err, FI_ESHUTDOWN);
}

INSTANTIATE_TEST_SUITE_P(Rails, ProviderTest, testing::Values("udp@lo", "tcp@lo", "shm", "tcp@lo,udp@lo"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
                           return name;
                         });

class LostPeerTest : public ProviderTest {
 protected:
  void SetUp() override {
    setenv("HOLDFAST_TRANSPORT_UNREACHABLE_AFTER", "500ms", 1);
    setenv("HOLDFAST_TRANSPORT_KEEPALIVE", "50ms", 1);
    setenv("HOLDFAST_RAILS_FAULTS", "kill-rail any time 2s", 1);
    setenv("HOLDFAST_RAILS_COUNTERS", folder.path().c_str(), 1);
    start("udp@lo", FI_WAIT_NONE);
  }
  void TearDown() override {
    ProviderTest::TearDown();
    for (const char* name : {"HOLDFAST_TRANSPORT_UNREACHABLE_AFTER", "HOLDFAST_TRANSPORT_KEEPALIVE",
                             "HOLDFAST_RAILS_FAULTS", "HOLDFAST_RAILS_COUNTERS"}) {
      unsetenv(name);
    }
  }
  std::vector<std::string> files(const std::string& begin) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      if (entry.path().filename().string().starts_with(begin)) found.push_back(entry.path().string());
    }
    return found;
  }
  scratch::ScratchFolder folder;
};

TEST_F(LostPeerTest, IsTheEndOfAllThatIsToDoWithItAndSaysSoEverywhere) {
  Bytes out = pattern(100);
  Bytes in(100);
  ASSERT_EQ(fi_tsend(ends[0].endpoint, out.data(), out.size(), nullptr, ends[0].other, 1, nullptr), 0);
  next(ends[0]);
  ASSERT_EQ(fi_trecv(ends[1].endpoint, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
  next(ends[1]);
  int context = 0;
  ASSERT_EQ(fi_trecv(ends[0].endpoint, in.data(), in.size(), nullptr, ends[0].other, 2, 0, &context), 0);
  std::uint32_t kind = 0;
  char event[256];
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (fi_eq_read(ends[0].events, &kind, event, sizeof event, 0) != -FI_EAVAIL) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << "no event came";
    fi_cq_read(ends[1].queue, nullptr, 0);
    fi_cq_read(ends[0].queue, nullptr, 0);
  }
  fi_eq_err_entry lost{};
  ASSERT_EQ(fi_eq_readerr(ends[0].events, &lost, 0), static_cast<ssize_t>(sizeof lost));
  EXPECT_EQ(lost.fid, &ends[0].endpoint->fid);
  EXPECT_EQ(lost.data, ends[0].other);
  EXPECT_EQ(lost.err, FI_EHOSTUNREACH);
  fi_cq_err_entry error{};
  next(ends[0], &error);
  EXPECT_EQ(error.err, FI_EHOSTUNREACH);
  EXPECT_EQ(error.op_context, &context) << "the receive that was posted";
  EXPECT_EQ(fi_trecv(ends[0].endpoint, in.data(), in.size(), nullptr, ends[0].other, 3, 0, nullptr), -FI_EHOSTUNREACH);
  EXPECT_EQ(fi_tsend(ends[0].endpoint, out.data(), out.size(), nullptr, ends[0].other, 3, nullptr), -FI_EHOSTUNREACH);
  EXPECT_EQ(files("endpoint-").size(), 2U);
  const auto incidents = files("incident-lost-peer-");
  ASSERT_FALSE(incidents.empty());
  std::ifstream file(incidents[0]);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("\"kind\":\"lost_peer\""), std::string::npos) << text;
  EXPECT_NE(text.find("udp@lo"), std::string::npos) << text;
}

TEST(Provider, ReadsItsOptionsAsParametersOfLibfabricToo) {
  setenv("HOLDFAST_RAILS_USE", "tcp@lo", 1);
  config::Settings<RailOptions> settings(rail_options_table());
  ASSERT_NE(ask(FI_MSG), nullptr);  // libfabric has its parameters from the provider that it has loaded
  define_parameters(provider());    // and this program's own copy of it defines them for itself
  setenv("FI_HOLDFAST_RAILS_COUNTERS_EVERY", "20ms", 1);
  ASSERT_TRUE(read_parameters(settings).ok());
  EXPECT_EQ(settings.options().use, "tcp@lo");
  EXPECT_EQ(settings.options().counters_every_ns, 20'000'000);
  setenv("FI_HOLDFAST_RAILS_COUNTERS_EVERY", "soon", 1);
  config::Settings<RailOptions> again(rail_options_table());
  const Status status = read_parameters(again);
  EXPECT_EQ(status.code(), Code::bad_input);
  EXPECT_NE(status.message().find("FI_HOLDFAST_RAILS_COUNTERS_EVERY"), std::string::npos) << status.message();
  unsetenv("FI_HOLDFAST_RAILS_COUNTERS_EVERY");
}

TEST(Provider, RefusesCapabilitiesThatItHasNot) {
  int code = 0;
  EXPECT_EQ(ask(FI_MSG | FI_MULTICAST, &code), nullptr);
  EXPECT_EQ(code, -FI_ENODATA);
  const Info info = ask(FI_ATOMIC, &code);
  ASSERT_NE(info, nullptr);
  EXPECT_NE(info->caps & FI_REMOTE_WRITE, 0U);
}

// What verbs and efa need, over a provider that this host has: every buffer registered, every packet copied to one.
TEST(LibfabricRail, GoesThroughRegisteredBuffersWhereTheProviderWantsThem) {
  struct Ears : RailSink {
    void on_packet(std::span<const std::byte> packet) override { packets.emplace_back(packet.begin(), packet.end()); }
    void on_put_done(std::uint64_t, bool) override {}
    void on_ready() override {}
    void on_failed(std::uint32_t) override {}
    void on_doubted(std::uint32_t) override {}
    std::vector<Bytes> packets;
  };
  for (const char* kind : {"tcp", "sockets"}) {
    auto one = LibfabricRail::open({kind, "lo"}, 70000, "", "", true);
    auto two = LibfabricRail::open({kind, "lo"}, 70000, "", "", true);
    ASSERT_TRUE(one.ok() && two.ok()) << kind << one.status().message();
    const auto to = one.value()->add_destination(two.value()->address());
    ASSERT_TRUE(to.ok());
    Ears ears;
    std::vector<Bytes> sent;
    for (const std::size_t bytes : {10UL, 5000UL, 70000UL, 70000UL}) sent.push_back(pattern(bytes));
    for (Bytes& packet : sent) {
      const iovec piece = {packet.data(), packet.size()};
      while (one.value()->put(to.value(), {&piece, 1}, 1) == Put::busy) {
        one.value()->poll(ears, 0);
        two.value()->poll(ears, 0);
      }
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (ears.packets.size() < sent.size() && std::chrono::steady_clock::now() < until) {
      one.value()->poll(ears, 0);
      two.value()->poll(ears, 0);
    }
    EXPECT_TRUE(ears.packets == sent) << kind;
  }
}

}  // namespace
}  // namespace holdfast::transport::ofi
