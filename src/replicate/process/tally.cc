#include "replicate/process/tally.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <string>

#include "replicate/process/depth.h"
#include "replicate/process/job.h"

namespace holdfast::replicate {

namespace {

// "holdfast-counted JOB NAME NAME...\n", zeros up to half of the page, then a number for each name, as the host has
// them.
constexpr std::size_t most_bytes = 65536;  // of a page
constexpr std::size_t numbers_at = 2048;
alignas(most_bytes) std::byte page[most_bytes];

std::string header() {
  std::string line = "holdfast-counted " + job_identity();
  for (const event::CounterRow& row : counter_rows) line += " " + std::string(row.name);
  return line + "\n";
}

}  // namespace

Counters& tallied_counters() {
  static Counters* const counters = new (page + numbers_at) Counters;
  return *counters;
}

void tally_in_file(int rank, int replica) {
  const char* directory = run_directory();
  const std::string names = header();
  const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (!directory || names.size() > numbers_at || bytes > most_bytes) return;
  const Depth inside;
  const std::string path = std::string(directory) + "/counted-" + std::to_string(rank) + "." + std::to_string(replica);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  (void)tallied_counters();
  std::memcpy(page, names.data(), names.size());
  if (::write(file, page, bytes) == static_cast<ssize_t>(bytes))
    (void)::mmap(page, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  ::close(file);
}

}  // namespace holdfast::replicate
