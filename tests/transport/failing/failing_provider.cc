// A libfabric provider for tests: datagrams between the endpoints of one process, and every way of failing that
// libfabric has for a send, a receive, a completion queue and an event queue, on command (failing_provider.h). It poses
// as a provider for which this host lacks the hardware (FAILING_PROVIDER_NAME): "efa" wants every buffer registered and
// room before every packet, "verbs" neither, and takes short packets at once.
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <sys/uio.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "failing_provider.h"

extern "C" __attribute__((visibility("default"))) FailingWays holdfast_failing_ways;
FailingWays holdfast_failing_ways;

namespace {

constexpr bool posing_as_efa = std::string_view(FAILING_PROVIDER_NAME) == "efa";
constexpr std::size_t prefix_bytes = posing_as_efa ? 40 : 0;
constexpr std::size_t most_packet_bytes = 8192 + prefix_bytes;

FailingWays& ways = holdfast_failing_ways;
std::mutex mutex;  // of everything here

int unsupported() {
  return -FI_ENOSYS;
}

struct Queue {
  fid_cq fid{};
  std::deque<fi_cq_msg_entry> entries;
  std::deque<fi_cq_err_entry> errors;
};
struct Events {
  fid_eq fid{};
  bool failed = false;
};
struct Names {
  fid_av fid{};
  std::vector<std::uint64_t> addresses;
};
struct Receive {
  void* memory;
  std::size_t bytes;
  void* context;
};
struct End {
  fid_ep fid{};
  fid_domain* domain = nullptr;
  std::uint64_t address = 0;
  Queue* queue = nullptr;
  Names* names = nullptr;
  Events* events = nullptr;
  std::deque<Receive> receives;
  std::vector<void*> kept;
};

std::map<std::uint64_t, End*> ends;
std::vector<Events*> all_events;
std::uint64_t next_address = 1;

template <class Object>
Object* object_of(fid* handle) {
  return reinterpret_cast<Object*>(handle);  // the handle is its first member
}
template <class Object>
int close_object(fid* handle) {
  const std::lock_guard lock(mutex);
  delete object_of<Object>(handle);
  return 0;
}
template <class Object>
fi_ops closing() {
  fi_ops ops{};
  ops.size = sizeof ops;
  ops.close = &close_object<Object>;
  ops.bind = [](fid*, fid*, std::uint64_t) { return unsupported(); };
  ops.control = [](fid*, int, void*) { return unsupported(); };
  return ops;
}

// Queues

ssize_t read_queue(fid_cq* handle, void* to, std::size_t count) {
  const std::lock_guard lock(mutex);
  if (const int error = ways.queue) return -error;
  auto& queue = *reinterpret_cast<Queue*>(handle);
  for (auto& [address, end] : ends) {
    if (end->queue != &queue) continue;
    if (ways.keep == 0) {
      for (void* context : std::exchange(end->kept, {})) queue.entries.push_back({context, FI_SEND | FI_MSG, 0});
    }
    if (end->receives.empty()) continue;
    if (const int error = ways.receive.exchange(0)) {
      fi_cq_err_entry entry{};
      entry.op_context = end->receives.front().context;
      entry.err = error;
      end->receives.pop_front();
      queue.errors.push_back(entry);
    }
  }
  if (!queue.errors.empty()) return -FI_EAVAIL;
  std::size_t taken = 0;
  for (; taken < count && !queue.entries.empty(); ++taken) {
    static_cast<fi_cq_msg_entry*>(to)[taken] = queue.entries.front();
    queue.entries.pop_front();
  }
  return taken > 0 ? static_cast<ssize_t>(taken) : -FI_EAGAIN;
}
ssize_t read_queue_error(fid_cq* handle, fi_cq_err_entry* to, std::uint64_t) {
  const std::lock_guard lock(mutex);
  auto& queue = *reinterpret_cast<Queue*>(handle);
  if (queue.errors.empty()) return -FI_EAGAIN;
  *to = queue.errors.front();
  queue.errors.pop_front();
  return 1;
}
int open_queue(fid_domain*, fi_cq_attr* attributes, fid_cq** made, void* context) {
  if (attributes->wait_obj != FI_WAIT_NONE) return -FI_ENOSYS;
  static fi_ops ops = closing<Queue>();
  static fi_ops_cq queue_ops{};
  queue_ops.size = sizeof queue_ops;
  queue_ops.read = read_queue;
  queue_ops.readerr = read_queue_error;
  auto* queue = new Queue;
  queue->fid.fid = {FI_CLASS_CQ, context, &ops};
  queue->fid.ops = &queue_ops;
  *made = &queue->fid;
  return 0;
}

ssize_t read_event(fid_eq* handle, std::uint32_t*, void*, std::size_t, std::uint64_t) {
  const std::lock_guard lock(mutex);
  if (ways.event != 0) {
    for (Events* each : all_events) each->failed = true;
    ways.event = 0;
  }
  return reinterpret_cast<Events*>(handle)->failed ? -FI_EAVAIL : -FI_EAGAIN;
}
ssize_t read_event_error(fid_eq* handle, fi_eq_err_entry* to, std::uint64_t) {
  const std::lock_guard lock(mutex);
  auto& events = *reinterpret_cast<Events*>(handle);
  if (!events.failed) return -FI_EAGAIN;
  events.failed = false;
  *to = {};
  to->err = FI_EIO;
  return sizeof *to;
}
int open_events(fid_fabric*, fi_eq_attr*, fid_eq** made, void* context) {
  static fi_ops ops = closing<Events>();
  ops.close = [](fid* handle) {
    const std::lock_guard lock(mutex);
    std::erase(all_events, object_of<Events>(handle));
    delete object_of<Events>(handle);
    return 0;
  };
  static fi_ops_eq event_ops{};
  event_ops.size = sizeof event_ops;
  event_ops.read = read_event;
  event_ops.readerr = read_event_error;
  auto* events = new Events;
  events->fid.fid = {FI_CLASS_EQ, context, &ops};
  events->fid.ops = &event_ops;
  const std::lock_guard lock(mutex);
  all_events.push_back(events);
  *made = &events->fid;
  return 0;
}

// Addresses

int insert_names(fid_av* handle, const void* from, std::size_t count, fi_addr_t* numbers, std::uint64_t, void*) {
  const std::lock_guard lock(mutex);
  auto& names = *reinterpret_cast<Names*>(handle);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t address = 0;
    std::memcpy(&address, static_cast<const std::byte*>(from) + i * sizeof address, sizeof address);
    names.addresses.push_back(address);
    numbers[i] = names.addresses.size() - 1;
  }
  return static_cast<int>(count);
}
int open_names(fid_domain*, fi_av_attr*, fid_av** made, void* context) {
  static fi_ops ops = closing<Names>();
  static fi_ops_av name_ops{};
  name_ops.size = sizeof name_ops;
  name_ops.insert = insert_names;
  auto* names = new Names;
  names->fid.fid = {FI_CLASS_AV, context, &ops};
  names->fid.ops = &name_ops;
  *made = &names->fid;
  return 0;
}

