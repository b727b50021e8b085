// What the program posts on an endpoint, and what it hears of that: completions, counters and lost peers.
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "transport/ofi/endpoint.h"
#include "transport/ofi/process.h"

namespace holdfast::transport::ofi {

namespace {

int code_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return 0;
    case Outcome::truncated:
      return FI_ETRUNC;
    case Outcome::canceled:
      return FI_ECANCELED;
    case Outcome::unreachable:
      return FI_EHOSTUNREACH;
    case Outcome::restarted:
      return FI_ECONNRESET;
    case Outcome::closed:
      return FI_ESHUTDOWN;
    case Outcome::spoiled:
      return FI_EIO;
    case Outcome::refused:
      return FI_EACCES;
  }
  return FI_EOTHER;
}

std::uint64_t flags_of(const Completion& completion) {
  std::uint64_t flags = completion.has_data ? FI_REMOTE_CQ_DATA : 0;
  switch (completion.kind) {
    case Completion::Kind::send:
      return FI_SEND | (completion.tagged ? FI_TAGGED : FI_MSG);
    case Completion::Kind::receive:
      return flags | FI_RECV | (completion.tagged ? FI_TAGGED : FI_MSG);
    case Completion::Kind::write:
      return FI_RMA | FI_WRITE;
    case Completion::Kind::read:
      return FI_RMA | FI_READ;
    case Completion::Kind::atomic:
      return FI_ATOMIC | (completion.message_bytes > 0 ? FI_READ : FI_WRITE);
    case Completion::Kind::remote_write:
      return flags | FI_RMA | FI_REMOTE_WRITE;
    case Completion::Kind::lost:
    case Completion::Kind::peer_lost:
      return 0;
  }
  return 0;
}

bool receives(const Completion& completion) {
  return completion.kind == Completion::Kind::receive || completion.kind == Completion::Kind::remote_write;
}

}  // namespace

Counter* Endpoint::counter_for(const Completion& completion) const {
  switch (completion.kind) {
    case Completion::Kind::send:
      return counting.sends;
    case Completion::Kind::receive:
      return counting.receives;
    case Completion::Kind::write:
      return counting.writes;
    case Completion::Kind::read:
      return counting.reads;
    case Completion::Kind::atomic:
      return completion.message_bytes > 0 ? counting.reads : counting.writes;
    default:
      return nullptr;  // what a peer did is counted in reached()
  }
}

// As fi_cntr(3) and fi_endpoint(3) say: a fetching atomic operation counts as a read.
void Endpoint::reached(std::uint64_t key, Access access, bool fetched) {
  const bool read = access == Access::read || fetched;
  if (Counter* counter = read ? counting.remote_reads : counting.remote_writes) ++counter->value;
  const std::lock_guard lock(domain->mutex);
  const auto found = domain->regions.find(key);
  if (found == domain->regions.end()) return;
  if (Counter* counter = read ? found->second->reads : found->second->writes) ++counter->value;
}

// From inside the engine, which may not be called: tell_of_lost_peers() does the rest.
void Endpoint::note_loss(const Completion& completion) {
  Peer& peer = peers_[completion.peer];
  LostPeer lost;
  lost.outcome = completion.outcome;
  lost.self = {launched_rank(), host_name()};
  lost.peer_number = peer.address.number_as_integer();
  lost.waited_ns = options_.unreachable_after_ns;
  lost.lost_messages = completion.message_bytes;
  if (completion.kind == Completion::Kind::peer_lost && events != nullptr) {
    fi_eq_err_entry error{};
    error.fid = own_fid;
    error.context = own_fid->context;
    error.data = number_of(peer);
    error.err = ofi::code_of(completion.outcome);
    events->push_error(error);
  }
  lost_peers_.push_back(std::move(lost));
  lost_ids_.push_back(completion.peer);
}

// A peer that closed, and to which nothing was lost, is no incident: it had what it wanted.
void Endpoint::tell_of_lost_peers() {
  for (std::size_t n = 0; n < lost_peers_.size(); ++n) {
    LostPeer& lost = lost_peers_[n];
    if (lost.outcome == Outcome::closed && lost.lost_messages == 0) continue;
    for (std::uint32_t rail = 0; rail < specs_.size(); ++rail) {
      constexpr std::array<std::string_view, 3> states = {"up", "suspect", "out"};
      const RailState state = engine_->rail(rail, lost_ids_[n]).state;
      lost.rails.push_back(
          specs_[rail].text() + " " +
          (rails_[rail] == nullptr ? std::string("not opened") : std::string(states[static_cast<std::size_t>(state)])));
    }
    warn(describe(lost));
    write_lost_peer(counters_folder_, lost);
  }
  lost_peers_.clear();
  lost_ids_.clear();
}

