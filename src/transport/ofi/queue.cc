#include "transport/ofi/queue.h"

#include <poll.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "transport/ofi/absent.h"
#include "transport/ofi/endpoint.h"

namespace holdfast::transport::ofi {

void Sources::add(Endpoint* endpoint) {
  const std::lock_guard lock(mutex_);
  if (std::find(endpoints_.begin(), endpoints_.end(), endpoint) == endpoints_.end()) endpoints_.push_back(endpoint);
}

void Sources::remove(Endpoint* endpoint) {
  const std::lock_guard lock(mutex_);
  std::erase(endpoints_, endpoint);
}

void Sources::progress() {
  const std::lock_guard lock(mutex_);
  for (Endpoint* endpoint : endpoints_) endpoint->progress();
}

bool Sources::empty() {
  const std::lock_guard lock(mutex_);
  return endpoints_.empty();
}

void Sources::wait(int most_ms) {
  Endpoint* one = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (endpoints_.size() == 1) one = endpoints_.front();
  }
  if (one != nullptr) {
    one->wait_for_packets(most_ms);
  } else {
    sched_yield();
  }
}

namespace {

/// Makes an eventfd(2) readable; -1: there is none.
void raise(int event_fd) {
  const std::uint64_t one = 1;
  if (event_fd >= 0 && ::write(event_fd, &one, sizeof one) < 0) return;  // it is readable already
}

void lower(int event_fd) {
  std::uint64_t ignored = 0;
  if (event_fd >= 0 && ::read(event_fd, &ignored, sizeof ignored) < 0) return;  // it was not readable
}

}  // namespace

void Cq::push(const CqEntry& entry) {
  const std::lock_guard lock(mutex);
  entries.push_back(entry);
  empty.store(false, std::memory_order_release);
  raise(event_fd);
}

void Cq::push_error(const fi_cq_err_entry& error) {
  const std::lock_guard lock(mutex);
  errors.push_back(error);
  empty.store(false, std::memory_order_release);
  raise(event_fd);
}

namespace {

Cq& cq_of(fid_cq* queue) {
  return *reinterpret_cast<Cq*>(queue);
}

std::size_t entry_bytes(fi_cq_format format) {
  switch (format) {
    case FI_CQ_FORMAT_MSG:
      return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
      return sizeof(fi_cq_data_entry);
    case FI_CQ_FORMAT_TAGGED:
      return sizeof(fi_cq_tagged_entry);
    default:
      return sizeof(fi_cq_entry);
  }
}

/// Hands out what is there; each shorter format is the beginning of the longer ones.
ssize_t take(Cq& cq, void* buffer, std::size_t count, fi_addr_t* sources) {
  if (cq.empty.load(std::memory_order_acquire)) return -FI_EAGAIN;
  const std::lock_guard lock(cq.mutex);
  if (!cq.errors.empty()) return -FI_EAVAIL;
  const std::size_t there = cq.entries.size() - cq.head;
  if (there == 0) return -FI_EAGAIN;
  const std::size_t n = std::min(count, there);
  auto* to = static_cast<std::byte*>(buffer);
  const std::size_t step = entry_bytes(cq.format);
  for (std::size_t i = 0; i < n; ++i) {
    const CqEntry& from = cq.entries[cq.head + i];
    std::memcpy(to + i * step, &from.entry, step);
    if (sources != nullptr) sources[i] = from.source;
  }
  cq.head += n;
  if (cq.head == cq.entries.size()) {
    cq.entries.clear();
    cq.head = 0;
    cq.empty.store(true, std::memory_order_release);
    lower(cq.event_fd);
  }
  return static_cast<ssize_t>(n);
}

ssize_t read_from(fid_cq* queue, void* buffer, std::size_t count, fi_addr_t* sources) {
  Cq& cq = cq_of(queue);
  const ssize_t got = take(cq, buffer, count, sources);
  if (got != -FI_EAGAIN) return got;
  cq.sources.progress();
  return take(cq, buffer, count, sources);
}

ssize_t read(fid_cq* queue, void* buffer, std::size_t count) {
  return read_from(queue, buffer, count, nullptr);
}

ssize_t read_error(fid_cq* queue, fi_cq_err_entry* error, std::uint64_t) {
  Cq& cq = cq_of(queue);
  const std::lock_guard lock(cq.mutex);
  if (cq.errors.empty()) return -FI_EAGAIN;
  void* const data = error->err_data;
  const std::size_t size = error->err_data_size;
  *error = cq.errors.front();
  error->err_data = data;
  error->err_data_size = std::min<std::size_t>(size, 0);
  cq.errors.pop_front();
  const bool all = cq.errors.empty() && cq.head == cq.entries.size();
  cq.empty.store(all, std::memory_order_release);
  if (all) lower(cq.event_fd);
  return 1;
}

ssize_t wait_and_read_from(fid_cq* queue, void* buffer, std::size_t count, fi_addr_t* sources, const void*,
                           int timeout_ms) {
  const std::int64_t until = timeout_ms < 0 ? INT64_MAX : now_ns() + timeout_ms * std::int64_t{1'000'000};
  for (unsigned rounds = 0;; ++rounds) {
    const ssize_t got = read_from(queue, buffer, count, sources);
    if (got != -FI_EAGAIN) return got;
    const std::int64_t left = until - now_ns();
    if (left <= 0 || cq_of(queue).signaled.exchange(false)) return -FI_EAGAIN;
    if (rounds > 100) cq_of(queue).sources.wait(static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 10)));
  }
}

