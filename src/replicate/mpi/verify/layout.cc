#include "replicate/mpi/verify/layout.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

#include "real_functions.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/intercept/handle.h"
#include "replicate/mpi/verify/packing.h"
#include "replicate/mpi/verify/type_contents.h"

namespace holdfast::replicate {

namespace {

integrity::Algorithm digest_algorithm = integrity::Algorithm::xxh3_128;

/// Blocks of an indexed or struct type: true when each begins where the one before it ended. Displacements in bytes.
bool adjacent(const std::vector<MPI_Aint>& displacements, const std::vector<std::uint64_t>& lengths) {
  bool first = true;
  MPI_Aint end = 0;
  for (std::size_t i = 0; i < displacements.size(); ++i) {
    if (lengths[i] == 0) continue;
    if (!first && displacements[i] != end) return false;
    first = false;
    end = displacements[i] + static_cast<MPI_Aint>(lengths[i]);
  }
  return true;
}

/// Dense when the children are and the blocks stand one behind another in type-map order.
bool blocks_dense(const TypeContents& c, const std::vector<TypeFacts>& children) {
  const auto n = static_cast<std::size_t>(c.integers[0]);
  std::vector<MPI_Aint> displacements(n);
  std::vector<std::uint64_t> lengths(n);
  const bool in_bytes = c.combiner == MPI_COMBINER_HINDEXED || c.combiner == MPI_COMBINER_HINDEXED_BLOCK ||
                        c.combiner == MPI_COMBINER_STRUCT;
  const bool one_length = c.combiner == MPI_COMBINER_INDEXED_BLOCK || c.combiner == MPI_COMBINER_HINDEXED_BLOCK;
  for (std::size_t i = 0; i < n; ++i) {
    const TypeFacts& child = children[c.combiner == MPI_COMBINER_STRUCT ? i : 0];
    const MPI_Count count = one_length ? c.integers[1] : c.integers[1 + i];
    if (count > 0 && !(count == 1 ? child.one_dense : child.many_dense)) return false;
    lengths[i] = static_cast<std::uint64_t>(count) * child.size;
    const MPI_Aint start =
        in_bytes ? c.addresses[i] : c.integers[one_length ? 2 + i : 1 + n + i] * static_cast<MPI_Aint>(child.size);
    displacements[i] = start + child.true_lower;
  }
  return adjacent(displacements, lengths);
}

bool vector_dense(const TypeContents& c, const TypeFacts& child) {
  const MPI_Count count = c.integers[0];
  const MPI_Count block = c.integers[1];
  if (count == 0 || block == 0) return true;
  if (count == 1) return block == 1 ? child.one_dense : child.many_dense;
  const MPI_Aint stride =
      c.combiner == MPI_COMBINER_VECTOR ? c.integers[2] * static_cast<MPI_Aint>(child.size) : c.addresses[0];
  const bool block_dense = block == 1 ? child.one_dense : child.many_dense;
  const bool extent_is_size = child.many_dense || c.combiner == MPI_COMBINER_HVECTOR;
  return block_dense && extent_is_size && stride == block * static_cast<MPI_Aint>(child.size);
}

/// Whether one element of a derived type selects consecutive bytes in type-map order. False where it is not sure: then
/// the data is packed, which is always right.
bool one_element_dense(const TypeContents& c, const std::vector<TypeFacts>& children) {
  switch (c.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return children[0].one_dense;
    case MPI_COMBINER_CONTIGUOUS:
      return c.integers[0] <= 1 ? children[0].one_dense : children[0].many_dense;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
      return vector_dense(c, children[0]);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
      if (c.combiner != MPI_COMBINER_STRUCT && c.combiner != MPI_COMBINER_HINDEXED &&
          c.combiner != MPI_COMBINER_HINDEXED_BLOCK && !children[0].many_dense) {
        return false;  // displacements count in extents, which then differ from sizes
      }
      return blocks_dense(c, children);
    default:
      return false;  // subarrays and distributed arrays: not worth a special case
  }
}

/// Only a struct has children of several types; whatever else is derived selects so many elements of its one.
std::shared_ptr<const Padding> padding_of(const TypeContents& c, const std::vector<TypeFacts>& children) {
  if (c.combiner != MPI_COMBINER_STRUCT) return children.empty() ? nullptr : children[0].padding;
  std::vector<Padding::Part> parts;
  for (std::size_t i = 0; i < children.size(); ++i)
    parts.push_back({static_cast<std::uint64_t>(c.integers[i + 1]) * children[i].size, children[i].padding});
  return Padding::of_parts(parts);
}

TypeFacts decode(MPI_Datatype type) {
  TypeFacts facts;
  MPI_Count size = 0;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  real().Type_size_x(type, &size);
  real().Type_get_extent(type, &lower, &extent);
  real().Type_get_true_extent(type, &true_lower, &true_extent);
  facts.size = static_cast<std::uint64_t>(size);
  facts.true_lower = true_lower;
  facts.one_dense = size == true_extent;
  if (size > 0) {
    const TypeContents contents(type);
    if (contents.combiner == MPI_COMBINER_NAMED) {
      facts.padding = Padding::of_predefined(type);
    } else {
      std::vector<TypeFacts> children;
      for (const MPI_Datatype child : contents.types) children.push_back(decode(child));
      facts.one_dense = facts.one_dense && one_element_dense(contents, children);
      facts.padding = padding_of(contents, children);
    }
  }
  facts.many_dense = facts.one_dense && extent == size;
  return facts;
}

std::unordered_map<std::uint64_t, TypeFacts>& cache() {
  static auto* facts = new std::unordered_map<std::uint64_t, TypeFacts>();  // lives until the process ends
  return *facts;
}

struct LastType {
  std::uint64_t key = 0;
  const TypeFacts* facts = nullptr;
};
LastType last_type;

std::vector<std::byte>& scratch() {
  static auto* bytes = new std::vector<std::byte>();
  return *bytes;
}

/// Inverts a bit through the kernel, which may write where the mapping forbids it (constant send buffers).
void flip_in_memory(std::byte* address, unsigned bit) {
  const auto value = static_cast<std::byte>(std::to_integer<unsigned>(*address) ^ (1U << bit));
  const int memory = ::open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
  if (memory >= 0) {
    const auto offset = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(address));
    const bool written = ::pwrite(memory, &value, 1, offset) == 1;
    ::close(memory);
    if (written) return;
  }
  *address = value;
}

}  // namespace

