// What libfabric's manual pages promise of every provider, call by call, as libfabric's own test programs try it:
// fi_getinfo(3), fi_av(3), fi_cq(3), fi_eq(3), fi_cntr(3), fi_mr(3), fi_endpoint(3), fi_msg(3), fi_rma(3), fi_poll(3).
#include <gtest/gtest.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "transport/ofi/address.h"

namespace holdfast::transport::ofi {
namespace {

struct FreeInfo {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

/// What the provider answers to these hints; null: nothing.
Info ask(
    const std::function<void(fi_info&)>& change = [](fi_info&) {}, const char* node = nullptr,
    const char* service = nullptr, std::uint64_t flags = 0) {
  setenv("FI_PROVIDER_PATH", HOLDFAST_BINARY_DIR "/lib", 1);
  setenv("HOLDFAST_RAILS_USE", "udp@lo", 1);
  const Info hints(fi_allocinfo());
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = strdup("holdfast");
  change(*hints);
  fi_info* found = nullptr;
  const int code = fi_getinfo(FI_VERSION(1, 17), node, service, flags, hints.get(), &found);
  EXPECT_TRUE(code == 0 || code == -FI_ENODATA) << fi_strerror(-code);
  return Info(found);
}

// MPICH takes no provider that says another word than it asked for.
TEST(GetInfo, SaysTheThreadingThatIsAskedFor) {
  for (const fi_threading asked : {FI_THREAD_SAFE, FI_THREAD_FID, FI_THREAD_DOMAIN, FI_THREAD_COMPLETION}) {
    const Info info = ask([asked](fi_info& hints) { hints.domain_attr->threading = asked; });
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(info->domain_attr->threading, asked);
  }
  const Info info = ask();
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->domain_attr->threading, FI_THREAD_SAFE);
}

TEST(GetInfo, GivesWhatIsAskedForAndNothingThatCannotBe) {
  using Change = std::function<void(fi_info&)>;
  const std::vector<Change> good = {
      [](fi_info&) {},
      [](fi_info& i) { i.caps = FI_TAGGED; },
      [](fi_info& i) { i.caps = FI_MSG | FI_MULTI_RECV | FI_DIRECTED_RECV | FI_SOURCE; },
      [](fi_info& i) { i.caps = FI_RMA | FI_READ | FI_REMOTE_WRITE; },
      [](fi_info& i) { i.caps = FI_MSG | FI_LOCAL_COMM | FI_REMOTE_COMM; },
      [](fi_info& i) { i.mode = ~std::uint64_t{0}; },
      [](fi_info& i) { i.domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY; },
      [](fi_info& i) { i.domain_attr->threading = FI_THREAD_DOMAIN; },
      [](fi_info& i) { i.domain_attr->threading = FI_THREAD_SAFE; },
      [](fi_info& i) { i.domain_attr->data_progress = FI_PROGRESS_MANUAL; },
      [](fi_info& i) { i.domain_attr->data_progress = i.domain_attr->control_progress = FI_PROGRESS_AUTO; },
      [](fi_info& i) { i.domain_attr->av_type = FI_AV_MAP; },
      [](fi_info& i) { i.domain_attr->resource_mgmt = FI_RM_ENABLED; },
      [](fi_info& i) { i.tx_attr->msg_order = i.rx_attr->msg_order = FI_ORDER_SAS; },
      [](fi_info& i) { i.tx_attr->inject_size = 4096; },
      [](fi_info& i) { i.tx_attr->iov_limit = 8; },
      [](fi_info& i) { i.tx_attr->op_flags = FI_DELIVERY_COMPLETE; },
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    const Info info = ask(good[i]);
    ASSERT_NE(info, nullptr) << i;
    const Info hints(fi_allocinfo());
    good[i](*hints);
    EXPECT_EQ(info->caps & hints->caps, hints->caps) << i;
    EXPECT_EQ((info->tx_attr->caps | info->rx_attr->caps) & ~info->caps, 0U);
    EXPECT_EQ((info->tx_attr->caps | info->rx_attr->caps) & (FI_LOCAL_COMM | FI_REMOTE_COMM), 0U) << "a domain's";
    EXPECT_NE(info->src_addr, nullptr);
    EXPECT_EQ(info->mode, 0U);
    EXPECT_STREQ(info->fabric_attr->prov_name, "holdfast");
    EXPECT_EQ(info->ep_attr->type, FI_EP_RDM);
    if (hints->domain_attr->av_type != FI_AV_UNSPEC) {
      EXPECT_EQ(info->domain_attr->av_type, hints->domain_attr->av_type);
    }
    if (hints->domain_attr->data_progress != FI_PROGRESS_UNSPEC) {
      EXPECT_EQ(info->domain_attr->data_progress, hints->domain_attr->data_progress);
    }
    EXPECT_GE(info->tx_attr->inject_size, hints->tx_attr->inject_size);
    EXPECT_EQ(info->tx_attr->op_flags, hints->tx_attr->op_flags);
  }
  const std::vector<Change> bad = {
      [](fi_info& i) { i.ep_attr->type = FI_EP_DGRAM; },
      [](fi_info& i) { i.ep_attr->type = FI_EP_MSG; },
      [](fi_info& i) { i.caps = FI_MSG | FI_MULTICAST; },
      [](fi_info& i) { i.caps = FI_MSG | FI_TRIGGER; },
      [](fi_info& i) { i.caps = FI_MSG | FI_HMEM; },
      [](fi_info& i) { i.caps = FI_COLLECTIVE; },
      [](fi_info& i) { i.ep_attr->tx_ctx_cnt = 2; },
      [](fi_info& i) { i.ep_attr->max_msg_size = ~std::size_t{0}; },
      [](fi_info& i) { i.addr_format = FI_SOCKADDR_IN; },
      [](fi_info& i) { i.tx_attr->inject_size = 4097; },
      [](fi_info& i) { i.tx_attr->iov_limit = 9; },
      [](fi_info& i) { i.tx_attr->size = 1 << 20; },
      [](fi_info& i) { i.tx_attr->msg_order = FI_ORDER_RAW; },
      [](fi_info& i) { i.rx_attr->comp_order = 0x1FF; },  // FI_ORDER_STRICT, which libfabric 2 deprecates
      [](fi_info& i) { i.domain_attr->cq_data_size = 9; },
      [](fi_info& i) { i.domain_attr->name = strdup("eth7"); },
  };
  for (std::size_t i = 0; i < bad.size(); ++i) EXPECT_EQ(ask(bad[i]), nullptr) << i;
}

TEST(GetInfo, TakesAHostAndAPortToBindToAndToSendTo) {
  const Info source = ask([](fi_info&) {}, "127.0.0.1", "47123", FI_SOURCE);
  ASSERT_NE(source, nullptr);
  EXPECT_NE(source->src_addr, nullptr);
  const Info target = ask([](fi_info&) {}, "127.0.0.1", "47123");
  ASSERT_NE(target, nullptr);
  EXPECT_NE(target->dest_addr, nullptr);
  EXPECT_EQ(ask([](fi_info&) {}, "no.such.host.invalid", "1"), nullptr);
}

/// A domain with two endpoints that know each other.
class ConformanceTest : public testing::Test {
 protected:
  struct End {
    fid_av* names = nullptr;
    fid_cq* queue = nullptr;
    fid_ep* endpoint = nullptr;
    fi_addr_t other = FI_ADDR_NOTAVAIL;
    fid_cntr* remote_writes = nullptr;
    fid_cntr* remote_reads = nullptr;
  };

