#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/ofi/address.h"
#include "transport/rail/rail_spec.h"

/// Fabric, domain, memory regions and address vectors (fi_fabric(3), fi_domain(3), fi_mr(3), fi_av(3)).
namespace holdfast::transport::ofi {

/// Memory that peers may read and write, by key and offset.
struct Region {
  fid_mr fid{};
  struct Domain* domain = nullptr;
  std::byte* base = nullptr;
  std::size_t length = 0;
  std::uint64_t access = 0;
  struct Counter* writes = nullptr;  ///< counts what peers do to it; the application's (fi_mr_bind(3))
  struct Counter* reads = nullptr;
};

struct Domain {
  fid_domain fid{};
  std::mutex mutex;    ///< of `regions`, their counters, and `endpoints`
  std::mutex atomics;  ///< held while an atomic operation changes memory
  std::unordered_map<std::uint64_t, Region*> regions;
  std::size_t endpoints = 0;            ///< that are open
  std::uint64_t next_key = 1ULL << 32;  ///< for regions that leave the choice to us
};

/// The addresses that an application has inserted, by fi_addr_t: their index.
struct Names {
  fid_av fid{};
  std::mutex mutex;
  std::vector<Address::Raw> addresses;
  std::set<std::pair<Address::Raw, fi_addr_t>> numbers;  ///< all that are not removed
  std::set<fi_addr_t> removed;
  std::atomic<std::uint64_t> removals{0};  ///< so far: what find() said may be another now

  fi_addr_t find(const Address::Raw& raw);        ///< the first of its numbers
  bool get(fi_addr_t number, Address::Raw& raw);  ///< of a removed one too: something may be under way to it
  bool is_removed(fi_addr_t number);
};

int open_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context);

/// The rails that the options name, or those that are found on this host. Errors: bad_input, unavailable.
Result<std::vector<RailSpec>> chosen_rails();

/// A partial address: only the first rail's, from a host name and a port.
Result<Address::Raw> resolve_address(const char* node, const char* service);

}  // namespace holdfast::transport::ofi
