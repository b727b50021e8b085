// libfabric's calls on an endpoint, as Endpoint's operations (fi_msg(3), fi_tagged(3), fi_rma(3), fi_endpoint(3)).
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <new>

#include "transport/ofi/absent.h"
#include "transport/ofi/atomic.h"
#include "transport/ofi/endpoint.h"

namespace holdfast::transport::ofi {

namespace {

/// What libfabric holds: its own structure, and beside it ours (which has virtual functions, so it cannot begin with
/// it).
struct Handle {
  fid_ep fid{};
  Endpoint* endpoint = nullptr;
};

Endpoint& endpoint_of(fid_ep* handle) {
  return *reinterpret_cast<Handle*>(handle)->endpoint;
}
Endpoint& endpoint_of(fid* handle) {
  return *reinterpret_cast<Handle*>(handle)->endpoint;
}

iovec piece_of(const void* buffer, std::size_t length) {
  return {const_cast<void*>(buffer), length};
}

/// One of msg and tagged: their calls differ in the tag alone.
ssize_t send_pieces(fid_ep* ep, std::span<const iovec> pieces, fi_addr_t to, bool tagged, std::uint64_t tag,
                    const std::uint64_t* data, void* context, std::uint64_t flags) {
  SendRequest request;
  request.pieces = pieces;
  request.tagged = tagged;
  request.tag = tag;
  request.has_data = data != nullptr;
  request.data = data != nullptr ? *data : 0;
  request.context = context;
  return endpoint_of(ep).send(request, to, flags);
}

/// An inject has no completion, whatever the endpoint's flags are.
ssize_t inject_pieces(fid_ep* ep, const void* buffer, std::size_t length, fi_addr_t to, bool tagged, std::uint64_t tag,
                      const std::uint64_t* data) {
  if (length > most_inject_bytes) return -FI_EMSGSIZE;
  const iovec piece = piece_of(buffer, length);
  SendRequest request;
  request.pieces = {&piece, 1};
  request.tagged = tagged;
  request.tag = tag;
  request.has_data = data != nullptr;
  request.data = data != nullptr ? *data : 0;
  return endpoint_of(ep).inject(request, to);
}

ssize_t receive_pieces(fid_ep* ep, std::span<const iovec> pieces, fi_addr_t from, bool tagged, std::uint64_t tag,
                       std::uint64_t ignore, void* context, std::uint64_t flags) {
  ReceiveRequest request;
  request.pieces = pieces;
  request.tagged = tagged;
  request.tag = tag;
  request.ignore = ignore;
  request.context = context;
  return endpoint_of(ep).receive(request, from, flags);
}

std::uint64_t send_flags(fid_ep* ep) {
  return endpoint_of(ep).send_flags;
}
std::uint64_t receive_flags(fid_ep* ep) {
  return endpoint_of(ep).receive_flags;
}

fi_ops_msg msg_ops = {
    sizeof(fi_ops_msg),
    [](fid_ep* ep, void* buffer, std::size_t length, void*, fi_addr_t from, void* context) {
      const iovec piece = piece_of(buffer, length);
      return receive_pieces(ep, {&piece, 1}, from, false, 0, 0, context, receive_flags(ep));
    },
    [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from, void* context) {
      return receive_pieces(ep, {pieces, count}, from, false, 0, 0, context, receive_flags(ep));
    },
    [](fid_ep* ep, const fi_msg* msg, std::uint64_t flags) {
      return receive_pieces(ep, {msg->msg_iov, msg->iov_count}, msg->addr, false, 0, 0, msg->context, flags);
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, void*, fi_addr_t to, void* context) {
      const iovec piece = piece_of(buffer, length);
      return send_pieces(ep, {&piece, 1}, to, false, 0, nullptr, context, send_flags(ep));
    },
    [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to, void* context) {
      return send_pieces(ep, {pieces, count}, to, false, 0, nullptr, context, send_flags(ep));
    },
    [](fid_ep* ep, const fi_msg* msg, std::uint64_t flags) {
      const std::uint64_t* data = (flags & FI_REMOTE_CQ_DATA) != 0 ? &msg->data : nullptr;
      return send_pieces(ep, {msg->msg_iov, msg->iov_count}, msg->addr, false, 0, data, msg->context, flags);
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, fi_addr_t to) {
      return inject_pieces(ep, buffer, length, to, false, 0, nullptr);
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, void*, std::uint64_t data, fi_addr_t to, void* context) {
      const iovec piece = piece_of(buffer, length);
      return send_pieces(ep, {&piece, 1}, to, false, 0, &data, context, send_flags(ep));
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, std::uint64_t data, fi_addr_t to) {
      return inject_pieces(ep, buffer, length, to, false, 0, &data);
    },
};

fi_ops_tagged tagged_ops = {
    sizeof(fi_ops_tagged),
    [](fid_ep* ep, void* buffer, std::size_t length, void*, fi_addr_t from, std::uint64_t tag, std::uint64_t ignore,
       void* context) {
      const iovec piece = piece_of(buffer, length);
      return receive_pieces(ep, {&piece, 1}, from, true, tag, ignore, context, receive_flags(ep));
    },
    [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from, std::uint64_t tag,
       std::uint64_t ignore, void* context) {
      return receive_pieces(ep, {pieces, count}, from, true, tag, ignore, context, receive_flags(ep));
    },
    [](fid_ep* ep, const fi_msg_tagged* msg, std::uint64_t flags) {
      return receive_pieces(ep, {msg->msg_iov, msg->iov_count}, msg->addr, true, msg->tag, msg->ignore, msg->context,
                            flags);
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, void*, fi_addr_t to, std::uint64_t tag, void* context) {
      const iovec piece = piece_of(buffer, length);
      return send_pieces(ep, {&piece, 1}, to, true, tag, nullptr, context, send_flags(ep));
    },
    [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to, std::uint64_t tag, void* context) {
      return send_pieces(ep, {pieces, count}, to, true, tag, nullptr, context, send_flags(ep));
    },
    [](fid_ep* ep, const fi_msg_tagged* msg, std::uint64_t flags) {
      const std::uint64_t* data = (flags & FI_REMOTE_CQ_DATA) != 0 ? &msg->data : nullptr;
      return send_pieces(ep, {msg->msg_iov, msg->iov_count}, msg->addr, true, msg->tag, data, msg->context, flags);
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, fi_addr_t to, std::uint64_t tag) {
      return inject_pieces(ep, buffer, length, to, true, tag, nullptr);
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, void*, std::uint64_t data, fi_addr_t to, std::uint64_t tag,
       void* context) {
      const iovec piece = piece_of(buffer, length);
      return send_pieces(ep, {&piece, 1}, to, true, tag, &data, context, send_flags(ep));
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, std::uint64_t data, fi_addr_t to, std::uint64_t tag) {
      return inject_pieces(ep, buffer, length, to, true, tag, &data);
    },
};

ssize_t write_pieces(fid_ep* ep, std::span<const iovec> pieces, fi_addr_t to, RemoteMemory remote,
                     const std::uint64_t* data, void* context, std::uint64_t flags) {
  WriteRequest request;
  request.pieces = pieces;
  request.remote = remote;
  request.has_data = data != nullptr;
  request.data = data != nullptr ? *data : 0;
  request.context = context;
  return endpoint_of(ep).write(request, to, flags);
}

ssize_t inject_write(fid_ep* ep, const void* buffer, std::size_t length, fi_addr_t to, RemoteMemory remote,
                     const std::uint64_t* data) {
  if (length > most_inject_bytes) return -FI_EMSGSIZE;
  const iovec piece = piece_of(buffer, length);
  WriteRequest request;
  request.pieces = {&piece, 1};
  request.remote = remote;
  request.has_data = data != nullptr;
  request.data = data != nullptr ? *data : 0;
  return endpoint_of(ep).inject_write(request, to);
}

ssize_t read_pieces(fid_ep* ep, std::span<const iovec> pieces, fi_addr_t from, RemoteMemory remote, void* context,
                    std::uint64_t flags) {
  ReadRequest request;
  request.pieces = pieces;
  request.remote = remote;
  request.context = context;
  return endpoint_of(ep).read(request, from, flags);
}

fi_ops_rma rma_ops = {
    sizeof(fi_ops_rma),
    [](fid_ep* ep, void* buffer, std::size_t length, void*, fi_addr_t from, std::uint64_t address, std::uint64_t key,
       void* context) {
      const iovec piece = piece_of(buffer, length);
      return read_pieces(ep, {&piece, 1}, from, {address, key}, context, send_flags(ep));
    },
    [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from, std::uint64_t address,
       std::uint64_t key, void* context) {
      return read_pieces(ep, {pieces, count}, from, {address, key}, context, send_flags(ep));
    },
    [](fid_ep* ep, const fi_msg_rma* msg, std::uint64_t flags) -> ssize_t {
      if (msg->rma_iov_count != 1) return -FI_EINVAL;
      return read_pieces(ep, {msg->msg_iov, msg->iov_count}, msg->addr, {msg->rma_iov->addr, msg->rma_iov->key},
                         msg->context, flags);
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, void*, fi_addr_t to, std::uint64_t address,
       std::uint64_t key, void* context) {
      const iovec piece = piece_of(buffer, length);
      return write_pieces(ep, {&piece, 1}, to, {address, key}, nullptr, context, send_flags(ep));
    },
    [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to, std::uint64_t address,
       std::uint64_t key, void* context) {
      return write_pieces(ep, {pieces, count}, to, {address, key}, nullptr, context, send_flags(ep));
    },
    [](fid_ep* ep, const fi_msg_rma* msg, std::uint64_t flags) -> ssize_t {
      if (msg->rma_iov_count != 1) return -FI_EINVAL;
      const std::uint64_t* data = (flags & FI_REMOTE_CQ_DATA) != 0 ? &msg->data : nullptr;
      return write_pieces(ep, {msg->msg_iov, msg->iov_count}, msg->addr, {msg->rma_iov->addr, msg->rma_iov->key}, data,
                          msg->context, flags);
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, fi_addr_t to, std::uint64_t address, std::uint64_t key) {
      return inject_write(ep, buffer, length, to, {address, key}, nullptr);
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, void*, std::uint64_t data, fi_addr_t to,
       std::uint64_t address, std::uint64_t key, void* context) {
      const iovec piece = piece_of(buffer, length);
      return write_pieces(ep, {&piece, 1}, to, {address, key}, &data, context, send_flags(ep));
    },
    [](fid_ep* ep, const void* buffer, std::size_t length, std::uint64_t data, fi_addr_t to, std::uint64_t address,
       std::uint64_t key) {
      return inject_write(ep, buffer, length, to, {address, key}, &data);
    },
};

/// One of the three uses of an atomic operation: `compares` and `results` as the use wants them.
ssize_t atomic_pieces(fid_ep* ep, AtomicUse use, std::span<const fi_ioc> operands, std::span<const fi_ioc> compares,
                      std::span<const fi_ioc> results, fi_addr_t to, RemoteMemory remote, fi_datatype type, fi_op op,
                      void* context, std::uint64_t flags) {
  if (!atomic_offered(op, type, use)) return -FI_EOPNOTSUPP;
  const std::size_t element = atomic_element_bytes(type);
  std::array<std::byte, 2 * most_atomic_bytes> bytes;
  std::array<iovec, most_pieces> places;
  std::size_t used = 0;
  const auto add = [&](std::span<const fi_ioc> pieces) {
    for (const fi_ioc& piece : pieces) {
      const std::size_t here = piece.count * element;
      if (here > bytes.size() - used) return false;
      if (here > 0) std::memcpy(bytes.data() + used, piece.addr, here);
      used += here;
    }
    return true;
  };
  AtomicRequest request;
  const bool reads = op == FI_ATOMIC_READ;
  if (results.size() > places.size() || (!reads && !add(operands))) return -FI_EINVAL;
  std::size_t wanted = used;
  if (use == AtomicUse::compare && (!add(compares) || used != 2 * wanted)) return -FI_EINVAL;
  for (std::size_t i = 0; i < results.size(); ++i) {
    places[i] = {results[i].addr, results[i].count * element};
    if (reads) wanted += places[i].iov_len;
  }
  if (wanted == 0 || wanted > most_atomic_bytes) return -FI_EINVAL;
  request.operands = std::span(bytes).first(used);
  request.remote = remote;
  request.target_bytes = wanted;
  request.operation = atomic_code(op, type);
  request.results = std::span(places).first(results.size());
  std::size_t room = 0;
  for (const iovec& place : request.results) room += place.iov_len;
  if (use != AtomicUse::write && room != wanted) return -FI_EINVAL;
  request.context = context;
  return endpoint_of(ep).atomic(request, to, flags);
}

fi_ioc elements(const void* buffer, std::size_t count) {
  return {const_cast<void*>(buffer), count};
}

int atomic_count(fi_datatype type, fi_op op, AtomicUse use, std::size_t* count) {
  if (!atomic_offered(op, type, use)) return -FI_EOPNOTSUPP;
  if (count != nullptr) *count = most_atomic_bytes / atomic_element_bytes(type);
  return 0;
}

fi_ops_atomic atomic_ops = {
    sizeof(fi_ops_atomic),
    [](fid_ep* ep, const void* buffer, std::size_t count, void*, fi_addr_t to, std::uint64_t address, std::uint64_t key,
       fi_datatype type, fi_op op, void* context) {
      const fi_ioc piece = elements(buffer, count);
      return atomic_pieces(ep, AtomicUse::write, {&piece, 1}, {}, {}, to, {address, key}, type, op, context,
                           send_flags(ep));
    },
    [](fid_ep* ep, const fi_ioc* pieces, void**, std::size_t count, fi_addr_t to, std::uint64_t address,
       std::uint64_t key, fi_datatype type, fi_op op, void* context) {
      return atomic_pieces(ep, AtomicUse::write, {pieces, count}, {}, {}, to, {address, key}, type, op, context,
                           send_flags(ep));
    },
    [](fid_ep* ep, const fi_msg_atomic* msg, std::uint64_t flags) -> ssize_t {
      if (msg->rma_iov_count != 1) return -FI_EINVAL;
      return atomic_pieces(ep, AtomicUse::write, {msg->msg_iov, msg->iov_count}, {}, {}, msg->addr,
                           {msg->rma_iov->addr, msg->rma_iov->key}, msg->datatype, msg->op, msg->context, flags);
    },
    [](fid_ep* ep, const void* buffer, std::size_t count, fi_addr_t to, std::uint64_t address, std::uint64_t key,
       fi_datatype type, fi_op op) {
      const fi_ioc piece = elements(buffer, count);
      return atomic_pieces(ep, AtomicUse::write, {&piece, 1}, {}, {}, to, {address, key}, type, op, nullptr,
                           Endpoint::no_entry);
    },
    [](fid_ep* ep, const void* buffer, std::size_t count, void*, void* result, void*, fi_addr_t to,
       std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op, void* context) {
      const fi_ioc piece = elements(buffer, count);
      const fi_ioc old = elements(result, count);
      return atomic_pieces(ep, AtomicUse::fetch, {&piece, 1}, {}, {&old, 1}, to, {address, key}, type, op, context,
                           send_flags(ep));
    },
    [](fid_ep* ep, const fi_ioc* pieces, void**, std::size_t count, fi_ioc* results, void**, std::size_t result_count,
       fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op, void* context) {
      return atomic_pieces(ep, AtomicUse::fetch, {pieces, count}, {}, {results, result_count}, to, {address, key}, type,
                           op, context, send_flags(ep));
    },
    [](fid_ep* ep, const fi_msg_atomic* msg, fi_ioc* results, void**, std::size_t result_count,
       std::uint64_t flags) -> ssize_t {
      if (msg->rma_iov_count != 1) return -FI_EINVAL;
      return atomic_pieces(ep, AtomicUse::fetch, {msg->msg_iov, msg->iov_count}, {}, {results, result_count}, msg->addr,
                           {msg->rma_iov->addr, msg->rma_iov->key}, msg->datatype, msg->op, msg->context, flags);
    },
    [](fid_ep* ep, const void* buffer, std::size_t count, void*, const void* compare, void*, void* result, void*,
       fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op, void* context) {
      const fi_ioc piece = elements(buffer, count);
      const fi_ioc other = elements(compare, count);
      const fi_ioc old = elements(result, count);
      return atomic_pieces(ep, AtomicUse::compare, {&piece, 1}, {&other, 1}, {&old, 1}, to, {address, key}, type, op,
                           context, send_flags(ep));
    },
    [](fid_ep* ep, const fi_ioc* pieces, void**, std::size_t count, const fi_ioc* compares, void**,
       std::size_t compare_count, fi_ioc* results, void**, std::size_t result_count, fi_addr_t to,
       std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op, void* context) {
      return atomic_pieces(ep, AtomicUse::compare, {pieces, count}, {compares, compare_count}, {results, result_count},
                           to, {address, key}, type, op, context, send_flags(ep));
    },
    [](fid_ep* ep, const fi_msg_atomic* msg, const fi_ioc* compares, void**, std::size_t compare_count, fi_ioc* results,
       void**, std::size_t result_count, std::uint64_t flags) -> ssize_t {
      if (msg->rma_iov_count != 1) return -FI_EINVAL;
      return atomic_pieces(ep, AtomicUse::compare, {msg->msg_iov, msg->iov_count}, {compares, compare_count},
                           {results, result_count}, msg->addr, {msg->rma_iov->addr, msg->rma_iov->key}, msg->datatype,
                           msg->op, msg->context, flags);
    },
    [](fid_ep*, fi_datatype type, fi_op op, std::size_t* count) {
      return atomic_count(type, op, AtomicUse::write, count);
    },
    [](fid_ep*, fi_datatype type, fi_op op, std::size_t* count) {
      return atomic_count(type, op, AtomicUse::fetch, count);
    },
    [](fid_ep*, fi_datatype type, fi_op op, std::size_t* count) {
      return atomic_count(type, op, AtomicUse::compare, count);
    },
};

int set_name(fid*, void*, std::size_t) {
  return -FI_ENOSYS;
}
int get_name(fid* handle, void* address, std::size_t* length) {
  const Endpoint& endpoint = endpoint_of(handle);
  if (!endpoint.enabled()) return -FI_EOPBADSTATE;
  const std::size_t room = *length;
  *length = Address::bytes;
  if (room < Address::bytes) return -FI_ETOOSMALL;
  std::memcpy(address, endpoint.address().data(), Address::bytes);
  return 0;
}
int get_peer(fid_ep*, void*, std::size_t*) {
  return -FI_ENOSYS;
}
int no_connect(fid_ep*, const void*, const void*, std::size_t) {
  return -FI_ENOSYS;
}
int no_listen(fid_pep*) {
  return -FI_ENOSYS;
}
int no_accept(fid_ep*, const void*, std::size_t) {
  return -FI_ENOSYS;
}
int no_reject(fid_pep*, fid*, const void*, std::size_t) {
  return -FI_ENOSYS;
}
int no_shutdown(fid_ep*, std::uint64_t) {
  return -FI_ENOSYS;
}
int no_join(fid_ep*, const void*, std::uint64_t, fid_mc**, void*) {
  return -FI_ENOSYS;
}
fi_ops_cm cm_ops = {sizeof(fi_ops_cm), set_name,  get_name,  get_peer,    no_connect,
                    no_listen,         no_accept, no_reject, no_shutdown, no_join};

ssize_t cancel(fid* handle, void* context) {
  return endpoint_of(handle).cancel(context);
}
int get_option(fid* handle, int level, int option, void* value, std::size_t* length) {
  if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (*length < sizeof(std::size_t)) return -FI_ETOOSMALL;
  *static_cast<std::size_t*>(value) = endpoint_of(handle).least_multi_bytes;
  *length = sizeof(std::size_t);
  return 0;
}
int set_option(fid* handle, int level, int option, const void* value, std::size_t length) {
  if (level != FI_OPT_ENDPOINT || option != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (length != sizeof(std::size_t)) return -FI_EINVAL;
  endpoint_of(handle).least_multi_bytes = std::max<std::size_t>(*static_cast<const std::size_t*>(value), 1);
  return 0;
}
int no_transmit_context(fid_ep*, int, fi_tx_attr*, fid_ep**, void*) {
  return -FI_ENOSYS;
}
int no_receive_context(fid_ep*, int, fi_rx_attr*, fid_ep**, void*) {
  return -FI_ENOSYS;
}
ssize_t no_size_left(fid_ep*) {
  return -FI_ENOSYS;
}
fi_ops_ep ep_ops = {sizeof(fi_ops_ep),  cancel,       get_option,  set_option, no_transmit_context,
                    no_receive_context, no_size_left, no_size_left};

int close_endpoint(fid* object) {
  auto* handle = reinterpret_cast<Handle*>(object);
  Domain& domain = *handle->endpoint->domain;
  delete handle->endpoint;
  delete handle;
  const std::lock_guard lock(domain.mutex);
  --domain.endpoints;
  return 0;
}

void bind_counter(Endpoint& endpoint, Counter* counter, std::uint64_t flags) {
  if ((flags & FI_SEND) != 0) endpoint.counting.sends = counter;
  if ((flags & FI_RECV) != 0) endpoint.counting.receives = counter;
  if ((flags & FI_WRITE) != 0) endpoint.counting.writes = counter;
  if ((flags & FI_READ) != 0) endpoint.counting.reads = counter;
  if ((flags & FI_REMOTE_WRITE) != 0) endpoint.counting.remote_writes = counter;
  if ((flags & FI_REMOTE_READ) != 0) endpoint.counting.remote_reads = counter;
}

int bind_endpoint(fid* object, fid* other, std::uint64_t flags) {
  Endpoint& endpoint = endpoint_of(object);
  if (endpoint.enabled()) return -FI_EOPBADSTATE;
  switch (other->fclass) {
    case FI_CLASS_AV:
      endpoint.names = reinterpret_cast<Names*>(other);
      return 0;
    case FI_CLASS_CQ:
      if ((flags & (FI_SEND | FI_RECV)) == 0) return -FI_EBADFLAGS;
      if ((flags & FI_SEND) != 0) {
        endpoint.send_queue = reinterpret_cast<Cq*>(other);
        endpoint.selective_sends = (flags & FI_SELECTIVE_COMPLETION) != 0;
      }
      if ((flags & FI_RECV) != 0) {
        endpoint.receive_queue = reinterpret_cast<Cq*>(other);
        endpoint.selective_receives = (flags & FI_SELECTIVE_COMPLETION) != 0;
      }
      return 0;
    case FI_CLASS_CNTR:
      bind_counter(endpoint, reinterpret_cast<Counter*>(other), flags);
      return 0;
    case FI_CLASS_EQ:
      endpoint.events = reinterpret_cast<Eq*>(other);
      return 0;
    default:
      return -FI_EINVAL;
  }
}

int control_endpoint(fid* object, int command, void* argument) {
  Endpoint& endpoint = endpoint_of(object);
  switch (command) {
    case FI_ENABLE:
      return endpoint.enable();
    case FI_GETOPSFLAG: {
      auto* flags = static_cast<std::uint64_t*>(argument);
      *flags = (*flags & FI_TRANSMIT) != 0 ? endpoint.send_flags : endpoint.receive_flags;
      return 0;
    }
    case FI_SETOPSFLAG: {
      const std::uint64_t flags = *static_cast<std::uint64_t*>(argument);
      if ((flags & FI_TRANSMIT) != 0) endpoint.send_flags = flags & ~FI_TRANSMIT;
      if ((flags & FI_RECV) != 0) endpoint.receive_flags = flags & ~FI_RECV;
      return 0;
    }
    default:
      return -FI_ENOSYS;
  }
}

fi_ops endpoint_fid_ops = object_calls(close_endpoint, bind_endpoint, control_endpoint);

}  // namespace

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context) {
  if (info->ep_attr != nullptr && info->ep_attr->type != FI_EP_RDM && info->ep_attr->type != FI_EP_UNSPEC) {
    return -FI_EINVAL;
  }
  auto* handle = new (std::nothrow) Handle();
  if (handle == nullptr) return -FI_ENOMEM;
  auto* of = reinterpret_cast<Domain*>(domain);
  handle->endpoint = new Endpoint(of, *info);
  {
    const std::lock_guard lock(of->mutex);
    ++of->endpoints;
  }
  handle->fid.fid = {FI_CLASS_EP, context, &endpoint_fid_ops};
  handle->endpoint->own_fid = &handle->fid.fid;
  handle->fid.ops = &ep_ops;
  handle->fid.cm = &cm_ops;
  handle->fid.msg = &msg_ops;
  handle->fid.rma = &rma_ops;
  handle->fid.atomic = &atomic_ops;
  handle->fid.tagged = &tagged_ops;
  *endpoint = &handle->fid;
  return 0;
}

}  // namespace holdfast::transport::ofi
