#include "replicate/process/call_site.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unwind.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "replicate/process/depth.h"

namespace holdfast::replicate {

namespace {

/// Enough to tell a program's own reading from one that an interpreter or a collector makes for itself by way of the
/// same helper function.
constexpr int frames_of_site = 4;
constexpr int frames_of_text = 4;

/// Names of return addresses; 0 for Holdfast's own, 1 for code that is in no file.
constexpr std::uint32_t own_code = 0;
constexpr std::uint32_t nameless_code = 1;

std::string_view file_name(const char* path) {
  const std::string_view whole = path ? path : "";
  return whole.substr(whole.rfind('/') + 1);
}

const void* own_base() {
  static const void* const base = [] {
    Dl_info here{};
    return ::dladdr(reinterpret_cast<const void*>(&call_site), &here) ? here.dli_fbase : nullptr;
  }();
  return base;
}

std::uint32_t find_name(std::uintptr_t address) {
  Dl_info place{};
  if (!::dladdr(reinterpret_cast<const void*>(address), &place)) return nameless_code;
  if (place.dli_fbase == own_base()) return own_code;
  std::uint64_t name = address - reinterpret_cast<std::uintptr_t>(place.dli_fbase);
  for (const char letter : file_name(place.dli_fname))
    name = (name ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  const auto folded = static_cast<std::uint32_t>(name ^ (name >> 32));
  return folded > nameless_code ? folded : folded + 2;
}

/// What a thread has looked up. A library that is closed, and another one at its place, only make two sites look like
/// one.
struct Known {
  std::uintptr_t address = 0;
  std::uint32_t name = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<Known, 64> known{};

std::uint32_t name_of(std::uintptr_t address) {
  Known& entry = known[(address ^ (address >> 8)) % known.size()];
  if (entry.address != address) entry = {address, find_name(address)};
  return entry.name;
}

struct Walk {
  std::uint32_t site = 0;
  int left = frames_of_site;
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* given) {
  Walk& walk = *static_cast<Walk*>(given);
  const std::uintptr_t address = _Unwind_GetIP(context);
  if (address == 0) return _URC_END_OF_STACK;
  const std::uint32_t name = name_of(address);
  if (name == own_code) return walk.left == frames_of_site ? _URC_NO_REASON : _URC_END_OF_STACK;
  walk.site = (walk.site ^ name) * 0x9e3779b1U;
  walk.site ^= walk.site >> 15;
  return name == nameless_code || --walk.left == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
}

_Unwind_Reason_Code collect(_Unwind_Context* context, void* given) {
  auto& addresses = *static_cast<std::vector<std::uintptr_t>*>(given);
  const std::uintptr_t address = _Unwind_GetIP(context);
  if (address == 0) return _URC_END_OF_STACK;
  const std::uint32_t name = name_of(address);
  if (name == own_code) return addresses.empty() ? _URC_NO_REASON : _URC_END_OF_STACK;
  if (name == nameless_code) return _URC_END_OF_STACK;
  addresses.push_back(address);
  return addresses.size() == frames_of_text ? _URC_END_OF_STACK : _URC_NO_REASON;
}

std::string place_text(std::uintptr_t address) {
  Dl_info place{};
  if (!::dladdr(reinterpret_cast<const void*>(address - 1), &place)) return "";
  const std::string in = std::string(file_name(place.dli_fname));
  if (place.dli_sname) {
    int status = 0;
    char* const plain = abi::__cxa_demangle(place.dli_sname, nullptr, nullptr, &status);
    std::string name = status == 0 && plain ? plain : place.dli_sname;
    std::free(plain);
    constexpr std::size_t longest = 80;
    if (name.size() > longest) name = name.substr(0, longest - 3) + "...";
    return name + " (" + in + ")";
  }
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%zx",
                static_cast<std::size_t>(address - reinterpret_cast<std::uintptr_t>(place.dli_fbase)));
  return in + offset;
}

}  // namespace

std::uint32_t call_site() {
  Walk walk;
  _Unwind_Backtrace(step, &walk);
  return walk.site;
}

std::string call_site_text() {
  std::vector<std::uintptr_t> addresses;
  _Unwind_Backtrace(collect, &addresses);
  std::string text;
  for (const std::uintptr_t address : addresses) {
    const std::string place = place_text(address);
    if (place.empty()) break;
    text += (text.empty() ? "" : ", called by ") + place;
  }
  return text;
}

}  // namespace holdfast::replicate
