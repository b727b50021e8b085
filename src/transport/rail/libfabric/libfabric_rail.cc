#include "transport/rail/libfabric/libfabric_rail.h"

#include <netinet/in.h>
#include <rdma/fi_errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

namespace holdfast::transport {

namespace {

/// libfabric's own bits: providers that FI_PROVIDER leaves out may be used, and layered ones are not wanted.
constexpr std::uint64_t hidden_too = 1ULL << 60;
constexpr std::uint64_t core_only = 1ULL << 59;
constexpr std::size_t most_inline_bytes = 4096;
/// Receive buffers go round, so together they are to fit the second-level cache; but each destination may be in the
/// middle of a packet, and a datagram without a buffer is lost.
constexpr std::size_t least_receives = 8;
constexpr std::size_t most_receives = 256;
constexpr std::size_t receive_bytes = 768 << 10;
/// What may be on its way to the network at once: more would only leave the cache before it is sent.
constexpr std::size_t most_pending_bytes = 512 << 10;
/// Between looks at the event queue, which is nearly always empty.
constexpr std::int64_t events_every_ns = 1'000'000;

struct Kind {
  std::string_view name;
  std::string_view provider;  ///< what libfabric 1.17 calls it
  fi_ep_type type;
};
/// tcp is libfabric's net provider, which has reliable datagrams over one TCP stream a peer without a layer between.
constexpr std::array<Kind, 6> kinds{{{"tcp", "net", FI_EP_RDM},
                                     {"shm", "shm", FI_EP_RDM},
                                     {"verbs", "verbs", FI_EP_DGRAM},
                                     {"efa", "efa", FI_EP_DGRAM},
                                     {"psm2", "psm2", FI_EP_RDM},
                                     {"sockets", "sockets", FI_EP_RDM}}};

const Kind* find_kind(std::string_view name) {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

/// From libfabric 1.18 on, tcp does itself what net did.
std::string provider_of(const Kind& kind) {
  const bool net_is_tcp = fi_version() >= FI_VERSION(1, 18);
  return kind.provider == "net" && net_is_tcp ? "tcp" : std::string(kind.provider);
}

struct FreeInfo {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

Info query(const Kind& kind, const char* node, const char* service, std::uint64_t flags) {
  Info hints(fi_allocinfo());
  hints->caps = FI_MSG | FI_SEND | FI_RECV;
  hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_MSG_PREFIX;
  hints->ep_attr->type = kind.type;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->fabric_attr->prov_name = strdup(provider_of(kind).c_str());
  // Nothing registered where it can be had so; shm wants regions named by virtual address even where there are none;
  // network hardware wants to be told of every buffer.
  for (const int mode : {0, FI_MR_VIRT_ADDR, FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY}) {
    hints->domain_attr->mr_mode = mode;
    fi_info* found = nullptr;
    if (fi_getinfo(FI_VERSION(1, 17), node, service, flags | hidden_too | core_only, hints.get(), &found) == 0) {
      return Info(found);
    }
  }
  return nullptr;
}

bool internet_v6(const fi_info& info) {
  return info.addr_format == FI_SOCKADDR_IN6;
}

bool is_loopback(const fi_info& info) {
  return info.domain_attr->name != nullptr && std::string_view(info.domain_attr->name) == "lo";
}

/// The entry of the list for this interface; IPv4 before IPv6, as link-local IPv6 names nothing elsewhere.
fi_info* choose(fi_info* list, const std::string& interface) {
  fi_info* best = nullptr;
  int best_rank = 4;
  for (fi_info* info = list; info != nullptr; info = info->next) {
    if (!interface.empty() && interface != info->domain_attr->name) continue;
    const int rank = (internet_v6(*info) ? 2 : 0) + (is_loopback(*info) ? 1 : 0);
    if (rank >= best_rank) continue;
    best_rank = rank;
    best = info;
  }
  return best;
}

std::size_t bytes_of(std::span<const iovec> pieces) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

void gather(std::span<const iovec> pieces, std::byte* to) {
  for (const iovec& piece : pieces) {
    std::memcpy(to, piece.iov_base, piece.iov_len);
    to += piece.iov_len;
  }
}

Status cannot_open(const RailSpec& spec, const char* what, ssize_t code) {
  return {Code::unavailable, "opening rail " + spec.text(),
          std::string(what) + ": " + fi_strerror(static_cast<int>(-code)),
          "'holdfast doctor' lists the rails of this host"};
}

}  // namespace

std::vector<std::string> LibfabricRail::domains(std::string_view kind) {
  std::vector<std::string> names;
  const Info list = query(*find_kind(kind), nullptr, nullptr, 0);
  for (const fi_info* info = list.get(); info != nullptr; info = info->next) {
    if (!internet_v6(*info) && info->domain_attr->name != nullptr) names.emplace_back(info->domain_attr->name);
  }
  return names;
}

/// libfabric's shm provider reads and writes the memory of other endpoints of this process without asking whether they
/// are still there. So those that close early stay open until the last one does.
struct LibfabricRail::ShmOfThisProcess {
  std::mutex mutex;
  std::size_t open = 0;
  std::vector<std::unique_ptr<Objects>> closed;
};
LibfabricRail::ShmOfThisProcess& LibfabricRail::shm_of_this_process() {
  static auto& all = *new ShmOfThisProcess();  // never destroyed: libfabric may be gone before it would be
  return all;
}

Result<std::unique_ptr<LibfabricRail>> LibfabricRail::open(const RailSpec& spec, std::size_t most_packet_bytes,
                                                           const std::string& node, const std::string& service,
                                                           bool registers) {
  std::unique_ptr<LibfabricRail> rail(new LibfabricRail());
  rail->registers_ = registers;
  if (Status status = rail->start(spec, most_packet_bytes, node, service); !status.ok()) return status;
  return rail;
}

Status LibfabricRail::start(const RailSpec& spec, std::size_t most_packet_bytes, const std::string& node,
                            const std::string& service) {
  const Kind& kind = *find_kind(spec.kind);
  local_only_ = kind.name == "shm";
  if (local_only_) {
    const std::lock_guard lock(shm_of_this_process().mutex);
    ++shm_of_this_process().open;
  }
  const char* port = service.empty() || kind.name == "shm" ? nullptr : service.c_str();
  const char* host = node.empty() || kind.name == "shm" ? nullptr : node.c_str();
  const Info list = query(kind, host, port, port != nullptr || host != nullptr ? FI_SOURCE : 0);
  fi_info* chosen = choose(list.get(), spec.interface);
  if (chosen == nullptr) return cannot_open(spec, "libfabric offers no such interface", -FI_ENODATA);
  objects_->info = fi_dupinfo(chosen);
  registers_ = registers_ || (objects_->info->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
  if ((objects_->info->mode & FI_MSG_PREFIX) != 0) prefix_bytes_ = objects_->info->ep_attr->msg_prefix_size;
  most_packet_bytes_ = std::min<std::size_t>(most_packet_bytes, objects_->info->ep_attr->max_msg_size - prefix_bytes_);

  int code = fi_fabric(objects_->info->fabric_attr, &objects_->fabric, nullptr);
  if (code != 0) return cannot_open(spec, "fi_fabric", code);
  if ((code = fi_domain(objects_->fabric, objects_->info, &objects_->domain, nullptr)) != 0)
    return cannot_open(spec, "fi_domain", code);
  fi_av_attr av{};
  av.type = FI_AV_TABLE;
  if ((code = fi_av_open(objects_->domain, &av, &objects_->names, nullptr)) != 0)
    return cannot_open(spec, "fi_av_open", code);
  fi_cq_attr cq{};
  cq.format = FI_CQ_FORMAT_MSG;
  cq.size = 4 * most_receives;
  cq.wait_obj = FI_WAIT_FD;
  if (fi_cq_open(objects_->domain, &cq, &objects_->queue, nullptr) != 0) {
    cq.wait_obj = FI_WAIT_NONE;
    if ((code = fi_cq_open(objects_->domain, &cq, &objects_->queue, nullptr)) != 0)
      return cannot_open(spec, "fi_cq_open", code);
  } else if (fi_control(&objects_->queue->fid, FI_GETWAIT, &wait_fd_) != 0) {
    wait_fd_ = -1;
  }
  if ((code = fi_endpoint(objects_->domain, objects_->info, &objects_->endpoint, nullptr)) != 0)
    return cannot_open(spec, "fi_endpoint", code);
  open_events();
  if ((code = fi_ep_bind(objects_->endpoint, &objects_->names->fid, 0)) != 0)
    return cannot_open(spec, "fi_ep_bind", code);
  if ((code = fi_ep_bind(objects_->endpoint, &objects_->queue->fid, FI_SEND | FI_RECV)) != 0)
    return cannot_open(spec, "fi_ep_bind", code);
  if ((code = fi_enable(objects_->endpoint)) != 0) return cannot_open(spec, "fi_enable", code);

  std::size_t length = 256;
  address_.resize(length);
  if ((code = fi_getname(&objects_->endpoint->fid, address_.data(), &length)) != 0)
    return cannot_open(spec, "fi_getname", code);
  address_.resize(length);
  want_receives(receive_bytes / most_packet_bytes_);
  return {};
}

// Where a provider tells of what concerns no single packet: that its device is gone, say. Not all bind one.
void LibfabricRail::open_events() {
  interface_ = objects_->info->domain_attr->name != nullptr ? objects_->info->domain_attr->name : "";
  fi_eq_attr attributes{};
  attributes.wait_obj = FI_WAIT_NONE;
  if (fi_eq_open(objects_->fabric, &attributes, &objects_->events, nullptr) != 0) {
    objects_->events = nullptr;
    return;
  }
  if (fi_ep_bind(objects_->endpoint, &objects_->events->fid, 0) == 0) return;
  fi_close(&objects_->events->fid);
  objects_->events = nullptr;
}

// Memory for a packet, which the provider is told of where it wants that. False when it refuses.
bool LibfabricRail::give_memory(Slot& slot, std::size_t bytes) {
  if (slot.memory.size() >= bytes) return true;
  if (slot.region != nullptr) fi_close(&slot.region->fid);
  slot.region = nullptr;
  slot.memory.resize(bytes);
  if (!registers_) return true;
  return fi_mr_reg(objects_->domain, slot.memory.data(), bytes, FI_SEND | FI_RECV, 0, next_key_++, 0, &slot.region,
                   nullptr) == 0;
}

// Posts receives until there are so many, within what the endpoint takes.
void LibfabricRail::want_receives(std::size_t count) {
  count = std::clamp(count, least_receives, std::min<std::size_t>(most_receives, objects_->info->rx_attr->size));
  for (; receives_ < count; ++receives_) {
    Slot* slot = take_slot();
    slot->receives = true;
    if (!give_memory(*slot, most_packet_bytes_ + prefix_bytes_)) return;
    post(slot);
  }
}

LibfabricRail::Objects::~Objects() {
  if (endpoint != nullptr) fi_close(&endpoint->fid);
  for (const auto& slot : slots) {
    if (slot->region != nullptr) fi_close(&slot->region->fid);
  }
  if (queue != nullptr) fi_close(&queue->fid);
  if (events != nullptr) fi_close(&events->fid);
  if (names != nullptr) fi_close(&names->fid);
  if (domain != nullptr) fi_close(&domain->fid);
  if (fabric != nullptr) fi_close(&fabric->fid);
  if (info != nullptr) fi_freeinfo(info);
}

LibfabricRail::~LibfabricRail() {
  if (!local_only_) return;
  ShmOfThisProcess& all = shm_of_this_process();
  const std::lock_guard lock(all.mutex);
  all.closed.push_back(std::move(objects_));
  if (--all.open == 0) all.closed.clear();
}

Result<std::vector<std::byte>> LibfabricRail::resolve(const RailSpec& spec, const char* node, const char* service) {
  const Info list = query(*find_kind(spec.kind), node, service, 0);
  const fi_info* info = choose(list.get(), spec.interface);
  if (info == nullptr) info = list.get();
  if (info == nullptr || info->dest_addr == nullptr) {
    return Status(Code::not_found, "resolving the address of a peer",
                  std::string(node != nullptr ? node : "") + ":" + (service != nullptr ? service : "") +
                      " is not known to rails of kind " + spec.kind);
  }
  const auto* bytes = static_cast<const std::byte*>(info->dest_addr);
  return std::vector<std::byte>(bytes, bytes + info->dest_addrlen);
}

LibfabricRail::Slot* LibfabricRail::take_slot() {
  if (free_.empty()) {
    objects_->slots.push_back(std::make_unique<Slot>());
    return objects_->slots.back().get();
  }
  Slot* slot = free_.back();
  free_.pop_back();
  return slot;
}

void LibfabricRail::post(Slot* slot) {
  void* const region = slot->region == nullptr ? nullptr : fi_mr_desc(slot->region);
  if (fi_recv(objects_->endpoint, slot->memory.data(), slot->memory.size(), region, FI_ADDR_UNSPEC, &slot->context) !=
      0) {
    unposted_.push_back(slot);
  }
}

// libfabric takes an address without its length: of an address of the Internet's that of its family, of a text the zero
// at its end. Others are as long as this rail's own.
bool LibfabricRail::is_address(std::span<const std::byte> address) const {
  sa_family_t family = AF_UNSPEC;
  if (address.size() >= sizeof family) std::memcpy(&family, address.data(), sizeof family);
  switch (objects_->info->addr_format) {
    case FI_SOCKADDR_IN:
    case FI_SOCKADDR_IN6:
    case FI_SOCKADDR:
      return (family == AF_INET && address.size() == sizeof(sockaddr_in)) ||
             (family == AF_INET6 && address.size() == sizeof(sockaddr_in6));
    case FI_ADDR_STR:
      return !address.empty() && address.back() == std::byte{0};
    default:
      return address.size() == address_.size();
  }
}

Result<std::uint32_t> LibfabricRail::add_destination(std::span<const std::byte> address) {
  fi_addr_t number = FI_ADDR_NOTAVAIL;
  if (!is_address(address) || fi_av_insert(objects_->names, address.data(), 1, &number, 0, nullptr) != 1) {
    return Status(Code::bad_input, "adding a destination to a rail",
                  "an address of " + std::to_string(address.size()) + " bytes was refused");
  }
  want_receives(least_receives + 2 * ++destinations_);
  return static_cast<std::uint32_t>(number);
}

// libfabric wants an address in its table before it sends there, and does not say where a packet came from. So that
// strangers cannot fill the table, those after the first few are not answered: they must be called from here.
void LibfabricRail::answer(std::span<const std::byte> address, std::span<const std::byte> packet) {
  auto known = std::find_if(strangers_.begin(), strangers_.end(),
                            [&](const auto& stranger) { return std::ranges::equal(stranger.first, address); });
  if (known == strangers_.end()) {
    fi_addr_t number = FI_ADDR_NOTAVAIL;
    if (strangers_.size() == most_strangers || address.empty() ||
        fi_av_insert(objects_->names, address.data(), 1, &number, 0, nullptr) != 1)
      return;
    known = strangers_.insert(strangers_.end(), {{address.begin(), address.end()}, number});
  }
  const iovec piece = {const_cast<std::byte*>(packet.data()), packet.size()};  // NOLINT: iovec's members are not const
  (void)put_copy(known->second, {&piece, 1}, packet.size(), std::nullopt);
}

Put LibfabricRail::refused(ssize_t code) {
  if (code != -FI_EAGAIN) return Put::failed;
  busy_ = true;
  return Put::busy;
}

// Without a token nobody hears of the packet again.
Put LibfabricRail::put_copy(fi_addr_t to, std::span<const iovec> pieces, std::size_t bytes,
                            std::optional<std::uint64_t> token) {
  Slot* slot = take_slot();
  slot->receives = false;
  slot->tell = token.has_value();
  slot->token = token.value_or(0);
  if (!give_memory(*slot, bytes + prefix_bytes_)) {
    free_.push_back(slot);
    return Put::failed;
  }
  slot->bytes = bytes;
  gather(pieces, slot->memory.data() + prefix_bytes_);
  void* const region = slot->region == nullptr ? nullptr : fi_mr_desc(slot->region);
  const ssize_t code =
      fi_send(objects_->endpoint, slot->memory.data(), bytes + prefix_bytes_, region, to, &slot->context);
  if (code == 0) {
    pending_bytes_ += bytes;
    return Put::taken;
  }
  free_.push_back(slot);
  return refused(code);
}

Put LibfabricRail::put(std::uint32_t destination, std::span<const iovec> pieces, std::uint64_t token) {
  const std::size_t bytes = bytes_of(pieces);
  const bool from_anywhere = !registers_ && prefix_bytes_ == 0;
  if (from_anywhere && bytes <= std::min(objects_->info->tx_attr->inject_size, most_inline_bytes)) {
    std::byte packet[most_inline_bytes];
    gather(pieces, packet);
    const ssize_t code = fi_inject(objects_->endpoint, packet, bytes, destination);
    return code == 0 ? Put::done : refused(code);
  }
  if (pending_bytes_ > 0 && pending_bytes_ + bytes > most_pending_bytes) return refused(-FI_EAGAIN);
  if (!from_anywhere || pieces.size() > objects_->info->tx_attr->iov_limit)
    return put_copy(destination, pieces, bytes, token);
  Slot* slot = take_slot();
  slot->receives = false;
  slot->tell = true;
  slot->token = token;
  slot->bytes = bytes;
  const ssize_t code = fi_sendv(objects_->endpoint, pieces.data(), nullptr, pieces.size(), destination, &slot->context);
  if (code == 0) {
    pending_bytes_ += bytes;
    return Put::pending;
  }
  free_.push_back(slot);
  return refused(code);
}

void LibfabricRail::sent(Slot* slot, RailSink& sink, bool ok) {
  pending_bytes_ -= slot->bytes;
  free_.push_back(slot);
  if (slot->tell) sink.on_put_done(slot->token, ok);
}

// The next entry of the queue's errors. False: there is none after all.
bool LibfabricRail::read_error(RailSink& sink) {
  fi_cq_err_entry error{};
  if (fi_cq_readerr(objects_->queue, &error, 0) <= 0) return false;
  if (error.op_context == nullptr) {  // of a packet that was injected, to whomever
    sink.on_doubted(all_destinations);
    return true;
  }
  auto* slot = reinterpret_cast<Slot*>(error.op_context);  // its first member
  if (!slot->receives) {
    if (!slot->tell && error.err != FI_ECANCELED) sink.on_doubted(all_destinations);  // the answer to a stranger
    sent(slot, sink, false);
    return true;
  }
  if (error.err == FI_ECANCELED) return true;
  if (error.err != FI_ETRUNC) sink.on_doubted(all_destinations);  // a packet that is too long is its sender's doing
  post(slot);
  return true;
}

void LibfabricRail::read_events(RailSink& sink, std::int64_t now_ns) {
  if (now_ns < next_events_ns_) return;
  next_events_ns_ = now_ns + events_every_ns;
  if (broken_) sink.on_failed(all_destinations);
  broken_ = false;
  if (objects_->events == nullptr) return;
  for (int n = 0; n < 16; ++n) {
    std::array<std::byte, 256> event;
    std::uint32_t kind = 0;
    const ssize_t got = fi_eq_read(objects_->events, &kind, event.data(), event.size(), 0);
    if (got == -FI_EAVAIL) {
      fi_eq_err_entry error{};
      if (fi_eq_readerr(objects_->events, &error, 0) <= 0) return;
      sink.on_failed(all_destinations);
    } else if (got < 0) {
      return;
    } else if (kind == FI_SHUTDOWN) {
      sink.on_failed(all_destinations);
    }
  }
}

std::size_t LibfabricRail::poll(RailSink& sink, std::int64_t now_ns) {
  std::array<fi_cq_msg_entry, 16> entries;
  std::size_t events = 0;
  for (;;) {
    const ssize_t got = fi_cq_read(objects_->queue, entries.data(), entries.size());
    if (got == -FI_EAVAIL) {
      if (!read_error(sink) || ++events >= 64) break;
      continue;
    }
    broken_ = broken_ || (got < 0 && got != -FI_EAGAIN);
    if (got <= 0) break;
    for (ssize_t i = 0; i < got; ++i) {
      auto* slot = reinterpret_cast<Slot*>(entries[static_cast<std::size_t>(i)].op_context);
      if (slot->receives) {
        const std::size_t bytes = entries[static_cast<std::size_t>(i)].len;
        if (bytes >= prefix_bytes_) sink.on_packet(std::span(slot->memory).first(bytes).subspan(prefix_bytes_));
        post(slot);
      } else {
        sent(slot, sink, true);
      }
    }
    events += static_cast<std::size_t>(got);
    if (events >= 64) break;  // let the engine answer
  }
  read_events(sink, now_ns);
  for (std::size_t n = unposted_.size(); n > 0; --n) {
    Slot* slot = unposted_.front();
    unposted_.erase(unposted_.begin());
    post(slot);
  }
  if (busy_) {
    busy_ = false;
    sink.on_ready();
  }
  return events;
}

bool LibfabricRail::may_wait() {
  fid* queue = &objects_->queue->fid;
  return wait_fd_ >= 0 && !busy_ && fi_trywait(objects_->fabric, &queue, 1) == 0;
}

}  // namespace holdfast::transport