  void start(
      fi_cq_attr queues = {}, fi_av_type names = FI_AV_UNSPEC, std::uint64_t bind = 0,
      const std::function<void(End&)>& before_enabling = [](End&) {}) {
    info = ask([](fi_info& i) {
      i.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RMA_EVENT | FI_MULTI_RECV | FI_SOURCE;
    });
    ASSERT_NE(info, nullptr);
    ASSERT_EQ(fi_fabric(info->fabric_attr, &fabric, nullptr), 0);
    ASSERT_EQ(fi_domain(fabric, info.get(), &domain, nullptr), 0);
    for (End& end : ends) {
      fi_cq_attr attributes = queues;
      ASSERT_EQ(fi_cq_open(domain, &attributes, &end.queue, nullptr), 0);
      EXPECT_NE(attributes.format, FI_CQ_FORMAT_UNSPEC);
      fi_av_attr av{};
      av.type = names;
      ASSERT_EQ(fi_av_open(domain, &av, &end.names, nullptr), 0);
      ASSERT_EQ(fi_endpoint(domain, info.get(), &end.endpoint, nullptr), 0);
      ASSERT_EQ(fi_ep_bind(end.endpoint, &end.names->fid, 0), 0);
      ASSERT_EQ(fi_ep_bind(end.endpoint, &end.queue->fid, FI_SEND | FI_RECV | bind), 0);
      before_enabling(end);
      ASSERT_EQ(fi_enable(end.endpoint), 0);
    }
    for (int i = 0; i < 2; ++i) {
      ends[i].other = insert(i, 1 - i);
      ASSERT_NE(ends[i].other, FI_ADDR_NOTAVAIL);
    }
  }
  fi_addr_t insert(int into, int whom) {
    const auto raw = name(whom);
    fi_addr_t number = FI_ADDR_NOTAVAIL;
    EXPECT_EQ(fi_av_insert(ends[into].names, raw.data(), 1, &number, 0, nullptr), 1);
    return number;
  }
  Address::Raw name(int whom) {
    Address::Raw raw;
    std::size_t length = raw.size();
    EXPECT_EQ(fi_getname(&ends[whom].endpoint->fid, raw.data(), &length), 0);
    return raw;
  }
  template <class Entry>
  ssize_t next(End& end, Entry& entry, fi_addr_t* source = nullptr) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < until) {
      for (End& each : ends) fi_cq_read(each.queue, nullptr, 0);
      const ssize_t got =
          source != nullptr ? fi_cq_readfrom(end.queue, &entry, 1, source) : fi_cq_read(end.queue, &entry, 1);
      if (got != -FI_EAGAIN) return got;
    }
    return -FI_ETIMEDOUT;
  }
  void TearDown() override {
    for (End& end : ends) {
      if (end.endpoint != nullptr) {
        EXPECT_EQ(fi_close(&end.endpoint->fid), 0);
      }
      if (end.queue != nullptr) {
        EXPECT_EQ(fi_close(&end.queue->fid), 0);
      }
      if (end.names != nullptr) {
        EXPECT_EQ(fi_close(&end.names->fid), 0);
      }
      for (fid_cntr* counter : {end.remote_writes, end.remote_reads}) {
        if (counter != nullptr) {
          EXPECT_EQ(fi_close(&counter->fid), 0);
        }
      }
    }
    if (domain != nullptr) {
      EXPECT_EQ(fi_close(&domain->fid), 0);
    }
    if (fabric != nullptr) {
      EXPECT_EQ(fi_close(&fabric->fid), 0);
    }
  }

