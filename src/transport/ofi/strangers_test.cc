// The provider over real UDP, and somebody with a socket of his own on the same host.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <vector>

#include "core/scratch/scratch_folder.h"
#include "core/secret/secret_file.h"
#include "transport/ofi/address.h"
#include "transport/wire/packet.h"

namespace holdfast::transport::ofi {
namespace {

using Bytes = std::vector<std::byte>;

struct FreeInfo {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};

/// A socket on the loopback that is no endpoint.
class Stranger {
 public:
  Stranger() : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    const auto* from = reinterpret_cast<const std::byte*>(&address);
    address_.assign(from, from + sizeof address);
  }
  ~Stranger() { ::close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  /// A name that says that it is here, as endpoints have them.
  Address::Raw name(std::uint64_t number) const {
    Address own;
    own.host = Address::this_host();
    std::memcpy(own.number.data(), &number, sizeof number);
    own.rails = {address_};
    Address::Raw raw;
    EXPECT_TRUE(own.write(raw));
    return raw;
  }
  void send(const Bytes& packet, const Bytes& to) const {
    (void)::sendto(socket_, packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(to.data()),
                   static_cast<socklen_t>(to.size()));
  }
  std::vector<Bytes> heard() const {
    std::vector<Bytes> all;
    for (Bytes packet(65536);; packet.resize(65536)) {
      const ssize_t got = ::recv(socket_, packet.data(), packet.size(), 0);
      if (got < 0) return all;
      packet.resize(static_cast<std::size_t>(got));
      all.push_back(packet);
    }
  }

 private:
  int socket_;
  Bytes address_;
};

Bytes made(const wire::PacketHeader& header, const std::function<void(wire::Writer&)>& fill,
           const Bytes& payload = {}) {
  Bytes buffer(wire::most_data_header_bytes);
  wire::Writer writer(buffer, header);
  fill(writer);
  const auto headers = writer.finish(payload.size());
  Bytes packet(headers.begin(), headers.end());
  packet.insert(packet.end(), payload.begin(), payload.end());
  return packet;
}

Bytes hello(std::span<const std::byte> name, std::uint64_t identity, std::uint64_t cookie = 0) {
  return made({}, [&](wire::Writer& writer) {
    wire::HelloFrame frame;
    frame.identity = identity;
    frame.cookie = cookie;
    frame.message_limit = 1000;
    frame.byte_limit = 1 << 20;
    frame.name = name;
    writer.add(frame);
  });
}

Bytes message(std::uint32_t session, std::uint64_t key, const Bytes& payload) {
  return made(
      {.session = session, .key = key, .number = 1, .tag = {}},
      [&](wire::Writer& writer) {
        wire::DataFrame data;
        data.flags = wire::DataFrame::flag_tagged;
        data.bytes = static_cast<std::uint32_t>(payload.size());
        data.total = payload.size();
        writer.add(data);
      },
      payload);
}

class UdpStrangers : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    setenv("FI_PROVIDER_PATH", HOLDFAST_BINARY_DIR "/lib", 1);
    setenv("HOLDFAST_RAILS_USE", "udp@lo", 1);
    if (GetParam()) {
      ASSERT_TRUE(secret::write_key(folder_.file("secret"), secret::new_key()).ok());
      setenv("HOLDFAST_TRANSPORT_SECRET_FILE", folder_.file("secret").c_str(), 1);
    }
    fi_info* hints = fi_allocinfo();
    hints->caps = FI_TAGGED | FI_DIRECTED_RECV;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup("holdfast");
    fi_info* found = nullptr;
    ASSERT_EQ(fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &found), 0);
    info_.reset(found);
    fi_freeinfo(hints);
    ASSERT_EQ(fi_fabric(info_->fabric_attr, &fabric_, nullptr), 0);
    ASSERT_EQ(fi_domain(fabric_, info_.get(), &domain_, nullptr), 0);
    for (End& end : ends_) ASSERT_EQ(open(end), 0);
    for (int i : {0, 1}) {
      std::size_t length = Address::bytes;
      ASSERT_EQ(fi_getname(&ends_[i].endpoint->fid, ends_[i].raw.data(), &length), 0);
      Address address;
      ASSERT_TRUE(Address::read(ends_[i].raw, address));
      ends_[i].place = address.rails.at(0);
      ASSERT_EQ(fi_av_insert(ends_[1 - i].names, ends_[i].raw.data(), 1, &ends_[1 - i].other, 0, nullptr), 1);
    }
    exchange(0, 1, 1);
  }
  void TearDown() override {
    for (End& end : ends_) {
      if (end.endpoint != nullptr) fi_close(&end.endpoint->fid);
      if (end.queue != nullptr) fi_close(&end.queue->fid);
      if (end.names != nullptr) fi_close(&end.names->fid);
    }
    if (domain_ != nullptr) fi_close(&domain_->fid);
    if (fabric_ != nullptr) fi_close(&fabric_->fid);
    unsetenv("HOLDFAST_TRANSPORT_SECRET_FILE");
  }

  struct End {
    fid_av* names = nullptr;
    fid_cq* queue = nullptr;
    fid_ep* endpoint = nullptr;
    fi_addr_t other = FI_ADDR_NOTAVAIL;
    Address::Raw raw{};
    Bytes place;  ///< its UDP address
    int done = 0;
    int failed = 0;
  };
  int open(End& end) {
    fi_cq_attr cq{};
    cq.format = FI_CQ_FORMAT_TAGGED;
    fi_av_attr av{};
    if (int code = fi_cq_open(domain_, &cq, &end.queue, nullptr)) return code;
    if (int code = fi_av_open(domain_, &av, &end.names, nullptr)) return code;
    if (int code = fi_endpoint(domain_, info_.get(), &end.endpoint, nullptr)) return code;
    if (int code = fi_ep_bind(end.endpoint, &end.names->fid, 0)) return code;
    if (int code = fi_ep_bind(end.endpoint, &end.queue->fid, FI_SEND | FI_RECV)) return code;
    return fi_enable(end.endpoint);
  }
  void poll() {
    for (End& end : ends_) {
      fi_cq_tagged_entry entry{};
      const ssize_t got = fi_cq_read(end.queue, &entry, 1);
      if (got == 1) ++end.done;
      if (got == -FI_EAVAIL) {
        fi_cq_err_entry error{};
        fi_cq_readerr(end.queue, &error, 0);
        ++end.failed;
      }
    }
  }
  template <class Done>
  void until(Done done) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done() && std::chrono::steady_clock::now() < limit) poll();
    EXPECT_TRUE(done());
  }
  void exchange(int from, int to, unsigned seed) {
    Bytes sent(3000, static_cast<std::byte>(seed));
    Bytes got(3000);
    ends_[from].done = ends_[to].done = 0;
    ASSERT_EQ(fi_trecv(ends_[to].endpoint, got.data(), got.size(), nullptr, ends_[to].other, seed, 0, nullptr), 0);
    ASSERT_EQ(fi_tsend(ends_[from].endpoint, sent.data(), sent.size(), nullptr, ends_[from].other, seed, nullptr), 0);
    until([&] { return ends_[from].done == 1 && ends_[to].done == 1; });
    EXPECT_EQ(sent, got);
    EXPECT_EQ(ends_[0].failed + ends_[1].failed, 0);
  }

  scratch::ScratchFolder folder_;
  std::unique_ptr<fi_info, FreeInfo> info_;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  std::array<End, 2> ends_;
};

