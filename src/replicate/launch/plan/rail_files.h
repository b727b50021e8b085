#pragma once

#include <string>

namespace holdfast::launch {

/// Removes what processes that were killed have left of a rail `shm` on this host: libfabric's shm provider (1.17)
/// keeps a file of 16 MiB for each endpoint, /dev/shm/PID:UID:NUMBER, and removes it when the endpoint is closed, not
/// when its process is gone. Files of this user alone, of processes that there are not, and that nobody has mapped.
/// Nothing where not all processes of the host are seen (in a PID namespace): one of another could have that number.
/// `place`: where to look; it has no symbolic link in it.
void remove_left_rail_files(const std::string& place = "/dev/shm");

}  // namespace holdfast::launch