  Info info;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  std::array<End, 2> ends;
};

TEST_F(ConformanceTest, EveryFormatOfACompletionIsFilled) {
  for (const fi_cq_format format : {FI_CQ_FORMAT_CONTEXT, FI_CQ_FORMAT_MSG, FI_CQ_FORMAT_DATA, FI_CQ_FORMAT_TAGGED}) {
    fi_cq_attr attributes{};
    attributes.format = format;
    start(attributes);
    std::array<char, 16> in{};
    int mine = 0;
    ASSERT_EQ(fi_trecv(ends[1].endpoint, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, 5, 0, &mine), 0);
    ASSERT_EQ(fi_tsenddata(ends[0].endpoint, "hello", 5, nullptr, 77, ends[0].other, 5, nullptr), 0);
    fi_cq_tagged_entry entry{};
    fi_addr_t source = FI_ADDR_NOTAVAIL;
    ASSERT_EQ(next(ends[1], entry, &source), 1);
    EXPECT_EQ(entry.op_context, &mine);
    EXPECT_EQ(source, ends[1].other);
    if (format != FI_CQ_FORMAT_CONTEXT) {
      EXPECT_EQ(entry.len, 5U);
    }
    if (format == FI_CQ_FORMAT_DATA || format == FI_CQ_FORMAT_TAGGED) {
      EXPECT_EQ(entry.data, 77U);
    }
    if (format == FI_CQ_FORMAT_TAGGED) {
      EXPECT_EQ(entry.tag, 5U);
    }
    if (format == FI_CQ_FORMAT_CONTEXT) {
      EXPECT_EQ(entry.len, 0U) << "nothing is written beyond the format";
    }
    TearDown();
    ends = {};
    domain = nullptr;
    fabric = nullptr;
  }
}