const TypeFacts& type_facts(MPI_Datatype type) {
  const std::uint64_t key = handle_key(type);
  if (last_type.facts && last_type.key == key) return *last_type.facts;
  auto found = cache().find(key);
  if (found == cache().end()) found = cache().emplace(key, decode(type)).first;
  last_type = {key, &found->second};
  return found->second;
}

void forget_type(MPI_Datatype type) {
  last_type = {};
  cache().erase(handle_key(type));
}

void free_type(MPI_Datatype& type) {
  forget_type(type);
  real().Type_free(&type);
}

Region Region::borrow(const void* buffer, std::uint64_t count, MPI_Datatype type) {
  Region region;
  if (count == 0 || type == MPI_DATATYPE_NULL) return region;
  const TypeFacts& facts = type_facts(type);
  region.count_ = count;
  region.size_ = facts.size;
  region.type_ = type;
  region.dense_ = count == 1 ? facts.one_dense : facts.many_dense;
  region.buffer_ = static_cast<std::byte*>(const_cast<void*>(buffer));
  region.padding_ = facts.padding;
  if (region.dense_) region.buffer_ += facts.true_lower;
  return region;
}

Region Region::packed(const void* elements, std::uint64_t count, MPI_Datatype type) {
  Region region;
  if (count == 0) return region;
  const TypeFacts& facts = type_facts(type);
  region.count_ = count;
  region.size_ = facts.size;
  region.padding_ = facts.padding;
  region.buffer_ = static_cast<std::byte*>(const_cast<void*>(elements));
  return region;
}

Region Region::keep(const void* buffer, std::uint64_t count, MPI_Datatype type) {
  Region region = borrow(buffer, count, type);
  if (!region.dense_) {
    real().Type_dup(type, &region.type_);
    region.owned_ = true;
  }
  return region;
}

Region::Region(Region&& other) noexcept {
  *this = std::move(other);
}

Region& Region::operator=(Region&& other) noexcept {
  std::swap(buffer_, other.buffer_);
  std::swap(count_, other.count_);
  std::swap(size_, other.size_);
  std::swap(limit_, other.limit_);
  std::swap(type_, other.type_);
  std::swap(padding_, other.padding_);
  std::swap(dense_, other.dense_);
  std::swap(owned_, other.owned_);
  return *this;
}

Region::~Region() {
  if (owned_) real().Type_free(&type_);
}