void Endpoint::complete(const Completion& completion) {
  if (completion.kind == Completion::Kind::lost || completion.kind == Completion::Kind::peer_lost) {
    return note_loss(completion);
  }
  report(completion);
  Counter* counter = counter_for(completion);
  if (counter == nullptr) return;
  if (completion.outcome == Outcome::ok) {
    ++counter->value;
  } else {
    ++counter->errors;
  }
}

namespace {

/// Contexts of operations that are counted and have no entry in a queue.
char not_queued_mark;

}  // namespace

void Endpoint::report(const Completion& completion) {
  Cq* queue = receives(completion) ? receive_queue : send_queue;
  if (queue == nullptr) return;
  void* context = completion.context;
  if (context == &not_queued_mark) {
    if (completion.outcome == Outcome::ok) return;
    context = nullptr;
  }
  std::uint64_t flags = flags_of(completion);
  if (completion.outcome == Outcome::ok) {
    CqEntry entry;
    if (completion.kind == Completion::Kind::receive && completion.released && multi_receives_.erase(context) > 0) {
      flags |= FI_MULTI_RECV;
    }
    entry.entry = {context, flags, completion.bytes, completion.buffer, completion.data, completion.tag};
    if (receives(completion) && completion.peer < peers_.size()) entry.source = number_of(peers_[completion.peer]);
    queue->push(entry);
    return;
  }
  fi_cq_err_entry error{};
  error.op_context = context;
  error.flags = flags;
  error.len = completion.bytes;
  error.buf = completion.buffer;
  error.data = completion.data;
  error.tag = completion.tag;
  error.olen = completion.message_bytes - std::min(completion.message_bytes, completion.bytes);
  error.err = ofi::code_of(completion.outcome);
  queue->push_error(error);
}

namespace {

/// Whether an operation has an entry in its queue, and how the engine is told.
template <class Request>
void choose_completion(Request& request, bool selective, std::uint64_t flags, bool counted) {
  const bool entry = !selective || (flags & FI_COMPLETION) != 0;
  if (entry) return;
  if (counted) {
    request.context = &not_queued_mark;
  } else {
    request.silent = true;
  }
}

std::size_t size_of(std::span<const iovec> pieces) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

}  // namespace

ssize_t Endpoint::code_of(Posted posted, PeerId peer) const {
  switch (posted) {
    case Posted::accepted:
      return 0;
    case Posted::again:
      return -FI_EAGAIN;
    case Posted::invalid:
      return -FI_EINVAL;
    case Posted::lost:
      return -ofi::code_of(engine_->given_up(peer).value_or(Outcome::unreachable));
  }
  return -FI_EOTHER;
}

template <class Request, class Give>
ssize_t Endpoint::post_to_peer(Request& request, fi_addr_t to, Give give) {
  if (engine_ == nullptr) return -FI_EOPBADSTATE;
  request.peer = peer_of(to);
  if (request.peer == any_peer) return -FI_EINVAL;
  const std::int64_t now = now_ns();
  const Posted posted = give(now);
  if (posted == Posted::again) progress_locked(now);
  flush_rails();
  return code_of(posted, request.peer);
}

ssize_t Endpoint::post_send(SendRequest& request, fi_addr_t to) {
  return post_to_peer(request, to, [&](std::int64_t now) { return engine_->send(request, now); });
}

ssize_t Endpoint::inject(SendRequest request, fi_addr_t to) {
  const std::lock_guard lock(mutex_);
  request.mode = SendMode::buffered;
  request.silent = counting.sends == nullptr;
  request.context = &not_queued_mark;
  return post_send(request, to);
}

ssize_t Endpoint::send(SendRequest request, fi_addr_t to, std::uint64_t flags) {
  const std::lock_guard lock(mutex_);
  const bool whole = (flags & (FI_DELIVERY_COMPLETE | FI_TRANSMIT_COMPLETE)) != 0;
  const bool inject = (flags & FI_INJECT) != 0;
  if (inject && size_of(request.pieces) > most_inject_bytes) return -FI_EMSGSIZE;
  const bool small = size_of(request.pieces) <= options_.eager_bytes;
  request.mode = inject || (small && !whole) ? SendMode::buffered : SendMode::acknowledged;
  choose_completion(request, selective_sends, flags, counting.sends != nullptr);
  return post_send(request, to);
}