// Endpoints

// Datagrams: one for which no receive is posted, or nobody is there, is lost.
void deliver(const End& from, fi_addr_t to, const std::vector<std::byte>& packet) {
  if (to >= from.names->addresses.size()) return;
  const auto found = ends.find(from.names->addresses[to]);
  if (found == ends.end() || found->second->receives.empty()) return;
  End& end = *found->second;
  const Receive receive = end.receives.front();
  if (receive.bytes < packet.size()) return;
  end.receives.pop_front();
  std::memcpy(receive.memory, packet.data(), packet.size());
  end.queue->entries.push_back({receive.context, FI_RECV | FI_MSG, packet.size()});
}

ssize_t send(End& end, const iovec* pieces, std::size_t count, fi_addr_t to, void* context) {
  const std::lock_guard lock(mutex);
  if (const int error = ways.refuse) return -error;
  std::vector<std::byte> packet;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* from = static_cast<const std::byte*>(pieces[i].iov_base);
    packet.insert(packet.end(), from, from + pieces[i].iov_len);
  }
  if (ways.keep != 0) {
    end.kept.push_back(context);
    return 0;
  }
  if (const int error = ways.send) {
    fi_cq_err_entry entry{};
    entry.op_context = context;
    entry.err = error;
    end.queue->errors.push_back(entry);
    return 0;
  }
  deliver(end, to, packet);
  end.queue->entries.push_back({context, FI_SEND | FI_MSG, 0});
  return 0;
}
ssize_t send_one(fid_ep* handle, const void* memory, std::size_t bytes, void* region, fi_addr_t to, void* context) {
  if (posing_as_efa && region == nullptr) return -FI_EINVAL;  // it was not told of this buffer
  const iovec piece = {const_cast<void*>(memory), bytes};
  return send(*reinterpret_cast<End*>(handle), &piece, 1, to, context);
}
ssize_t send_pieces(fid_ep* handle, const iovec* pieces, void**, std::size_t count, fi_addr_t to, void* context) {
  if (posing_as_efa) return -FI_EINVAL;
  return send(*reinterpret_cast<End*>(handle), pieces, count, to, context);
}
ssize_t inject(fid_ep* handle, const void* memory, std::size_t bytes, fi_addr_t to) {
  const std::lock_guard lock(mutex);
  auto& end = *reinterpret_cast<End*>(handle);
  if (const int error = ways.refuse) return -error;
  if (const int error = ways.inject) {
    fi_cq_err_entry entry{};
    entry.err = error;
    end.queue->errors.push_back(entry);
    return 0;
  }
  if (ways.keep != 0 || ways.send != 0) return 0;
  const auto* from = static_cast<const std::byte*>(memory);
  deliver(end, to, {from, from + bytes});
  return 0;
}
ssize_t receive(fid_ep* handle, void* memory, std::size_t bytes, void* region, fi_addr_t, void* context) {
  if (posing_as_efa && region == nullptr) return -FI_EINVAL;
  const std::lock_guard lock(mutex);
  reinterpret_cast<End*>(handle)->receives.push_back({memory, bytes, context});
  return 0;
}
int get_name(fid_t handle, void* to, std::size_t* bytes) {
  const auto& end = *object_of<End>(handle);
  if (*bytes < sizeof end.address) return -FI_ETOOSMALL;
  *bytes = sizeof end.address;
  std::memcpy(to, &end.address, sizeof end.address);
  return 0;
}
int bind_end(fid* handle, fid* what, std::uint64_t) {
  auto& end = *object_of<End>(handle);
  if (what->fclass == FI_CLASS_CQ) end.queue = object_of<Queue>(what);
  if (what->fclass == FI_CLASS_AV) end.names = object_of<Names>(what);
  if (what->fclass == FI_CLASS_EQ) end.events = object_of<Events>(what);
  return 0;
}
int control_end(fid* handle, int command, void*) {
  if (command != FI_ENABLE) return unsupported();
  const std::lock_guard lock(mutex);
  auto& end = *object_of<End>(handle);
  end.address = next_address++;
  ends[end.address] = &end;
  return 0;
}
int close_end(fid* handle) {
  const std::lock_guard lock(mutex);
  auto* end = object_of<End>(handle);
  ends.erase(end->address);
  delete end;
  return 0;
}
int open_end(fid_domain* domain, fi_info*, fid_ep** made, void* context) {
  static fi_ops ops{};
  ops.size = sizeof ops;
  ops.close = close_end;
  ops.bind = bind_end;
  ops.control = control_end;
  static fi_ops_cm name_ops{};
  name_ops.size = sizeof name_ops;
  name_ops.getname = get_name;
  static fi_ops_msg message_ops{};
  message_ops.size = sizeof message_ops;
  message_ops.recv = receive;
  message_ops.send = send_one;
  message_ops.sendv = send_pieces;
  message_ops.inject = inject;
  auto* end = new End;
  end->fid.fid = {FI_CLASS_EP, context, &ops};
  end->fid.cm = &name_ops;
  end->fid.msg = &message_ops;
  end->domain = domain;
  *made = &end->fid;
  return 0;
}