/// Calls act(memory, elements, offset in packed bytes) for parts that MPI's int counts of bytes can hold.
template <class Act>
void Region::for_each_part(std::uint64_t elements, Act act) const {
  constexpr std::uint64_t most = INT_MAX;
  if (size_ > most) {
    fail(Incident::refused, "verifying a message of non-contiguous elements of " + std::to_string(size_) +
                                " bytes each: MPI packs at most 2147483647: use elements that are smaller");
  }
  MPI_Aint lower = 0, extent = 0;
  real().Type_get_extent(type_, &lower, &extent);
  const std::uint64_t at_once = most / size_;
  for (std::uint64_t done = 0; done < elements; done += at_once) {
    act(buffer_ + static_cast<MPI_Aint>(done) * extent, static_cast<int>(std::min(at_once, elements - done)),
        done * size_);
  }
}

bool Region::torn_by(std::uint64_t length) const {
  return !dense_ && ends_within_element(type_, length);
}

Ballot Region::ballot(std::uint64_t length) const {
  if (!padding_) return whole_ballot(length);
  gather(length, scratch());
  padding_->mask(scratch());
  return ballot_of(scratch());
}

Ballot Region::whole_ballot(std::uint64_t length) const {
  if (dense_) return ballot_of({buffer_, length});
  gather(length, scratch());
  return ballot_of(scratch());
}

Ballot Region::ballot_of_copy(std::span<const std::byte> packed) const {
  if (!padding_) return ballot_of(packed);
  scratch().assign(packed.begin(), packed.end());
  padding_->mask(scratch());
  return ballot_of(scratch());
}

void Region::gather(std::uint64_t length, std::vector<std::byte>& out) const {
  if (dense_) {
    out.assign(buffer_, buffer_ + length);
    return;
  }
  if (length == 0) {
    out.clear();  // Open MPI packs no nothing
    return;
  }
  const std::uint64_t elements = (length + size_ - 1) / size_;
  out.resize(elements * size_);
  for_each_part(elements, [&](std::byte* part, int n, std::uint64_t at) {
    int position = 0;
    pack(part, n, type_, out.data() + at, n * static_cast<int>(size_), &position, MPI_COMM_SELF);
  });
  out.resize(length);
}

void Region::scatter(std::span<const std::byte> in) const {
  if (in.empty()) return;
  if (dense_) {
    std::memcpy(buffer_, in.data(), in.size());
    return;
  }
  std::vector<std::byte> whole;
  const std::uint64_t elements = (in.size() + size_ - 1) / size_;
  gather(elements * size_, whole);  // a last element that arrived in part keeps the rest of its bytes
  std::copy(in.begin(), in.end(), whole.begin());
  for_each_part(elements, [&](std::byte* part, int n, std::uint64_t at) {
    int position = 0;
    unpack(whole.data() + at, n * static_cast<int>(size_), &position, part, n, type_, MPI_COMM_SELF);
  });
}

bool Region::restore(std::span<const std::byte> in, std::uint64_t own_bytes) const {
  if (!padding_ || !padding_->has_addresses()) {
    scatter(in);
    return true;
  }
  std::vector<std::byte> own;
  gather(std::min(own_bytes, bytes()), own);
  std::vector<std::byte> copy(in.begin(), in.end());
  const bool known = padding_->keep_addresses(copy, own);
  if (known) scatter(copy);
  return known;
}

bool Region::any_address() const {
  if (!padding_ || !padding_->has_addresses()) return false;
  std::vector<std::byte> own;
  gather(bytes(), own);
  return padding_->any_address(own);
}

void Region::flip(std::uint64_t bit) const {
  if (dense_) {
    flip_in_memory(buffer_ + bit / 8, static_cast<unsigned>(bit % 8));
    return;
  }
  std::vector<std::byte> packed;
  gather(bytes(), packed);
  packed[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  scatter(packed);
}

const void* copy_without_padding(const void* buffer, std::uint64_t count, MPI_Datatype type,
                                 std::vector<std::byte>& memory) {
  MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  real().Type_get_extent(type, &lower, &extent);
  real().Type_get_true_extent(type, &true_lower, &true_extent);
  const MPI_Aint reach = static_cast<MPI_Aint>(count - 1) * extent;  // negative extents put later elements before
  memory.assign(static_cast<std::size_t>(true_extent + std::abs(reach)), std::byte{0});
  const std::byte* address = memory.data() - true_lower - std::min<MPI_Aint>(reach, 0);
  std::vector<std::byte> values;
  const Region from = Region::borrow(buffer, count, type);
  from.gather(from.bytes(), values);
  if (const auto& padding = type_facts(type).padding) padding->clear(values);
  Region::borrow(address, count, type).scatter(values);
  return address;
}

void set_digest_algorithm(integrity::Algorithm chosen) {
  digest_algorithm = chosen;
}

Ballot ballot_of(std::span<const std::byte> bytes) {
  return {integrity::digest(digest_algorithm, bytes), bytes.size(), true};
}

}  // namespace holdfast::replicate