// Issue: a wildcard receive of a job took what a stranger had sent after a HELLO, and the job printed it.
TEST_P(UdpStrangers, AWildcardReceiveTakesNothingForged) {
  const Stranger stranger;
  const Bytes lie(100, std::byte{0x66});
  Bytes got(100);
  ends_[1].done = 0;
  ASSERT_EQ(fi_trecv(ends_[1].endpoint, got.data(), got.size(), nullptr, FI_ADDR_UNSPEC, 0, ~std::uint64_t{0}, nullptr),
            0);
  for (std::uint64_t i = 1; i < 300; ++i) {
    const Address::Raw own = stranger.name(i % 3);
    for (const Address::Raw* name : std::initializer_list<const Address::Raw*>{&own, &ends_[0].raw}) {
      stranger.send(hello(*name, i), ends_[1].place);
    }
    stranger.send(message(static_cast<std::uint32_t>(i % 4), i, lie), ends_[1].place);
    stranger.send(message(static_cast<std::uint32_t>(i % 4), wire::session_key(i, 1), lie), ends_[1].place);
    for (int n = 0; n < 20; ++n) poll();
  }
  EXPECT_EQ(ends_[1].done, 0);
  for (const Bytes& answer : stranger.heard()) {
    EXPECT_FALSE(GetParam()) << "a stranger was answered";
    wire::Reader reader;
    ASSERT_EQ(reader.open(answer), wire::Refusal::none);
    wire::FrameType type{};
    ASSERT_TRUE(reader.next(type));
    EXPECT_EQ(type, wire::FrameType::challenge);
    EXPECT_FALSE(reader.next(type));
  }
  const Bytes truth(100, std::byte{0x11});
  ASSERT_EQ(fi_tsend(ends_[0].endpoint, truth.data(), truth.size(), nullptr, ends_[0].other, 7, nullptr), 0);
  until([&] { return ends_[1].done == 1; });
  EXPECT_EQ(got, truth);
}

// Issue: HELLOs with rising epochs in a peer's name lost a message and hung the job.
TEST_P(UdpStrangers, ForgedHellosInAPeersNameDisturbNoSession) {
  const Stranger stranger;
  for (unsigned round = 2; round < 12; ++round) {
    for (std::uint64_t i = 0; i < 50; ++i) {
      stranger.send(hello(ends_[0].raw, (std::uint64_t{round} << 32) + i, i), ends_[1].place);
      stranger.send(hello(ends_[1].raw, (std::uint64_t{round} << 48) + i, i), ends_[0].place);
    }
    exchange(static_cast<int>(round % 2), static_cast<int>(1 - round % 2), round);
  }
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Issue: 40,000 forged HELLOs raised the memory from 19 to 57 MB.
TEST_P(UdpStrangers, FortyThousandForgedHellosCostNoMemory) {
  const Stranger stranger;
  const auto flood = [&](std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      stranger.send(hello(stranger.name(i), i), ends_[1].place);
      if (i % 50 == 0) {
        poll();
        stranger.heard();
      }
    }
    for (int n = 0; n < 100; ++n) poll();
  };
  flood(1, 2000);
  const std::size_t before = resident_bytes();
  flood(100'000, 40'000);
  EXPECT_LT(resident_bytes(), before + (4 << 20));
  exchange(0, 1, 3);
}

TEST_P(UdpStrangers, ASecretThatOthersCanReadIsRefused) {
  const std::string path = folder_.file("open");
  ASSERT_TRUE(secret::write_key(path, secret::new_key()).ok());
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  setenv("HOLDFAST_TRANSPORT_SECRET_FILE", path.c_str(), 1);
  End end;
  testing::internal::CaptureStderr();
  EXPECT_EQ(open(end), -FI_EACCES);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(path), std::string::npos);
  fi_close(&end.endpoint->fid);
  fi_close(&end.queue->fid);
  fi_close(&end.names->fid);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutASecret, UdpStrangers, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "WithASecret" : "WithoutASecret"; });

}  // namespace
}  // namespace holdfast::transport::ofi