// Domain and fabric

int register_memory(fid*, const void*, std::size_t, std::uint64_t, std::uint64_t, std::uint64_t key, std::uint64_t,
                    fid_mr** made, void* context) {
  static fi_ops ops = closing<fid_mr>();
  auto* region = new fid_mr{};
  region->fid = {FI_CLASS_MR, context, &ops};
  region->mem_desc = region;
  region->key = key;
  *made = region;
  return 0;
}
int open_domain(fid_fabric*, fi_info*, fid_domain** made, void* context) {
  static fi_ops ops = closing<fid_domain>();
  static fi_ops_domain domain_ops{};
  domain_ops.size = sizeof domain_ops;
  domain_ops.av_open = open_names;
  domain_ops.cq_open = open_queue;
  domain_ops.endpoint = open_end;
  static fi_ops_mr memory_ops{};
  memory_ops.size = sizeof memory_ops;
  memory_ops.reg = register_memory;
  auto* domain = new fid_domain{};
  domain->fid = {FI_CLASS_DOMAIN, context, &ops};
  domain->ops = &domain_ops;
  domain->mr = &memory_ops;
  *made = domain;
  return 0;
}
int open_fabric(fi_fabric_attr* attributes, fid_fabric** made, void* context) {
  static fi_ops ops = closing<fid_fabric>();
  static fi_ops_fabric fabric_ops{};
  fabric_ops.size = sizeof fabric_ops;
  fabric_ops.domain = open_domain;
  fabric_ops.eq_open = open_events;
  auto* fabric = new fid_fabric{};
  fabric->fid = {FI_CLASS_FABRIC, context, &ops};
  fabric->ops = &fabric_ops;
  fabric->api_version = attributes->api_version;
  *made = fabric;
  return 0;
}

