/* A library whose constructor reads the time of day, as UCX's does, more than a million times and not equally often in
 * any two processes. What the program itself reads later must not depend on it. */
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

__attribute__((constructor)) static void read_clock(void) {
  struct timeval now;
  const long readings = 1000000 + 1000L * (getpid() % 1000);
  for (long i = 0; i < readings; ++i) gettimeofday(&now, NULL);
}
