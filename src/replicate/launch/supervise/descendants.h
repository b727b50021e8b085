#pragma once

#include <sys/types.h>

#include <chrono>
#include <vector>

namespace holdfast::launch {

/// All living processes of this host that descend from `ancestor`, without it. Zombies are left out. Linux: reads
/// /proc.
std::vector<pid_t> descendants(pid_t ancestor);

/// Makes orphans among the descendants of this process its children, so that none escapes end_descendants(). While it
/// lives, launchers' strays can be found whatever process group or session they moved to.
class Subreaper {
 public:
  Subreaper();
  ~Subreaper();
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;

 private:
  int before_ = 0;
};

/// Ends every descendant of this process and reaps them: lets them end by themselves for `linger`, then SIGTERM, then
/// after `grace` SIGKILL. Returns how many had to be sent a signal. Requires a Subreaper. Bounded: linger + grace and a
/// little.
int end_descendants(std::chrono::milliseconds linger, std::chrono::milliseconds grace);

}  // namespace holdfast::launch