ssize_t wait_and_read(fid_cq* queue, void* buffer, std::size_t count, const void* condition, int timeout_ms) {
  return wait_and_read_from(queue, buffer, count, nullptr, condition, timeout_ms);
}

/// One wait, of now or of later, ends without an entry.
int signal_queue(fid_cq* queue) {
  cq_of(queue).signaled.store(true);
  return 0;
}

const char* error_text(fid_cq*, int code, const void*, char* buffer, std::size_t length) {
  const char* text = fi_strerror(code);
  if (buffer != nullptr && length > 0) {
    std::strncpy(buffer, text, length - 1);
    buffer[length - 1] = '\0';
  }
  return text;
}

int close_cq(fid* object) {
  auto* cq = reinterpret_cast<Cq*>(object);
  if (!cq->sources.empty()) return -FI_EBUSY;
  if (cq->event_fd >= 0) ::close(cq->event_fd);
  delete cq;
  return 0;
}

int control_cq(fid* object, int command, void* argument) {
  auto* cq = reinterpret_cast<Cq*>(object);
  if (command != FI_GETWAIT || cq->event_fd < 0) return -FI_ENOSYS;
  *static_cast<int*>(argument) = cq->event_fd;
  return 0;
}

fi_ops cq_fid_ops = object_calls(close_cq, no_bind, control_cq);
fi_ops_cq cq_ops = {sizeof(fi_ops_cq),  read,         read_from, read_error, wait_and_read,
                    wait_and_read_from, signal_queue, error_text};

}  // namespace

int open_cq(fid_domain*, fi_cq_attr* attributes, fid_cq** queue, void* context) {
  auto* cq = new Cq();
  cq->format = FI_CQ_FORMAT_CONTEXT;
  if (attributes != nullptr) {
    if (attributes->format == FI_CQ_FORMAT_UNSPEC) attributes->format = FI_CQ_FORMAT_CONTEXT;
    if (attributes->format != FI_CQ_FORMAT_UNSPEC) cq->format = attributes->format;
    switch (attributes->wait_obj) {
      case FI_WAIT_NONE:
        break;
      case FI_WAIT_UNSPEC:
      case FI_WAIT_FD:
        cq->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        break;
      default:
        delete cq;
        return -FI_ENOSYS;
    }
  }
  cq->fid.fid = {FI_CLASS_CQ, context, &cq_fid_ops};
  cq->fid.ops = &cq_ops;
  *queue = &cq->fid;
  return 0;
}

namespace {

Counter& counter_of(fid_cntr* counter) {
  return *reinterpret_cast<Counter*>(counter);
}

std::uint64_t counter_read(fid_cntr* counter) {
  counter_of(counter).sources.progress();
  return counter_of(counter).value.load();
}
std::uint64_t counter_read_errors(fid_cntr* counter) {
  counter_of(counter).sources.progress();
  return counter_of(counter).errors.load();
}
int counter_add(fid_cntr* counter, std::uint64_t value) {
  counter_of(counter).value += value;
  return 0;
}
int counter_set(fid_cntr* counter, std::uint64_t value) {
  counter_of(counter).value = value;
  return 0;
}
int counter_add_errors(fid_cntr* counter, std::uint64_t value) {
  counter_of(counter).errors += value;
  return 0;
}
int counter_set_errors(fid_cntr* counter, std::uint64_t value) {
  counter_of(counter).errors = value;
  return 0;
}

int counter_wait(fid_cntr* counter, std::uint64_t threshold, int timeout_ms) {
  Counter& self = counter_of(counter);
  const std::uint64_t errors = self.errors.load();
  const std::int64_t until = timeout_ms < 0 ? INT64_MAX : now_ns() + timeout_ms * std::int64_t{1'000'000};
  for (unsigned rounds = 0;; ++rounds) {
    self.sources.progress();
    if (self.value.load() >= threshold) return 0;
    if (self.errors.load() != errors) return -FI_EAVAIL;
    if (now_ns() >= until) return -FI_ETIMEDOUT;
    if (rounds > 100) self.sources.wait(1);
  }
}

int close_counter(fid* object) {
  auto* counter = reinterpret_cast<Counter*>(object);
  if (!counter->sources.empty()) return -FI_EBUSY;
  delete counter;
  return 0;
}

fi_ops counter_fid_ops = object_calls(close_counter);
fi_ops_cntr counter_ops = {sizeof(fi_ops_cntr), counter_read, counter_read_errors, counter_add,
                           counter_set,         counter_wait, counter_add_errors,  counter_set_errors};

}  // namespace

