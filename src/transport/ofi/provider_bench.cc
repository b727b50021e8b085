// What does a message cost over a provider of libfabric? Two endpoints in one thread of one process send to each other
// in turn, so that what is measured is the CPU time of both sides (and of the kernel for them), whatever else the
// machine does. The holdfast provider and those that it competes with, with the same program.
//
//   FI_PROVIDER_PATH=build/bench/lib HOLDFAST_RAILS_USE=tcp@lo provider_bench --provider holdfast
//   provider_bench --provider 'tcp;ofi_rxm' --domain lo
//
// With --burst N: N messages of 8 bytes are posted one after another, then waited for, again and again.
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

constexpr std::array<std::size_t, 9> sizes = {8, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304};

[[noreturn]] void fail(const char* what, ssize_t code) {
  std::fprintf(stderr, "provider_bench: %s: %s\n", what, fi_strerror(static_cast<int>(-code)));
  std::exit(1);
}

void must(const char* what, ssize_t code) {
  if (code < 0) fail(what, code);
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct End {
  fid_av* names = nullptr;
  fid_cq* queue = nullptr;
  fid_ep* endpoint = nullptr;
  fi_addr_t other = FI_ADDR_NOTAVAIL;
  std::vector<std::byte> memory = std::vector<std::byte>(sizes.back());
  fi_context2 send_context{};
  fi_context2 receive_context{};
  int done = 0;

  void open(fid_domain* domain, fi_info* info) {
    fi_cq_attr cq{};
    cq.format = FI_CQ_FORMAT_TAGGED;
    must("fi_cq_open", fi_cq_open(domain, &cq, &queue, nullptr));
    fi_av_attr av{};
    must("fi_av_open", fi_av_open(domain, &av, &names, nullptr));
    must("fi_endpoint", fi_endpoint(domain, info, &endpoint, nullptr));
    must("fi_ep_bind", fi_ep_bind(endpoint, &names->fid, 0));
    must("fi_ep_bind", fi_ep_bind(endpoint, &queue->fid, FI_SEND | FI_RECV));
    must("fi_enable", fi_enable(endpoint));
  }
  void know(End& peer) {
    std::array<char, 512> address{};
    std::size_t length = address.size();
    must("fi_getname", fi_getname(&peer.endpoint->fid, address.data(), &length));
    if (fi_av_insert(names, address.data(), 1, &other, 0, nullptr) != 1) fail("fi_av_insert", -FI_EINVAL);
  }
  void poll() {
    std::array<fi_cq_tagged_entry, 8> entries;
    const ssize_t got = fi_cq_read(queue, entries.data(), entries.size());
    if (got > 0) done += static_cast<int>(got);
    if (got < 0 && got != -FI_EAGAIN) fail("fi_cq_read", got);
  }
};

// Until there is room for it.
template <class Call>
void post(End& from, End& to, Call&& call) {
  ssize_t code = 0;
  while ((code = call()) == -FI_EAGAIN) {
    from.poll();
    to.poll();
  }
  must("posting", code);
}

void transfer(End& from, End& to, std::size_t bytes) {
  from.done = to.done = 0;
  post(from, to, [&] {
    return fi_trecv(to.endpoint, to.memory.data(), bytes, nullptr, FI_ADDR_UNSPEC, 1, 0, &to.receive_context);
  });
  post(from, to,
       [&] { return fi_tsend(from.endpoint, from.memory.data(), bytes, nullptr, from.other, 1, &from.send_context); });
  while (from.done < 1 || to.done < 1) {
    from.poll();
    to.poll();
  }
}

constexpr std::size_t short_bytes = 8;

void burst(End& from, End& to, std::vector<fi_context2>& contexts) {
  from.done = to.done = 0;
  const std::size_t messages = contexts.size() / 2;
  for (std::size_t i = 0; i < messages; ++i) {
    post(from, to, [&] {
      return fi_trecv(to.endpoint, to.memory.data() + i * short_bytes, short_bytes, nullptr, FI_ADDR_UNSPEC, 1, 0,
                      &contexts[i]);
    });
  }
  for (std::size_t i = 0; i < messages; ++i) {
    post(from, to, [&] {
      return fi_tsend(from.endpoint, from.memory.data(), short_bytes, nullptr, from.other, 1, &contexts[messages + i]);
    });
  }
  while (from.done < static_cast<int>(messages) || to.done < static_cast<int>(messages)) {
    from.poll();
    to.poll();
  }
}

void measure_bursts(std::array<End, 2>& ends, std::size_t messages) {
  std::vector<fi_context2> contexts(2 * messages);
  const std::size_t rounds = std::max<std::size_t>(50'000 / messages, 2);
  std::vector<double> times;
  for (int repeat = 0; repeat < 8; ++repeat) {
    const double start = cpu_seconds();
    for (std::size_t i = 0; i < rounds; ++i) burst(ends[i % 2], ends[1 - i % 2], contexts);
    times.push_back((cpu_seconds() - start) / static_cast<double>(rounds * messages));
  }
  std::sort(times.begin() + 1, times.end());  // the first is for warming up
  std::printf("{\"burst\": %zu, \"cpu_us\": %.3f, \"least_us\": %.3f, \"most_us\": %.3f}\n", messages, times[4] * 1e6,
              times[1] * 1e6, times[7] * 1e6);
}

}  // namespace

int main(int count, char** words) {
  std::string provider = "holdfast";
  std::string domain_name;
  std::size_t messages = 0;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::strcmp(words[i], "--burst") == 0) messages = std::strtoul(words[i + 1], nullptr, 10);
    if (std::strcmp(words[i], "--provider") == 0) provider = words[i + 1];
    if (std::strcmp(words[i], "--domain") == 0) domain_name = words[i + 1];
  }
  fi_info* hints = fi_allocinfo();
  hints->caps = FI_TAGGED;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR;  // what shm asks for although nothing is registered here
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  if (!domain_name.empty()) hints->domain_attr->name = strdup(domain_name.c_str());
  fi_info* info = nullptr;
  must("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &info));
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, nullptr));
  must("fi_domain", fi_domain(fabric, info, &domain, nullptr));
  std::array<End, 2> ends;
  for (End& end : ends) end.open(domain, info);
  ends[0].know(ends[1]);
  ends[1].know(ends[0]);
  if (messages > 0) measure_bursts(ends, std::min(messages, sizes.back() / short_bytes));
  for (const std::size_t bytes : sizes) {
    if (messages > 0) break;
    const int rounds = static_cast<int>(std::clamp<std::size_t>((std::size_t{150} << 20) / (bytes + 4096), 20, 15000));
    std::vector<double> times;
    for (int repeat = 0; repeat < 6; ++repeat) {
      const double start = cpu_seconds();
      for (int i = 0; i < rounds / 5; ++i) {
        transfer(ends[0], ends[1], bytes);
        transfer(ends[1], ends[0], bytes);
      }
      times.push_back((cpu_seconds() - start) / (2.0 * (rounds / 5)));
    }
    std::sort(times.begin() + 1, times.end());  // the first is for warming up
    const double median = times[3];
    std::printf("{\"bytes\": %zu, \"cpu_us\": %.3f, \"mb_per_cpu_s\": %.0f}\n", bytes, median * 1e6,
                static_cast<double>(bytes) / median / 1e6);
    std::fflush(stdout);
  }
  for (End& end : ends) {
    fi_close(&end.endpoint->fid);
    fi_close(&end.queue->fid);
    fi_close(&end.names->fid);
  }
  fi_close(&domain->fid);
  fi_close(&fabric->fid);
  fi_freeinfo(info);
  fi_freeinfo(hints);
  return 0;
}
