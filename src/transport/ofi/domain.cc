#include "transport/ofi/domain.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/config/settings.h"
#include "transport/ofi/absent.h"
#include "transport/ofi/atomic.h"
#include "transport/ofi/endpoint.h"
#include "transport/ofi/parameters.h"
#include "transport/ofi/queue.h"
#include "transport/rail/libfabric/open_rail.h"
#include "transport/rail/rail_options.h"

namespace holdfast::transport::ofi {

Result<std::vector<RailSpec>> chosen_rails() {
  config::Settings<RailOptions> settings(rail_options_table());
  if (Status status = read_parameters(settings); !status.ok()) return status;
  const std::string& use = settings.options().use;
  if (!use.empty()) return parse_rails(use);
  std::vector<RailSpec> specs;
  const std::vector<FoundRail> found = find_rails("tcp");
  const bool only_loopback =
      std::all_of(found.begin(), found.end(), [](const FoundRail& rail) { return rail.loopback; });
  for (const FoundRail& rail : found) {
    if (rail.loopback == only_loopback) specs.push_back(rail.spec);
  }
  if (specs.empty()) {
    return Status(Code::unavailable, "looking for rails", "libfabric offers tcp on no interface",
                  "name the rails in HOLDFAST_RAILS_USE");
  }
  return specs;
}

Result<Address::Raw> resolve_address(const char* node, const char* service) {
  auto specs = chosen_rails();
  if (!specs.ok()) return specs.status();
  auto first = resolve_on_rail(specs.value().front(), node, service);
  if (!first.ok()) return first.status();
  Address address;
  address.partial = true;
  address.rails.push_back(std::move(first).value());
  Address::Raw raw;
  if (!address.write(raw)) return Status(Code::internal, "resolving the address of a peer", "it is too long");
  return raw;
}

fi_addr_t Names::find(const Address::Raw& raw) {
  const std::lock_guard lock(mutex);
  const auto found = numbers.lower_bound({raw, 0});
  return found == numbers.end() || found->first != raw ? FI_ADDR_NOTAVAIL : found->second;
}

bool Names::is_removed(fi_addr_t number) {
  const std::lock_guard lock(mutex);
  return removed.contains(number);
}

bool Names::get(fi_addr_t number, Address::Raw& raw) {
  const std::lock_guard lock(mutex);
  if (number >= addresses.size()) return false;
  raw = addresses[number];
  return true;
}

namespace {

Names& names_of(fid_av* names) {
  return *reinterpret_cast<Names*>(names);
}

fi_addr_t insert_one(Names& names, const Address::Raw& raw) {
  Address checked;
  if (!Address::read(raw, checked)) return FI_ADDR_NOTAVAIL;
  const std::lock_guard lock(names.mutex);
  names.addresses.push_back(raw);
  const fi_addr_t number = names.addresses.size() - 1;
  names.numbers.emplace(raw, number);
  return number;
}

int insert(fid_av* av, const void* addresses, std::size_t count, fi_addr_t* numbers, std::uint64_t flags,
           void* context) {
  int* const errors = (flags & FI_SYNC_ERR) != 0 ? static_cast<int*>(context) : nullptr;
  int good = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Address::Raw raw;
    std::memcpy(raw.data(), static_cast<const std::byte*>(addresses) + i * Address::bytes, Address::bytes);
    const fi_addr_t number = insert_one(names_of(av), raw);
    if (numbers != nullptr) numbers[i] = number;
    if (errors != nullptr) errors[i] = number != FI_ADDR_NOTAVAIL ? 0 : FI_EINVAL;
    good += number != FI_ADDR_NOTAVAIL ? 1 : 0;
  }
  return good;
}

int insert_service(fid_av* av, const char* node, const char* service, fi_addr_t* number, std::uint64_t, void*) {
  auto raw = resolve_address(node, service);
  if (!raw.ok()) return -FI_ENODATA;
  const fi_addr_t made = insert_one(names_of(av), raw.value());
  if (number != nullptr) *number = made;
  return made == FI_ADDR_NOTAVAIL ? 0 : 1;
}

int insert_symmetric(fid_av*, const char*, std::size_t, const char*, std::size_t, fi_addr_t*, std::uint64_t, void*) {
  return -FI_ENOSYS;
}

/// Numbers stay taken: what is under way to them may still refer to them.
int remove(fid_av* av, fi_addr_t* numbers, std::size_t count, std::uint64_t) {
  Names& names = names_of(av);
  const std::lock_guard lock(names.mutex);
  for (std::size_t i = 0; i < count; ++i) {
    if (numbers[i] >= names.addresses.size() || !names.removed.insert(numbers[i]).second) return -FI_EINVAL;
    names.numbers.erase({names.addresses[numbers[i]], numbers[i]});
    ++names.removals;
  }
  return 0;
}

int lookup(fid_av* av, fi_addr_t number, void* address, std::size_t* length) {
  Address::Raw raw;
  if (!names_of(av).get(number, raw) || names_of(av).is_removed(number)) return -FI_EINVAL;
  std::memcpy(address, raw.data(), std::min(*length, raw.size()));
  *length = raw.size();
  return 0;
}

const char* as_text(fid_av*, const void* address, char* buffer, std::size_t* length) {
  Address read;
  char text[64] = "holdfast://?";
  if (Address::read({static_cast<const std::byte*>(address), Address::bytes}, read)) {
    std::uint64_t number = 0;
    std::memcpy(&number, read.number.data(), sizeof number);
    std::snprintf(text, sizeof text, "holdfast://%016llx/%zu", static_cast<unsigned long long>(number),
                  read.rails.size());
  }
  if (buffer != nullptr && *length > 0) std::snprintf(buffer, *length, "%s", text);
  *length = std::strlen(text) + 1;
  return buffer;
}

int close_names(fid* object) {
  delete reinterpret_cast<Names*>(object);
  return 0;
}
int bind_names(fid*, fid*, std::uint64_t) {
  return 0;  // to an event queue: nothing is asynchronous
}

fi_ops names_fid_ops = object_calls(close_names, bind_names);

/// By name: libfabric 2 has more of them, which may be null.
constexpr fi_ops_av name_calls() {
  fi_ops_av calls{};
  calls.size = sizeof(fi_ops_av);
  calls.insert = insert;
  calls.insertsvc = insert_service;
  calls.insertsym = insert_symmetric;
  calls.remove = remove;
  calls.lookup = lookup;
  calls.straddr = as_text;
  return calls;
}
fi_ops_av names_ops = name_calls();

int open_names(fid_domain*, fi_av_attr* attributes, fid_av** av, void* context) {
  if (attributes != nullptr && (attributes->name != nullptr || (attributes->flags & FI_EVENT) != 0)) return -FI_ENOSYS;
  auto* names = new Names();
  if (attributes != nullptr && attributes->type == FI_AV_UNSPEC) attributes->type = FI_AV_TABLE;
  names->fid.fid = {FI_CLASS_AV, context, &names_fid_ops};
  names->fid.ops = &names_ops;
  *av = &names->fid;
  return 0;
}

int close_region(fid* object) {
  auto* region = reinterpret_cast<Region*>(object);
  {
    const std::lock_guard lock(region->domain->mutex);
    region->domain->regions.erase(region->fid.key);
  }
  delete region;
  return 0;
}
int bind_region(fid* object, fid* other, std::uint64_t flags) {
  if (other->fclass != FI_CLASS_CNTR) return 0;  // an endpoint: every region is every endpoint's
  auto* region = reinterpret_cast<Region*>(object);
  const std::lock_guard lock(region->domain->mutex);
  if ((flags & FI_REMOTE_WRITE) != 0) region->writes = reinterpret_cast<Counter*>(other);
  if ((flags & FI_REMOTE_READ) != 0) region->reads = reinterpret_cast<Counter*>(other);
  return 0;
}
int control_region(fid*, int command, void*) {
  return command == FI_ENABLE || command == FI_REFRESH ? 0 : -FI_ENOSYS;
}
fi_ops region_fid_ops = object_calls(close_region, bind_region, control_region);

int register_vector(fid* object, const iovec* pieces, std::size_t count, std::uint64_t access, std::uint64_t,
                    std::uint64_t key, std::uint64_t, fid_mr** region, void* context) {
  if (count != 1) return -FI_EINVAL;
  auto* domain = reinterpret_cast<Domain*>(object);
  auto* made = new Region();
  made->domain = domain;
  made->base = static_cast<std::byte*>(pieces[0].iov_base);
  made->length = pieces[0].iov_len;
  made->access = access;
  const bool remote = (access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0;
  const std::lock_guard lock(domain->mutex);
  if (!remote) key = domain->next_key++;  // nobody names it: its key must not stand in another's way
  if (!domain->regions.emplace(key, made).second) {
    delete made;
    return -FI_ENOKEY;
  }
  made->fid.fid = {FI_CLASS_MR, context, &region_fid_ops};
  made->fid.mem_desc = made;
  made->fid.key = key;
  *region = &made->fid;
  return 0;
}

int register_one(fid* object, const void* buffer, std::size_t length, std::uint64_t access, std::uint64_t offset,
                 std::uint64_t key, std::uint64_t flags, fid_mr** region, void* context) {
  const iovec piece{const_cast<void*>(buffer), length};
  return register_vector(object, &piece, 1, access, offset, key, flags, region, context);
}

int register_attributes(fid* object, const fi_mr_attr* attributes, std::uint64_t flags, fid_mr** region) {
  return register_vector(object, attributes->mr_iov, attributes->iov_count, attributes->access, attributes->offset,
                         attributes->requested_key, flags, region, attributes->context);
}

fi_ops_mr region_ops = {sizeof(fi_ops_mr), register_one, register_vector, register_attributes};

int close_domain(fid* object) {
  auto* domain = reinterpret_cast<Domain*>(object);
  {
    const std::lock_guard lock(domain->mutex);
    if (domain->endpoints > 0 || !domain->regions.empty()) return -FI_EBUSY;
  }
  delete domain;
  return 0;
}
int bind_domain(fid*, fid*, std::uint64_t) {
  return 0;  // to an event queue: there are no events
}
int no_scalable_endpoint(fid_domain*, fi_info*, fid_ep**, void*) {
  return -FI_ENOSYS;
}
int no_poll_set(fid_domain*, fi_poll_attr*, fid_poll**) {
  return -FI_ENOSYS;
}
int no_shared_transmit(fid_domain*, fi_tx_attr*, fid_stx**, void*) {
  return -FI_ENOSYS;
}
int no_shared_receive(fid_domain*, fi_rx_attr*, fid_ep**, void*) {
  return -FI_ENOSYS;
}
int query_atomic(fid_domain*, fi_datatype type, fi_op op, fi_atomic_attr* attributes, std::uint64_t flags) {
  const AtomicUse use = (flags & FI_COMPARE_ATOMIC) != 0 ? AtomicUse::compare
                        : (flags & FI_FETCH_ATOMIC) != 0 ? AtomicUse::fetch
                                                         : AtomicUse::write;
  if ((flags & FI_TAGGED) != 0 || !atomic_offered(op, type, use)) return -FI_EOPNOTSUPP;
  attributes->size = atomic_element_bytes(type);
  attributes->count = most_atomic_bytes / attributes->size;
  return 0;
}
int no_collectives(fid_domain*, fi_collective_op, fi_collective_attr*, std::uint64_t) {
  return -FI_ENOSYS;
}
int open_endpoint2(fid_domain* domain, fi_info* info, fid_ep** endpoint, std::uint64_t, void* context) {
  return open_endpoint(domain, info, endpoint, context);
}

fi_ops domain_fid_ops = object_calls(close_domain, bind_domain);
fi_ops_domain domain_ops = {sizeof(fi_ops_domain), open_names,   open_cq,        open_endpoint,
                            no_scalable_endpoint,  open_counter, no_poll_set,    no_shared_transmit,
                            no_shared_receive,     query_atomic, no_collectives, open_endpoint2};

int open_domain(fid_fabric*, fi_info*, fid_domain** domain, void* context) {
  auto* made = new Domain();
  made->fid.fid = {FI_CLASS_DOMAIN, context, &domain_fid_ops};
  made->fid.ops = &domain_ops;
  made->fid.mr = &region_ops;
  *domain = &made->fid;
  return 0;
}
int open_domain2(fid_fabric* fabric, fi_info* info, fid_domain** domain, std::uint64_t, void* context) {
  return open_domain(fabric, info, domain, context);
}

int close_fabric(fid* object) {
  delete reinterpret_cast<fid_fabric*>(object);
  return 0;
}
int no_passive_endpoint(fid_fabric*, fi_info*, fid_pep**, void*) {
  return -FI_ENOSYS;
}
int no_wait_set(fid_fabric*, fi_wait_attr*, fid_wait**) {
  return -FI_ENOSYS;
}

/// An application may sleep on its queues' descriptors only when nothing is in them: the progress thread wakes it.
int try_wait(fid_fabric*, fid** objects, int count) {
  for (int i = 0; i < count; ++i) {
    if (objects[i]->fclass != FI_CLASS_CQ) continue;
    auto* cq = reinterpret_cast<Cq*>(objects[i]);
    cq->sources.progress();
    const std::lock_guard lock(cq->mutex);
    if (cq->head != cq->entries.size() || !cq->errors.empty()) return -FI_EAGAIN;
  }
  return 0;
}

fi_ops fabric_fid_ops = object_calls(close_fabric);
fi_ops_fabric fabric_ops = {sizeof(fi_ops_fabric), open_domain, no_passive_endpoint, open_eq,
                            no_wait_set,           try_wait,    open_domain2};

}  // namespace

int open_fabric(fi_fabric_attr*, fid_fabric** fabric, void* context) {
  auto* made = new fid_fabric();
  made->fid = {FI_CLASS_FABRIC, context, &fabric_fid_ops};
  made->ops = &fabric_ops;
  *fabric = made;
  return 0;
}

}  // namespace holdfast::transport::ofi
