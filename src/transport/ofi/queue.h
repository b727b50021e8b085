#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

/// What the provider tells applications by: completion queues, counters, event queues (fi_cq(3), fi_cntr(3), fi_eq(3)).
/// Objects are made by new in open functions and deleted by their fid's close.
namespace holdfast::transport::ofi {

class Endpoint;

/// The endpoints that must make progress before something is read. Thread-safe.
class Sources {
 public:
  void add(Endpoint* endpoint);
  void remove(Endpoint* endpoint);
  void progress();
  bool empty();
  /// Waits until an endpoint has something to do, but no longer than this.
  void wait(int most_ms);

 private:
  std::mutex mutex_;
  std::vector<Endpoint*> endpoints_;
};

/// One entry of a completion queue, before it is cut to the queue's format.
struct CqEntry {
  fi_cq_tagged_entry entry{};
  fi_addr_t source = FI_ADDR_NOTAVAIL;
};

struct Cq {
  fid_cq fid{};
  Sources sources;
  fi_cq_format format = FI_CQ_FORMAT_CONTEXT;
  int event_fd = -1;  ///< readable while there are entries, for applications that wait on it

  void push(const CqEntry& entry);
  void push_error(const fi_cq_err_entry& error);

  std::mutex mutex;
  std::atomic<bool> empty{true};  ///< neither entries nor errors: readable without the lock
  std::vector<CqEntry> entries;   ///< from `head` on
  std::size_t head = 0;
  std::deque<fi_cq_err_entry> errors;
  std::atomic<bool> signaled{false};  ///< by fi_cq_signal(3)
};

struct Counter {
  fid_cntr fid{};
  Sources sources;
  std::atomic<std::uint64_t> value{0};
  std::atomic<std::uint64_t> errors{0};
};

/// The provider's own events are errors: peers that were given up. Address vectors act at once. Applications may write
/// events of theirs.
struct Eq {
  fid_eq fid{};
  struct Event {
    std::uint32_t kind;
    std::vector<std::byte> bytes;
  };
  std::mutex mutex;
  std::deque<Event> events;
  std::deque<fi_eq_err_entry> errors;
  int event_fd = -1;  ///< readable while there are events or errors

  void push_error(const fi_eq_err_entry& error);
};

int open_cq(fid_domain* domain, fi_cq_attr* attributes, fid_cq** queue, void* context);
int open_counter(fid_domain* domain, fi_cntr_attr* attributes, fid_cntr** counter, void* context);
int open_eq(fid_fabric* fabric, fi_eq_attr* attributes, fid_eq** queue, void* context);

}  // namespace holdfast::transport::ofi