TEST_F(ConformanceTest, AnInjectHasItsLimitAndNoCompletion) {
  start();
  std::vector<char> bytes(4097, 'x');
  std::vector<char> in(4097);
  EXPECT_EQ(info->tx_attr->inject_size, 4096U);
  EXPECT_EQ(fi_inject(ends[0].endpoint, bytes.data(), 4097, ends[0].other), -FI_EMSGSIZE);
  EXPECT_EQ(fi_tinject(ends[0].endpoint, bytes.data(), 4097, ends[0].other, 1), -FI_EMSGSIZE);
  EXPECT_EQ(fi_inject_write(ends[0].endpoint, bytes.data(), 4097, ends[0].other, 0, 0), -FI_EMSGSIZE);
  iovec piece = {bytes.data(), 4097};
  fi_msg message{};
  message.msg_iov = &piece;
  message.iov_count = 1;
  message.addr = ends[0].other;
  EXPECT_EQ(fi_sendmsg(ends[0].endpoint, &message, FI_INJECT), -FI_EMSGSIZE);
  ASSERT_EQ(fi_recv(ends[1].endpoint, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_inject(ends[0].endpoint, bytes.data(), 4096, ends[0].other), 0);
  std::fill(bytes.begin(), bytes.end(), 'y');  // it is the caller's again at once
  fi_cq_tagged_entry entry{};
  ASSERT_EQ(next(ends[1], entry), 1);
  EXPECT_EQ(in[4095], 'x');
  EXPECT_EQ(fi_cq_read(ends[0].queue, &entry, 1), -FI_EAGAIN);
}

TEST_F(ConformanceTest, AddressVectorsOfBothKindsInsertLookUpAndForget) {
  for (const fi_av_type kind : {FI_AV_TABLE, FI_AV_MAP}) {
    start({}, kind);
    const Address::Raw raw = name(1);
    Address::Raw found;
    std::size_t length = found.size();
    ASSERT_EQ(fi_av_lookup(ends[0].names, ends[0].other, found.data(), &length), 0);
    EXPECT_EQ(length, raw.size());
    EXPECT_TRUE(found == raw);
    length = 3;  // too short: what fits, and how long it is
    ASSERT_EQ(fi_av_lookup(ends[0].names, ends[0].other, found.data(), &length), 0);
    EXPECT_EQ(length, raw.size());
    std::array<Address::Raw, 2> two = {raw, raw};
    two[1].fill(std::byte{0});
    std::array<fi_addr_t, 2> numbers{};
    std::array<int, 2> errors{};
    EXPECT_EQ(fi_av_insert(ends[0].names, two.data(), 2, numbers.data(), FI_SYNC_ERR, errors.data()), 1);
    EXPECT_EQ(numbers[1], FI_ADDR_NOTAVAIL);
    EXPECT_EQ(errors[0], 0);
    EXPECT_EQ(errors[1], FI_EINVAL);
    char text[64];
    std::size_t room = sizeof text;
    EXPECT_NE(fi_av_straddr(ends[0].names, raw.data(), text, &room), nullptr);
    EXPECT_EQ(room, std::strlen(text) + 1);
    EXPECT_EQ(fi_av_remove(ends[0].names, &numbers[0], 1, 0), 0);
    length = found.size();
    EXPECT_EQ(fi_av_lookup(ends[0].names, numbers[0], found.data(), &length), -FI_EINVAL);
    EXPECT_EQ(fi_av_remove(ends[0].names, &numbers[0], 1, 0), -FI_EINVAL) << "it is gone already";
    EXPECT_EQ(fi_av_lookup(ends[0].names, 999, found.data(), &length), -FI_EINVAL);
    TearDown();
    ends = {};
    domain = nullptr;
    fabric = nullptr;
  }
}

TEST_F(ConformanceTest, ASourceInsertedTwiceIsTheOtherNumberWhenOneIsRemoved) {
  start();
  const fi_addr_t first = ends[1].other;
  const fi_addr_t second = insert(1, 0);
  const auto source_of_next = [&] {
    std::array<char, 8> in{};
    EXPECT_EQ(fi_recv(ends[1].endpoint, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    EXPECT_EQ(fi_inject(ends[0].endpoint, "x", 1, ends[0].other), 0);
    fi_cq_tagged_entry entry{};
    fi_addr_t source = FI_ADDR_NOTAVAIL;
    EXPECT_EQ(next(ends[1], entry, &source), 1);
    return source;
  };
  EXPECT_EQ(source_of_next(), first);
  fi_addr_t gone = first;
  EXPECT_EQ(fi_av_remove(ends[1].names, &gone, 1, 0), 0);
  EXPECT_EQ(source_of_next(), second);
  gone = second;
  EXPECT_EQ(fi_av_remove(ends[1].names, &gone, 1, 0), 0);
  EXPECT_EQ(source_of_next(), FI_ADDR_NOTAVAIL);
  EXPECT_EQ(source_of_next(), FI_ADDR_NOTAVAIL);
  const fi_addr_t third = insert(1, 0);
  EXPECT_EQ(source_of_next(), third);
}

TEST_F(ConformanceTest, AnApplicationSleepsOnADescriptorAndIsWoken) {
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_TAGGED;
  attributes.wait_obj = FI_WAIT_FD;
  start(attributes);
  int descriptor = -1;
  ASSERT_EQ(fi_control(&ends[1].queue->fid, FI_GETWAIT, &descriptor), 0);
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event), 0);
  for (int round = 0; round < 5; ++round) {
    std::array<char, 8> in{};
    ASSERT_EQ(fi_recv(ends[1].endpoint, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    fid* objects[] = {&ends[1].queue->fid};
    ASSERT_EQ(fi_trywait(fabric, objects, 1), 0);
    EXPECT_EQ(epoll_wait(epoll, &event, 1, 0), 0) << "nothing has come yet";
    ASSERT_EQ(fi_send(ends[0].endpoint, "wake", 4, nullptr, ends[0].other, nullptr), 0);
    ASSERT_EQ(epoll_wait(epoll, &event, 1, 60000), 1);  // the receiver makes no call: its progress thread does it
    EXPECT_EQ(fi_trywait(fabric, objects, 1), -FI_EAGAIN) << "there is something to read";
    fi_cq_tagged_entry entry{};
    ASSERT_EQ(fi_cq_read(ends[1].queue, &entry, 1), 1);
    EXPECT_EQ(epoll_wait(epoll, &event, 1, 0), 0) << "all is read";
    ASSERT_EQ(next(ends[0], entry), 1);
  }
  fi_context context{};
  std::array<char, 8> in{};
  ASSERT_EQ(fi_recv(ends[1].endpoint, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, &context), 0);
  ASSERT_EQ(fi_cancel(&ends[1].endpoint->fid, &context), 0);
  EXPECT_EQ(epoll_wait(epoll, &event, 1, 60000), 1) << "an error wakes too";
  fi_cq_err_entry error{};
  fi_cq_tagged_entry entry{};
  EXPECT_EQ(fi_cq_read(ends[1].queue, &entry, 1), -FI_EAVAIL);
  ASSERT_EQ(fi_cq_readerr(ends[1].queue, &error, 0), 1);
  EXPECT_EQ(error.err, FI_ECANCELED);
  EXPECT_STRNE(fi_cq_strerror(ends[1].queue, error.err, error.err_data, nullptr, 0), "");
  EXPECT_EQ(fi_cq_readerr(ends[1].queue, &error, 0), -FI_EAGAIN);
  EXPECT_EQ(epoll_wait(epoll, &event, 1, 0), 0) << "and is over when it was read";
  close(epoll);
}

TEST_F(ConformanceTest, ABlockingReadWaitsEndsInTimeAndCanBeSignalled) {
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_TAGGED;
  attributes.wait_obj = FI_WAIT_UNSPEC;
  start(attributes);
  fi_cq_tagged_entry entry{};
  EXPECT_EQ(fi_cq_sread(ends[1].queue, &entry, 1, nullptr, 1), -FI_EAGAIN);
  std::array<char, 8> in{};
  ASSERT_EQ(fi_recv(ends[1].endpoint, in.data(), in.size(), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  std::thread other([this] { EXPECT_EQ(fi_send(ends[0].endpoint, "x", 1, nullptr, ends[0].other, nullptr), 0); });
  EXPECT_EQ(fi_cq_sread(ends[1].queue, &entry, 1, nullptr, -1), 1);
  other.join();
  std::thread signals([this] { EXPECT_EQ(fi_cq_signal(ends[1].queue), 0); });
  EXPECT_EQ(fi_cq_sread(ends[1].queue, &entry, 1, nullptr, -1), -FI_EAGAIN);
  signals.join();
}

TEST_F(ConformanceTest, ThreadsSendAndReceiveOnOneEndpoint) {
  start();
  constexpr std::uint64_t threads = 3;
  constexpr unsigned messages = 200;
  std::atomic<unsigned> wrong{0};
  std::atomic<unsigned> done{0};
  std::vector<std::vector<std::uint64_t>> in(threads, std::vector<std::uint64_t>(messages));
  std::vector<std::thread> all;
  for (std::uint64_t thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] {
      for (unsigned i = 0; i < messages; ++i) {
        if (fi_trecv(ends[1].endpoint, &in[thread][i], 8, nullptr, FI_ADDR_UNSPEC, thread, 0, nullptr) != 0) ++wrong;
        const std::uint64_t value = thread << 32 | i;
        while (fi_tinject(ends[0].endpoint, &value, 8, ends[0].other, thread) == -FI_EAGAIN) {
        }
        fi_cq_entry entry{};
        const ssize_t got = fi_cq_read(ends[1].queue, &entry, 1);
        if (got == 1) ++done;
        if (got < 0 && got != -FI_EAGAIN) ++wrong;
      }
    });
  }
  for (std::thread& each : all) each.join();
  fi_cq_entry entry{};
  while (done < threads * messages) {
    ASSERT_EQ(next(ends[1], entry), 1);
    ++done;
  }
  EXPECT_EQ(wrong, 0U);
  for (std::uint64_t thread = 0; thread < threads; ++thread) {
    for (unsigned i = 0; i < messages; ++i) EXPECT_EQ(in[thread][i], thread << 32 | i) << "in the order of sending";
  }
}

TEST_F(ConformanceTest, UnexpectedMessagesWaitInOrder) {
  start();
  for (std::uint64_t i = 0; i < 500; ++i) ASSERT_EQ(fi_inject(ends[0].endpoint, &i, sizeof i, ends[0].other), 0);
  fi_cq_tagged_entry entry{};
  for (int i = 0; i < 100; ++i) fi_cq_read(ends[1].queue, &entry, 0);
  for (std::uint64_t i = 0; i < 500; ++i) {
    std::uint64_t in = 0;
    ASSERT_EQ(fi_recv(ends[1].endpoint, &in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(next(ends[1], entry), 1);
    EXPECT_EQ(in, i);
  }
}

TEST_F(ConformanceTest, OneBufferTakesManyMessages) {
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_DATA;
  start(attributes);
  std::vector<char> room(1000);
  std::size_t least = 100;
  ASSERT_EQ(fi_setopt(&ends[1].endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), 0);
  std::size_t length = sizeof least;
  least = 0;
  ASSERT_EQ(fi_getopt(&ends[1].endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, &length), 0);
  EXPECT_EQ(least, 100U);
  iovec piece = {room.data(), room.size()};
  fi_msg message{};
  message.msg_iov = &piece;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  ASSERT_EQ(fi_recvmsg(ends[1].endpoint, &message, FI_MULTI_RECV), 0);
  std::vector<char> bytes(300, 'm');
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t length_now = i < 3 ? 300 : 50;
    ASSERT_EQ(fi_inject(ends[0].endpoint, bytes.data(), length_now, ends[0].other), 0);
    fi_cq_data_entry entry{};
    ASSERT_EQ(next(ends[1], entry), 1);
    EXPECT_EQ(entry.buf, room.data() + 300 * i);
    EXPECT_EQ(entry.len, length_now);
    EXPECT_EQ((entry.flags & FI_MULTI_RECV) != 0, i == 3) << "only the fourth leaves less than the least room";
  }
}

TEST_F(ConformanceTest, SelectiveCompletionReportsOnlyWhatAsksForIt) {
  start({}, FI_AV_UNSPEC, FI_SELECTIVE_COMPLETION);
  char first = 0;
  char second = 0;
  char out = 'b';
  int mine = 0;
  iovec piece = {&second, 1};
  fi_msg message{};
  message.msg_iov = &piece;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.context = &mine;
  ASSERT_EQ(fi_recv(ends[1].endpoint, &first, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  ASSERT_EQ(fi_recvmsg(ends[1].endpoint, &message, FI_COMPLETION), 0);
  ASSERT_EQ(fi_send(ends[0].endpoint, "a", 1, nullptr, ends[0].other, nullptr), 0);
  piece.iov_base = &out;
  message.addr = ends[0].other;
  ASSERT_EQ(fi_sendmsg(ends[0].endpoint, &message, FI_COMPLETION), 0);
  for (End& end : ends) {
    fi_cq_entry entry{};
    ASSERT_EQ(next(end, entry), 1);
    EXPECT_EQ(entry.op_context, &mine) << "the first had none";
  }
  EXPECT_EQ(first, 'a');
  EXPECT_EQ(second, 'b');
}

TEST_F(ConformanceTest, EventQueuesHoldWhatIsWrittenToThem) {
  start();
  for (const fi_wait_obj wait : {FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_FD}) {
    fi_eq_attr attributes{};
    attributes.wait_obj = wait;
    attributes.flags = FI_WRITE;
    fid_eq* queue = nullptr;
    ASSERT_EQ(fi_eq_open(fabric, &attributes, &queue, nullptr), 0);
    ASSERT_EQ(fi_domain_bind(domain, &queue->fid, 0), 0);
    fi_eq_entry in{};
    fi_eq_entry out{};
    out.data = 9;
    std::uint32_t kind = 0;
    EXPECT_EQ(fi_eq_read(queue, &kind, &in, sizeof in, 0), -FI_EAGAIN);
    EXPECT_EQ(fi_eq_sread(queue, &kind, &in, sizeof in, 1, 0), -FI_EAGAIN);
    int descriptor = -1;
    EXPECT_EQ(fi_control(&queue->fid, FI_GETWAIT, &descriptor), wait == FI_WAIT_NONE ? -FI_ENOSYS : 0);
    ASSERT_EQ(fi_eq_write(queue, FI_NOTIFY, &out, sizeof out, 0), static_cast<ssize_t>(sizeof out));
    pollfd readable{descriptor, POLLIN, 0};
    if (descriptor >= 0) {
      EXPECT_EQ(poll(&readable, 1, 0), 1);
    }
    EXPECT_EQ(fi_eq_read(queue, &kind, &in, 1, 0), -FI_ETOOSMALL);
    EXPECT_EQ(fi_eq_read(queue, &kind, &in, sizeof in, FI_PEEK), static_cast<ssize_t>(sizeof in));
    EXPECT_EQ(fi_eq_read(queue, &kind, &in, sizeof in, 0), static_cast<ssize_t>(sizeof in));
    EXPECT_EQ(kind, static_cast<std::uint32_t>(FI_NOTIFY));
    EXPECT_EQ(in.data, 9U);
    EXPECT_EQ(fi_eq_read(queue, &kind, &in, sizeof in, 0), -FI_EAGAIN);
    if (descriptor >= 0) {
      EXPECT_EQ(poll(&readable, 1, 0), 0);
    }
    EXPECT_EQ(fi_close(&queue->fid), 0);
  }
}

// Programs still ask for what libfabric 2 deprecates.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST_F(ConformanceTest, WhatIsNotOfferedSaysSoAndNothingCrashes) {
  start();
  fid_poll* poll_set = nullptr;
  EXPECT_EQ(fi_poll_open(domain, nullptr, &poll_set), -FI_ENOSYS);
  fid_wait* wait_set = nullptr;
  fi_wait_attr wait{};
  EXPECT_EQ(fi_wait_open(fabric, &wait, &wait_set), -FI_ENOSYS);
  fid_ep* scalable = nullptr;
  EXPECT_EQ(fi_scalable_ep(domain, info.get(), &scalable, nullptr), -FI_ENOSYS);
  fid_stx* shared = nullptr;
  EXPECT_EQ(fi_stx_context(domain, nullptr, &shared, nullptr), -FI_ENOSYS);
  fid_pep* passive = nullptr;
  EXPECT_EQ(fi_passive_ep(fabric, info.get(), &passive, nullptr), -FI_ENOSYS);
  EXPECT_EQ(fi_connect(ends[0].endpoint, nullptr, nullptr, 0), -FI_ENOSYS);
  void* calls = nullptr;
  for (fid* object : {&ends[0].endpoint->fid, &ends[0].queue->fid, &ends[0].names->fid, &domain->fid, &fabric->fid}) {
    EXPECT_EQ(fi_open_ops(object, "nothing", 0, &calls, nullptr), -FI_ENOSYS);
    EXPECT_EQ(fi_control(object, 0x7777, nullptr), -FI_ENOSYS);
  }
  fi_cntr_attr counting{};
  counting.wait_obj = FI_WAIT_FD;
  fid_cntr* counter = nullptr;
  EXPECT_EQ(fi_cntr_open(domain, &counting, &counter, nullptr), -FI_ENOSYS);
  fi_cq_attr queue{};
  queue.wait_obj = FI_WAIT_MUTEX_COND;
  fid_cq* another = nullptr;
  EXPECT_EQ(fi_cq_open(domain, &queue, &another, nullptr), -FI_ENOSYS);
}
#pragma GCC diagnostic pop

TEST_F(ConformanceTest, CountersCountAddSetAndWait) {
  start();
  fi_cntr_attr attributes{};
  fid_cntr* counter = nullptr;
  ASSERT_EQ(fi_cntr_open(domain, &attributes, &counter, nullptr), 0);
  EXPECT_EQ(fi_cntr_set(counter, 5), 0);
  EXPECT_EQ(fi_cntr_add(counter, 2), 0);
  EXPECT_EQ(fi_cntr_read(counter), 7U);
  EXPECT_EQ(fi_cntr_wait(counter, 7, 0), 0);
  EXPECT_EQ(fi_cntr_wait(counter, 8, 1), -FI_ETIMEDOUT);
  EXPECT_EQ(fi_cntr_adderr(counter, 1), 0);
  EXPECT_EQ(fi_cntr_readerr(counter), 1U);
  EXPECT_EQ(fi_cntr_seterr(counter, 0), 0);
  EXPECT_EQ(fi_close(&counter->fid), 0);
}

TEST_F(ConformanceTest, MemoryRegionsHaveTheirKeysAccessAndEnd) {
  start();
  std::vector<char> memory(100, 'r');
  fid_mr* region = nullptr;
  ASSERT_EQ(fi_mr_reg(domain, memory.data(), memory.size(), FI_REMOTE_READ, 0, 7, 0, &region, nullptr), 0);
  EXPECT_EQ(fi_mr_key(region), 7U);
  EXPECT_NE(fi_mr_desc(region), nullptr);
  fid_mr* again = nullptr;
  EXPECT_EQ(fi_mr_reg(domain, memory.data(), memory.size(), FI_REMOTE_READ, 0, 7, 0, &again, nullptr), -FI_ENOKEY);
  EXPECT_EQ(fi_close(&domain->fid), -FI_EBUSY) << "a region and endpoints are open";
  std::vector<char> local(100);
  const auto fails = [&](ssize_t posted) {
    EXPECT_EQ(posted, 0);
    fi_cq_entry entry{};
    EXPECT_EQ(next(ends[0], entry), -FI_EAVAIL);
    fi_cq_err_entry error{};
    EXPECT_EQ(fi_cq_readerr(ends[0].queue, &error, 0), 1);
    return error.err;
  };
  fid_ep* ep = ends[0].endpoint;
  const fi_addr_t to = ends[0].other;
  EXPECT_EQ(fails(fi_write(ep, local.data(), 10, nullptr, to, 0, 7, nullptr)), FI_EACCES) << "read only";
  EXPECT_EQ(fails(fi_read(ep, local.data(), 10, nullptr, to, 91, 7, nullptr)), FI_EACCES) << "beyond its end";
  EXPECT_EQ(fails(fi_read(ep, local.data(), 10, nullptr, to, 0, 8, nullptr)), FI_EACCES) << "no such key";
  ASSERT_EQ(fi_read(ep, local.data(), 10, nullptr, to, 90, 7, nullptr), 0);
  fi_cq_entry entry{};
  EXPECT_EQ(next(ends[0], entry), 1);
  EXPECT_EQ(local[9], 'r');
  EXPECT_EQ(fi_close(&region->fid), 0);
  EXPECT_EQ(fails(fi_read(ep, local.data(), 10, nullptr, to, 0, 7, nullptr)), FI_EACCES) << "closed";
}

TEST_F(ConformanceTest, AWriteWithDataIsTold) {
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_DATA;
  start(attributes);
  std::vector<char> memory(16);
  fid_mr* region = nullptr;
  ASSERT_EQ(fi_mr_reg(domain, memory.data(), memory.size(), FI_REMOTE_WRITE, 0, 3, 0, &region, nullptr), 0);
  ASSERT_EQ(fi_writedata(ends[0].endpoint, "data", 4, nullptr, 123, ends[0].other, 4, 3, nullptr), 0);
  fi_cq_data_entry entry{};
  ASSERT_EQ(next(ends[1], entry), 1);
  EXPECT_EQ(entry.data, 123U);
  EXPECT_NE(entry.flags & FI_REMOTE_CQ_DATA, 0U);
  EXPECT_EQ(std::memcmp(memory.data() + 4, "data", 4), 0);
  ASSERT_EQ(next(ends[0], entry), 1);
  EXPECT_EQ(fi_close(&region->fid), 0);
}

TEST_F(ConformanceTest, TheTargetCountsWhatPeersDoToItsMemory) {
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_CONTEXT;
  fi_cntr_attr counting{};
  start(attributes, FI_AV_UNSPEC, 0, [&](End& end) {
    ASSERT_EQ(fi_cntr_open(domain, &counting, &end.remote_writes, nullptr), 0);
    ASSERT_EQ(fi_cntr_open(domain, &counting, &end.remote_reads, nullptr), 0);
    ASSERT_EQ(fi_ep_bind(end.endpoint, &end.remote_writes->fid, FI_REMOTE_WRITE), 0);
    ASSERT_EQ(fi_ep_bind(end.endpoint, &end.remote_reads->fid, FI_REMOTE_READ), 0);
  });
  std::array<std::uint64_t, 4> memory{};
  fid_mr* region = nullptr;
  fid_cntr* of_region = nullptr;
  ASSERT_EQ(
      fi_mr_reg(domain, memory.data(), sizeof memory, FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 3, 0, &region, nullptr), 0);
  ASSERT_EQ(fi_cntr_open(domain, &counting, &of_region, nullptr), 0);
  ASSERT_EQ(fi_mr_bind(region, &of_region->fid, FI_REMOTE_WRITE), 0);
  ASSERT_EQ(fi_mr_enable(region), 0);
  fi_cq_entry entry{};
  std::uint64_t value = 7;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(fi_write(ends[0].endpoint, &value, sizeof value, nullptr, ends[0].other, 0, 3, nullptr), 0);
    ASSERT_EQ(next(ends[0], entry), 1);
  }
  ASSERT_EQ(fi_read(ends[0].endpoint, &value, sizeof value, nullptr, ends[0].other, 0, 3, nullptr), 0);
  ASSERT_EQ(next(ends[0], entry), 1);
  ASSERT_EQ(fi_atomic(ends[0].endpoint, &value, 1, nullptr, ends[0].other, 8, 3, FI_UINT64, FI_SUM, nullptr), 0);
  ASSERT_EQ(next(ends[0], entry), 1);
  std::uint64_t old = 0;
  ASSERT_EQ(fi_fetch_atomic(ends[0].endpoint, &value, 1, nullptr, &old, nullptr, ends[0].other, 8, 3, FI_UINT64, FI_SUM,
                            nullptr),
            0);
  ASSERT_EQ(next(ends[0], entry), 1);
  EXPECT_EQ(old, 7U);
  EXPECT_EQ(fi_cntr_wait(ends[1].remote_writes, 4, 60'000), 0);
  EXPECT_EQ(fi_cntr_wait(ends[1].remote_reads, 2, 60'000), 0);
  EXPECT_EQ(fi_cntr_read(ends[1].remote_writes), 4U);
  EXPECT_EQ(fi_cntr_read(ends[1].remote_reads), 2U);
  EXPECT_EQ(fi_cntr_read(of_region), 4U);
  EXPECT_EQ(fi_close(&region->fid), 0);
  EXPECT_EQ(fi_close(&of_region->fid), 0);
}

TEST_F(ConformanceTest, AnEndpointIsCompleteBeforeItIsEnabledAndNotBoundAfter) {
  start();
  fid_ep* endpoint = nullptr;
  ASSERT_EQ(fi_endpoint(domain, info.get(), &endpoint, nullptr), 0);
  EXPECT_EQ(fi_enable(endpoint), -FI_ENOAV);
  ASSERT_EQ(fi_ep_bind(endpoint, &ends[0].names->fid, 0), 0);
  EXPECT_EQ(fi_enable(endpoint), -FI_ENOCQ);
  char byte = 0;
  EXPECT_EQ(fi_send(endpoint, &byte, 1, nullptr, 0, nullptr), -FI_EOPBADSTATE);
  std::size_t length = 64;
  EXPECT_EQ(fi_getname(&endpoint->fid, &byte, &length), -FI_EOPBADSTATE);
  EXPECT_EQ(fi_close(&endpoint->fid), 0);
  EXPECT_EQ(fi_ep_bind(ends[0].endpoint, &ends[0].queue->fid, FI_SEND), -FI_EOPBADSTATE);
  EXPECT_EQ(fi_close(&ends[0].queue->fid), -FI_EBUSY) << "an endpoint uses it";
  length = 3;
  EXPECT_EQ(fi_getname(&ends[0].endpoint->fid, &byte, &length), -FI_ETOOSMALL);
  EXPECT_EQ(length, 64U);
  EXPECT_EQ(fi_send(ends[0].endpoint, &byte, 1, nullptr, 999, nullptr), -FI_EINVAL) << "nobody has this number";
}

}  // namespace
}  // namespace holdfast::transport::ofi
