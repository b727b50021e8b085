// Values that steer a program and come from the operating system: random numbers, process ids, the host's name, read
// before MPI_Init and after it. Each rank sends what it read round the ring and gets it back; under replication every
// copy must be the same. Prints "chance: PASSED" when what comes back is what was sent, when no two ranks drew the same
// numbers, and when a signal that a rank sends to its own process id reaches it.
#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <vector>

#include "program.h"

namespace {

volatile sig_atomic_t signalled = 0;

struct Reading {
  uint64_t drawn[4];
  unsigned char bytes[13];
  unsigned char device[3][24];  // by open(2), fopen(3) and std::ifstream
  long process;
  char host[64];
  char node[64];
};

void read_device(unsigned char (&numbers)[3][24]) {
  const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (read(file, numbers[0], sizeof numbers[0]) != sizeof numbers[0]) abort();
  close(file);
  FILE* stream = fopen("/dev/urandom", "rb");
  if (!stream || fread(numbers[1], sizeof numbers[1], 1, stream) != 1) abort();
  fclose(stream);
  std::ifstream device("/dev/random", std::ios::binary);
  if (!device.read(reinterpret_cast<char*>(numbers[2]), sizeof numbers[2])) abort();
}

Reading read_all() {
  Reading reading;
  memset(&reading, 0, sizeof reading);
  std::random_device device;
  for (uint64_t& word : reading.drawn) word = uint64_t{device()} << 32 | device();
  if (getrandom(reading.bytes, sizeof reading.bytes, 0) != sizeof reading.bytes) reading.bytes[0] = 0;
  read_device(reading.device);
  reading.process = getpid();
  gethostname(reading.host, sizeof reading.host - 1);
  struct utsname system;
  uname(&system);
  snprintf(reading.node, sizeof reading.node, "%.63s", system.nodename);
  return reading;
}

}  // namespace

int main(int argc, char** argv) {
  Reading before = read_all();
  memset(before.host, 0, sizeof before.host);  // replicas may run on different hosts until they can ask each other
  memset(before.node, 0, sizeof before.node);
  MPI_Init(&argc, &argv);
  signal(SIGUSR1, [](int) { signalled = 1; });
  kill(getpid(), SIGUSR1);
  const Reading readings[] = {before, read_all()};
  read_options(argc, argv, "Sends random numbers, process ids and host names round a ring.", nullptr, 0);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  int wrong = !signalled || readings[0].process != readings[1].process ||
              memcmp(readings[0].drawn, readings[1].drawn, sizeof before.drawn) == 0 ||
              memcmp(readings[0].device, readings[1].device, sizeof before.device) == 0;
  Reading travelling[2];
  memcpy(travelling, readings, sizeof readings);
  for (int hop = 0; hop < ranks; ++hop) {
    MPI_Sendrecv_replace(travelling, sizeof travelling, MPI_BYTE, (rank + 1) % ranks, 1, (rank + ranks - 1) % ranks, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (hop + 1 == ranks) break;
    wrong += memcmp(travelling[0].drawn, before.drawn, sizeof before.drawn) == 0;
    wrong += memcmp(travelling[0].device, before.device, sizeof before.device) == 0;
  }
  wrong += memcmp(travelling, readings, sizeof readings) != 0;
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("chance: %s\n", all == 0 ? "PASSED" : "FAILED");
  MPI_Finalize();
  return all != 0;
}
