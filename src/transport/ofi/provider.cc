// The provider as libfabric finds it: what it offers (fi_getinfo(3)) and where its objects begin (fi_provider(7)).
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>

#include <cstring>
#include <string>

#include "transport/ofi/domain.h"
#include "transport/ofi/endpoint.h"
#include "transport/ofi/parameters.h"
#include "transport/rail/libfabric/open_rail.h"

namespace holdfast::transport::ofi {

namespace {

constexpr std::uint64_t send_caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_READ | FI_WRITE;
constexpr std::uint64_t receive_caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV | FI_REMOTE_READ |
                                       FI_REMOTE_WRITE | FI_MULTI_RECV | FI_DIRECTED_RECV | FI_SOURCE | FI_RMA_EVENT;
constexpr std::uint64_t domain_caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
constexpr std::uint64_t all_caps = send_caps | receive_caps | domain_caps;
constexpr std::uint64_t msg_order = FI_ORDER_SAS;
constexpr std::uint64_t no_order = 0;  // FI_ORDER_NONE, which libfabric 2 deprecates
constexpr int mr_basic = 1 << 0;       // FI_MR_BASIC, likewise
constexpr std::size_t most_pieces_offered = 8;
constexpr std::size_t queue_size = 65536;
constexpr std::size_t most_message_bytes = std::size_t{1} << 40;
constexpr std::uint32_t protocol = 0x48460002;  ///< "HF", version 2 of docs/spec/wire.md

bool names_us(const char* name) {
  return name == nullptr || std::strcmp(name, "holdfast") == 0;
}

/// Whether what an application asks for can be had; everything else it leaves to us.
bool acceptable(const fi_info& hints) {
  if ((hints.caps & ~all_caps) != 0) return false;
  if (hints.addr_format != FI_FORMAT_UNSPEC) return false;
  if (hints.fabric_attr != nullptr && !names_us(hints.fabric_attr->name)) return false;
  if (const fi_ep_attr* ep = hints.ep_attr) {
    if (ep->type != FI_EP_UNSPEC && ep->type != FI_EP_RDM) return false;
    if (ep->protocol != FI_PROTO_UNSPEC && ep->protocol != protocol) return false;
    if (ep->tx_ctx_cnt > 1 || ep->rx_ctx_cnt > 1 || ep->max_msg_size > most_message_bytes) return false;
  }
  if (const fi_domain_attr* domain = hints.domain_attr) {
    if (!names_us(domain->name) || domain->cq_data_size > sizeof(std::uint64_t)) return false;
    if ((domain->caps & ~domain_caps) != 0) return false;
    if (domain->mr_mode == mr_basic) return false;  // addresses are offsets
  }
  const auto fits = [](const auto* attributes, std::uint64_t caps) {
    return attributes == nullptr || ((attributes->caps & ~(caps | domain_caps)) == 0 &&
                                     (attributes->msg_order & ~msg_order) == 0 && attributes->comp_order == no_order &&
                                     attributes->size <= queue_size && attributes->iov_limit <= most_pieces_offered);
  };
  if (!fits(hints.tx_attr, send_caps) || !fits(hints.rx_attr, receive_caps)) return false;
  return hints.tx_attr == nullptr || hints.tx_attr->inject_size <= most_inject_bytes;
}

void* copy_of(const void* bytes, std::size_t length) {
  void* copy = std::malloc(length);
  if (copy != nullptr) std::memcpy(copy, bytes, length);
  return copy;
}

/// The host and port that an endpoint binds its first rail to, as two "rails" (Endpoint reads them).
bool set_source(fi_info& info, const char* node, const char* service) {
  Address address;
  address.partial = true;
  for (const char* text : {node != nullptr ? node : "", service != nullptr ? service : ""}) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text);
    address.rails.emplace_back(bytes, bytes + std::strlen(text));
  }
  Address::Raw raw;
  if (!address.write(raw)) return false;
  info.src_addr = copy_of(raw.data(), raw.size());
  info.src_addrlen = raw.size();
  return true;
}

int set_addresses(fi_info& info, const char* node, const char* service, std::uint64_t flags, const fi_info* hints) {
  if ((flags & FI_SOURCE) != 0) {
    if (!set_source(info, node, service)) return -FI_EINVAL;
  } else if (node != nullptr || service != nullptr) {
    auto raw = resolve_address(node, service);
    if (!raw.ok()) return -FI_ENODATA;
    info.dest_addr = copy_of(raw.value().data(), raw.value().size());
    info.dest_addrlen = raw.value().size();
  }
  if (hints != nullptr && hints->src_addr != nullptr && info.src_addr == nullptr) {
    info.src_addr = copy_of(hints->src_addr, hints->src_addrlen);
    info.src_addrlen = hints->src_addrlen;
  }
  if (hints != nullptr && hints->dest_addr != nullptr && info.dest_addr == nullptr) {
    info.dest_addr = copy_of(hints->dest_addr, hints->dest_addrlen);
    info.dest_addrlen = hints->dest_addrlen;
  }
  if (info.src_addr == nullptr && !set_source(info, nullptr, nullptr)) return -FI_EINVAL;  // any
  return 0;
}

