#include "replicate/libc/descriptors.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <unordered_set>

namespace holdfast::replicate {

namespace {

std::array<std::atomic<const std::string*>, most_descriptors> names;

/// Each name once, and for good: another thread may be looking at it.
const std::string* kept(const std::string& name) {
  static std::mutex mutex;
  static auto* all = new std::unordered_set<std::string>();
  const std::lock_guard hold(mutex);
  return &*all->insert(name).first;
}

std::atomic<const std::string*>* place_of(int descriptor) {
  return static_cast<unsigned>(descriptor) < most_descriptors ? &names[static_cast<std::size_t>(descriptor)] : nullptr;
}

}  // namespace

void name_descriptor(int descriptor, const std::string& name) {
  if (auto* const place = place_of(descriptor)) place->store(kept(name), std::memory_order_release);
}

void name_descriptor_like(int from, int to) {
  if (auto* const place = place_of(to)) place->store(name_of_descriptor(from), std::memory_order_release);
}

void forget_name(int descriptor) {
  if (auto* const place = place_of(descriptor)) place->store(nullptr, std::memory_order_relaxed);
}

const std::string* name_of_descriptor(int descriptor) {
  const auto* const place = place_of(descriptor);
  return place ? place->load(std::memory_order_acquire) : nullptr;
}

}  // namespace holdfast::replicate
