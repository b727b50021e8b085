#pragma once

#include <cstdint>
#include <string>

namespace holdfast::replicate {

/// Where the program, or a library of it, called a function that Holdfast stands for: the last few return addresses
/// outside Holdfast, each by the name of its library and its offset there, so that replicas that load the same files
/// find the same, wherever these are in memory. What a compiler at run time has made (a JIT) has no such name.

/// A number of it; alike for the same places.
std::uint32_t call_site();

/// For a diagnosis: "clock_reading (libguile-3.0.so.1), called by ...": the innermost first. Empty where nothing is
/// known.
std::string call_site_text();

}  // namespace holdfast::replicate
