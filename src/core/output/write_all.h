#pragma once

#include <string_view>

namespace holdfast::output {

/// Writes all of it to a descriptor; 0, or the errno of the first write that failed. A descriptor that is not ready is
/// waited for. A limit of file size (RLIMIT_FSIZE) is an error like a full disk, not a signal that ends the process;
/// whether a reader that has gone is one (EPIPE) or ends the process is SIGPIPE's disposition, as ever. Any thread.
int write_all(int to, std::string_view text);

}  // namespace holdfast::output