int open_counter(fid_domain*, fi_cntr_attr* attributes, fid_cntr** counter, void* context) {
  if (attributes != nullptr && attributes->events != FI_CNTR_EVENTS_COMP) return -FI_ENOSYS;
  if (attributes != nullptr && attributes->wait_obj != FI_WAIT_NONE && attributes->wait_obj != FI_WAIT_UNSPEC) {
    return -FI_ENOSYS;  // fi_cntr_wait() waits; there is no descriptor
  }
  auto* made = new Counter();
  made->fid.fid = {FI_CLASS_CNTR, context, &counter_fid_ops};
  made->fid.ops = &counter_ops;
  *counter = &made->fid;
  return 0;
}

namespace {

ssize_t eq_read(fid_eq* queue, std::uint32_t* kind, void* buffer, std::size_t length, std::uint64_t flags) {
  Eq& eq = *reinterpret_cast<Eq*>(queue);
  const std::lock_guard lock(eq.mutex);
  if (!eq.errors.empty()) return -FI_EAVAIL;
  if (eq.events.empty()) return -FI_EAGAIN;
  const Eq::Event& event = eq.events.front();
  if (event.bytes.size() > length) return -FI_ETOOSMALL;
  const auto size = static_cast<ssize_t>(event.bytes.size());
  if (kind != nullptr) *kind = event.kind;
  if (size > 0) std::memcpy(buffer, event.bytes.data(), event.bytes.size());
  if ((flags & FI_PEEK) == 0) {
    eq.events.pop_front();
    if (eq.events.empty()) lower(eq.event_fd);
  }
  return size;
}

ssize_t eq_read_error(fid_eq* queue, fi_eq_err_entry* entry, std::uint64_t flags) {
  Eq& eq = *reinterpret_cast<Eq*>(queue);
  const std::lock_guard lock(eq.mutex);
  if (eq.errors.empty()) return -FI_EAGAIN;
  *entry = eq.errors.front();
  if ((flags & FI_PEEK) == 0) {
    eq.errors.pop_front();
    if (eq.events.empty() && eq.errors.empty()) lower(eq.event_fd);
  }
  return sizeof *entry;
}

ssize_t eq_write(fid_eq* queue, std::uint32_t kind, const void* buffer, std::size_t length, std::uint64_t) {
  Eq& eq = *reinterpret_cast<Eq*>(queue);
  const std::lock_guard lock(eq.mutex);
  const auto* bytes = static_cast<const std::byte*>(buffer);
  eq.events.push_back({kind, {bytes, bytes + length}});
  raise(eq.event_fd);
  return static_cast<ssize_t>(length);
}

ssize_t eq_wait(fid_eq* queue, std::uint32_t* kind, void* buffer, std::size_t length, int timeout_ms,
                std::uint64_t flags) {
  const std::int64_t until = timeout_ms < 0 ? INT64_MAX : now_ns() + timeout_ms * std::int64_t{1'000'000};
  for (;;) {
    const ssize_t got = eq_read(queue, kind, buffer, length, flags);
    if (got != -FI_EAGAIN || now_ns() >= until) return got;
    ::poll(nullptr, 0, 1);
  }
}

const char* eq_error_text(fid_eq*, int code, const void*, char*, std::size_t) {
  return fi_strerror(code);
}

int close_eq(fid* object) {
  auto* eq = reinterpret_cast<Eq*>(object);
  if (eq->event_fd >= 0) ::close(eq->event_fd);
  delete eq;
  return 0;
}

int control_eq(fid* object, int command, void* argument) {
  const auto* eq = reinterpret_cast<Eq*>(object);
  if (command != FI_GETWAIT || eq->event_fd < 0) return -FI_ENOSYS;
  *static_cast<int*>(argument) = eq->event_fd;
  return 0;
}

fi_ops eq_fid_ops = object_calls(close_eq, no_bind, control_eq);
fi_ops_eq eq_ops = {sizeof(fi_ops_eq), eq_read, eq_read_error, eq_write, eq_wait, eq_error_text};

}  // namespace

void Eq::push_error(const fi_eq_err_entry& error) {
  const std::lock_guard lock(mutex);
  errors.push_back(error);
  raise(event_fd);
}

int open_eq(fid_fabric*, fi_eq_attr* attributes, fid_eq** queue, void* context) {
  const fi_wait_obj wait = attributes != nullptr ? attributes->wait_obj : FI_WAIT_NONE;
  if (wait != FI_WAIT_NONE && wait != FI_WAIT_UNSPEC && wait != FI_WAIT_FD) return -FI_ENOSYS;
  auto* eq = new Eq();
  if (wait != FI_WAIT_NONE) eq->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  eq->fid.fid = {FI_CLASS_EQ, context, &eq_fid_ops};
  eq->fid.ops = &eq_ops;
  *queue = &eq->fid;
  return 0;
}

}  // namespace holdfast::transport::ofi