ssize_t Endpoint::peek(const ReceiveRequest& request, std::uint64_t flags) {
  progress_locked(now_ns());
  const auto waiting = engine_->peek(request, (flags & (FI_CLAIM | FI_DISCARD)) != 0, now_ns());
  if (!waiting) {
    fi_cq_err_entry error{};
    error.op_context = request.context;
    error.flags = FI_RECV | (request.tagged ? FI_TAGGED : FI_MSG);
    error.tag = request.tag;
    error.err = FI_ENOMSG;
    if (receive_queue != nullptr) receive_queue->push_error(error);
    return 0;
  }
  if ((flags & FI_DISCARD) != 0) engine_->discard_claimed(request.context, now_ns());
  CqEntry entry;
  const std::uint64_t data = waiting->has_data ? FI_REMOTE_CQ_DATA : 0;
  entry.entry = {request.context, FI_RECV | (request.tagged ? FI_TAGGED : FI_MSG) | data,
                 waiting->bytes,  nullptr,
                 waiting->data,   waiting->tag};
  entry.source = number_of(peers_[waiting->peer]);
  if (receive_queue != nullptr) receive_queue->push(entry);
  return 0;
}

ssize_t Endpoint::receive(ReceiveRequest request, fi_addr_t from, std::uint64_t flags) {
  const std::lock_guard lock(mutex_);
  if (engine_ == nullptr) return -FI_EOPBADSTATE;
  request.peer = directed_receives_ ? peer_of(from) : any_peer;
  if (request.peer == any_peer && directed_receives_ && from != FI_ADDR_UNSPEC) return -FI_EINVAL;
  if ((flags & FI_PEEK) != 0) return peek(request, flags);
  const std::int64_t now = now_ns();
  if ((flags & FI_CLAIM) != 0) {
    if ((flags & FI_DISCARD) != 0) {
      if (!engine_->discard_claimed(request.context, now)) return -FI_EINVAL;
      CqEntry entry;
      entry.entry = {request.context, FI_RECV | (request.tagged ? FI_TAGGED : FI_MSG), 0, nullptr, 0, request.tag};
      if (receive_queue != nullptr) receive_queue->push(entry);
      return 0;
    }
    const Posted posted = engine_->receive_claimed(request, now);
    flush_rails();
    return code_of(posted, request.peer);
  }
  request.multi = (flags & FI_MULTI_RECV) != 0;
  request.least_bytes = least_multi_bytes;
  choose_completion(request, selective_receives, flags, counting.receives != nullptr);
  if (request.multi) multi_receives_.insert(request.context);
  const Posted posted = engine_->receive(request, now);  // may answer a request to send
  flush_rails();
  return code_of(posted, request.peer);
}

ssize_t Endpoint::post_write(WriteRequest& request, fi_addr_t to) {
  return post_to_peer(request, to, [&](std::int64_t now) { return engine_->write(request, now); });
}

ssize_t Endpoint::inject_write(WriteRequest request, fi_addr_t to) {
  const std::lock_guard lock(mutex_);
  request.mode = SendMode::buffered;
  request.silent = counting.writes == nullptr;
  request.context = &not_queued_mark;
  return post_write(request, to);
}

ssize_t Endpoint::write(WriteRequest request, fi_addr_t to, std::uint64_t flags) {
  const std::lock_guard lock(mutex_);
  if ((flags & FI_INJECT) != 0 && size_of(request.pieces) > most_inject_bytes) return -FI_EMSGSIZE;
  request.mode = (flags & FI_INJECT) != 0 ? SendMode::buffered : SendMode::acknowledged;
  choose_completion(request, selective_sends, flags, counting.writes != nullptr);
  return post_write(request, to);
}

ssize_t Endpoint::read(ReadRequest request, fi_addr_t from, std::uint64_t flags) {
  const std::lock_guard lock(mutex_);
  choose_completion(request, selective_sends, flags, counting.reads != nullptr);
  return post_to_peer(request, from, [&](std::int64_t now) { return engine_->read(request, now); });
}

ssize_t Endpoint::atomic(AtomicRequest request, fi_addr_t to, std::uint64_t flags) {
  const std::lock_guard lock(mutex_);
  const bool counted = (request.results.empty() ? counting.writes : counting.reads) != nullptr;
  if (flags == no_entry) {
    request.silent = !counted;
    request.context = &not_queued_mark;
  } else {
    choose_completion(request, selective_sends, flags, counted);
  }
  return post_to_peer(request, to, [&](std::int64_t now) { return engine_->atomic(request, now); });
}

ssize_t Endpoint::cancel(void* context) {
  const std::lock_guard lock(mutex_);
  if (engine_ == nullptr) return -FI_EOPBADSTATE;
  return engine_->cancel(context, now_ns()) ? 0 : -FI_ENOENT;
}

}  // namespace holdfast::transport::ofi
