#pragma once

#include <cstddef>
#include <string>

namespace holdfast::replicate {

/// Which file of the program each descriptor leads to, as far as replicas agree on what they open (files.h): so that
/// they agree on what they are told of an open file, too.

inline constexpr std::size_t most_descriptors = 65536;  ///< from this number on they are not followed

void name_descriptor(int descriptor, const std::string& name);
/// `to` leads where `from` does.
void name_descriptor_like(int from, int to);
void forget_name(int descriptor);
/// Null for others. Any thread; without taking memory.
const std::string* name_of_descriptor(int descriptor);

}  // namespace holdfast::replicate
