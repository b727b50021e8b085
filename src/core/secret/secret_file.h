#pragma once

#include <string>

#include "core/secret/key.h"
#include "core/status/status.h"

namespace holdfast::secret {

/// A key that nobody has had before, from the kernel's generator.
Key new_key();

/// The key in a file: at least 32 hexadecimal digits, which are 128 bits, and at most 1,024, on one line. The file must
/// belong to this user, or to root, and nobody else may read or write it. Errors: not_found, bad_input, io.
Result<Key> read_key(const std::string& path);

/// Writes the key to a new file of mode 0600. Errors: io, also when there is something of that name already.
Status write_key(const std::string& path, const Key& key);

}  // namespace holdfast::secret