int get_info(std::uint32_t, const char*, const char*, std::uint64_t, const fi_info* hints, fi_info** found) {
  const char* wanted = hints != nullptr && hints->fabric_attr != nullptr ? hints->fabric_attr->prov_name : nullptr;
  if (wanted == nullptr || std::string_view(wanted) != FAILING_PROVIDER_NAME) return -FI_ENODATA;
  if (posing_as_efa && (hints->domain_attr->mr_mode & FI_MR_LOCAL) == 0) return -FI_ENODATA;
  fi_info* info = fi_allocinfo();
  info->caps = FI_MSG | FI_SEND | FI_RECV;
  info->mode = prefix_bytes > 0 ? FI_MSG_PREFIX : 0;
  info->addr_format = FI_FORMAT_UNSPEC;
  info->ep_attr->type = FI_EP_DGRAM;
  info->ep_attr->max_msg_size = most_packet_bytes;
  info->ep_attr->msg_prefix_size = prefix_bytes;
  info->tx_attr->inject_size = posing_as_efa ? 0 : 256;
  info->tx_attr->iov_limit = 16;
  info->tx_attr->size = 256;
  info->rx_attr->size = 64;
  info->domain_attr->mr_mode = posing_as_efa ? FI_MR_LOCAL : 0;
  info->domain_attr->name = strdup("failing0");
  info->fabric_attr->name = strdup("failing");
  *found = info;
  return 0;
}

void clean_up() {}

// Above those of libfabric's own providers (117.0, 201.0), as of two with one name the newer is taken.
constexpr std::uint32_t version = FI_VERSION(9999, 0);
constexpr std::uint32_t interface_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
fi_provider provider = {version, interface_version, {}, FAILING_PROVIDER_NAME, get_info, open_fabric, clean_up};

}  // namespace

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini() {
  return &provider;
}