void describe(fi_info& info, const fi_info* hints) {
  const bool asks = hints != nullptr && hints->caps != 0;
  // what is asked for, and what costs nothing beside
  info.caps =
      asks ? hints->caps | (hints->caps & (FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC) ? domain_caps : 0) : all_caps;
  if (asks && (info.caps & (FI_SEND | FI_RECV)) == 0 && (info.caps & (FI_MSG | FI_TAGGED)) != 0) {
    info.caps |= FI_SEND | FI_RECV;
  }
  if (asks && (info.caps & (FI_RMA | FI_ATOMIC)) != 0 &&
      (info.caps & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)) == 0) {
    info.caps |= FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  }
  info.mode = 0;
  info.addr_format = FI_FORMAT_UNSPEC;

  fi_tx_attr& send = *info.tx_attr;
  send.caps = info.caps & send_caps;
  send.op_flags = hints != nullptr && hints->tx_attr != nullptr ? hints->tx_attr->op_flags : 0;
  send.msg_order = msg_order;
  send.comp_order = no_order;
  send.inject_size = most_inject_bytes;
  send.size = queue_size;
  send.iov_limit = most_pieces_offered;
  send.rma_iov_limit = 1;
  fi_rx_attr& receive = *info.rx_attr;
  receive.caps = info.caps & receive_caps;
  receive.op_flags = hints != nullptr && hints->rx_attr != nullptr ? hints->rx_attr->op_flags : 0;
  receive.msg_order = msg_order;
  receive.comp_order = no_order;
  receive.size = queue_size;
  receive.iov_limit = most_pieces_offered;

  fi_ep_attr& ep = *info.ep_attr;
  ep.type = FI_EP_RDM;
  ep.protocol = protocol;
  ep.protocol_version = 1;
  ep.max_msg_size = most_message_bytes;
  ep.mem_tag_format = ~std::uint64_t{0};
  ep.tx_ctx_cnt = 1;
  ep.rx_ctx_cnt = 1;

  fi_domain_attr& domain = *info.domain_attr;
  domain.name = strdup("holdfast");
  // It is safe whoever calls; a program that asks for less is told that it has what it asked for (MPICH insists).
  const bool has_threading =
      hints != nullptr && hints->domain_attr != nullptr && hints->domain_attr->threading != FI_THREAD_UNSPEC;
  domain.threading = has_threading ? hints->domain_attr->threading : FI_THREAD_SAFE;
  const bool manual =
      hints != nullptr && hints->domain_attr != nullptr && hints->domain_attr->data_progress == FI_PROGRESS_MANUAL;
  domain.control_progress = FI_PROGRESS_AUTO;
  domain.data_progress = manual ? FI_PROGRESS_MANUAL : FI_PROGRESS_AUTO;
  domain.resource_mgmt = FI_RM_ENABLED;
  domain.av_type = hints != nullptr && hints->domain_attr != nullptr ? hints->domain_attr->av_type : FI_AV_UNSPEC;
  domain.mr_mode = 0;
  domain.mr_key_size = sizeof(std::uint64_t);
  domain.cq_data_size = sizeof(std::uint64_t);
  domain.cq_cnt = 1024;
  domain.ep_cnt = 1024;
  domain.tx_ctx_cnt = 1;
  domain.rx_ctx_cnt = 1;
  domain.max_ep_tx_ctx = 1;
  domain.max_ep_rx_ctx = 1;
  domain.cntr_cnt = 1024;
  domain.mr_iov_limit = 1;
  domain.caps = domain_caps;
  domain.max_err_data = 0;
  domain.mr_cnt = 1U << 20;
  info.fabric_attr->name = strdup("holdfast");
  info.fabric_attr->prov_version = FI_VERSION(0, 1);
}

int get_info(std::uint32_t, const char* node, const char* service, std::uint64_t flags, const fi_info* hints,
             fi_info** found) {
  // rails are asked for by name, so whoever names another provider does not mean us
  if (hints != nullptr && !acceptable(*hints)) return -FI_ENODATA;
  fi_info* info = fi_allocinfo();
  if (info == nullptr) return -FI_ENOMEM;
  describe(*info, hints);
  if (const int code = set_addresses(*info, node, service, flags, hints); code != 0) {
    fi_freeinfo(info);
    return code;
  }
  *found = info;
  return 0;
}

void clean_up() {}

// The interface that it is built with; libfabric passes over a provider that is older than what a program asks for.
constexpr std::uint32_t interface_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
fi_provider description = {FI_VERSION(0, 1), interface_version, {}, "holdfast", get_info, open_fabric, clean_up};

}  // namespace

fi_provider& provider() {
  return description;
}

}  // namespace holdfast::transport::ofi

/// Every rail of this host, as the option rails.use takes them: "tcp@eth0,tcp@lo,udp@eth0,shm". For programs that load
/// this library without libfabric, as `holdfast doctor` does. The text lasts as long as the library.
extern "C" [[gnu::visibility("default")]] const char* holdfast_rails() {
  static const std::string text = [] {
    std::string list;
    for (const holdfast::transport::FoundRail& rail : holdfast::transport::find_rails("")) {
      list += (list.empty() ? "" : ",") + rail.spec.text();
    }
    return list;
  }();
  return text.c_str();
}

extern "C" [[gnu::visibility("default")]] fi_provider* fi_prov_ini() {
  using namespace holdfast::transport::ofi;
  define_parameters(provider());
  return &provider();
}
