/* What the system tells a process, in a program whose replicas do not ask equally often and are not alike: each has
 * another amount of memory in use, and other readings of clocks in between. Each rank sends round the ring what it was
 * told, so that replicas that were told different things are found out. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "replica.h"
#include "scenarios.h"

static char* ballast;

/* Sends the bytes once round; whether they come back as they were. */
static int round_trip(void* bytes, int length) {
  char* travelling = malloc((size_t)length);
  memcpy(travelling, bytes, (size_t)length);
  for (int hop = 0; hop < ranks; ++hop) {
    MPI_Sendrecv_replace(travelling, length, MPI_BYTE, (rank + 1) % ranks, 1, (rank + ranks - 1) % ranks, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const int same = memcmp(travelling, bytes, (size_t)length) == 0;
  free(travelling);
  return same;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* As a collector of memory does: reads clocks, another number of times in each replica, and keeps what it reads. */
static __attribute__((noinline)) void stray_readings(int times) {
  static volatile double kept;
  struct timespec now;
  for (int i = 0; i < times; ++i) {
    clock_gettime(i % 2 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
    kept = kept + (double)now.tv_nsec;
  }
}

/* Loops that last until a time, with stray readings before, in and after them, more here, fewer there. */
static void stray_clocks(void) {
  const int replica = own_replica() < 0 ? 0 : own_replica();
  for (int step = 0; step < 30; ++step) {
    double read[4] = {0, 0, 0, 0};
    stray_readings(step % 3 == replica ? step + 1 : replica);
    const double start = seconds();
    while (seconds() - start < 0.0005) {
      ++read[0];
      if ((int)read[0] % 8 == replica) stray_readings(1);
    }
    stray_readings((step + replica) % 4);
    read[1] = start;
    read[2] = MPI_Wtime();
    read[3] = seconds() - start;
    CHECK(read[3] >= 0.0005 && read[3] < 100);
    stray_readings((step * 7 + replica) % 5);
    CHECK(round_trip(read, sizeof read));
  }
}

/* A replica that reads a clock once more than its leader hears whether there is an answer, although the leader is
 * inside a collective by then that waits, by way of the other rank, for what this replica does next. */
static void stray_before_collective(void) {
  const int replica = own_replica() < 0 ? 0 : own_replica();
  for (int step = 0; step < 30; ++step) {
    int number = step;
    if (replica > 0 && rank == 0) stray_readings(1);
    if (rank == 0) MPI_Send(&number, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&number, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(number == step);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* Works for so long, by the real clock. */
static void compute(double seconds_of_work) {
  struct timespec start, now;
  volatile double kept = 1;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &start);
  do {
    for (int i = 0; i < 1000000; ++i) kept = kept * 1.0000001 + 1e-9;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec) < seconds_of_work);
}

/* For longer than the silence limit: a replica asks the system what its leader does not ask, before all compute. */
static void stray_before_long_work(void) {
  if (own_replica() > 0) stray_readings(1);
  compute(5);
  int number = rank;
  CHECK(round_trip(&number, sizeof number));
}

/* One replica, of rank 1, computes for longer than the silence limit while all others wait for it. */
static void one_works_long(void) {
  if (own_replica() == 0 && rank == 1) compute(5);
  int number = rank;
  CHECK(round_trip(&number, sizeof number));
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The leader sleeps for longer than the silence limit, as all do; one of them asks before. */
static void stray_before_long_sleep(void) {
  if (own_replica() > 0) stray_readings(1);
  sleep(5);
  int number = rank;
  CHECK(round_trip(&number, sizeof number));
}

/* Names for temporary files, and the kernel's UUID, are made up: before MPI_Init as well. */
enum { name_kinds = 4, name_length = 64 };
static char names[2][name_kinds * name_length];

/* By their names, since the linker warns of the functions. */
static void make_names(char* into) {
  char* (*const temporary_name)(const char*, const char*) =
      (char* (*)(const char*, const char*))dlsym(RTLD_DEFAULT, "tempnam");
  char* (*const any_name)(char*) = (char* (*)(char*))dlsym(RTLD_DEFAULT, "tmpnam");
  char* (*const fill_in)(char*) = (char* (*)(char*))dlsym(RTLD_DEFAULT, "mktemp");
  memset(into, 0, name_kinds * name_length);
  char* const made = temporary_name("/tmp", "names");
  snprintf(into, name_length, "%s", made);
  free(made);
  any_name(into + name_length);
  strcpy(into + 2 * name_length, "/tmp/name-XXXXXX");
  fill_in(into + 2 * name_length);
  FILE* const file = fopen("/proc/sys/kernel/random/uuid", "r");
  if (fscanf(file, "%40s", into + 3 * name_length) != 1) into[3 * name_length] = 0;
  fclose(file);
}

static void names_of_files(void) {
  make_names(names[1]);
  for (int i = 0; i < name_kinds; ++i) {
    const char* const early = names[0] + i * name_length;
    const char* const late = names[1] + i * name_length;
    CHECK(strlen(early) > 8 && strlen(late) == strlen(early) && strcmp(early, late) != 0);
    CHECK(i == 3 || access(late, F_OK) != 0);
  }
  CHECK(names[1][3 * name_length + 14] == '4' && strlen(names[1] + 3 * name_length) == 36);
  CHECK(round_trip(names, sizeof names));
}

/* A child has its own answers; it must not ask in its parent's name, with its parent's connections. */
static void children(void) {
  for (int step = 0; step < 5; ++step) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
      struct rusage used;
      double sum = MPI_Wtime();
      for (int i = 0; i < 20; ++i) sum += seconds() + (double)time(NULL) + (double)clock();
      const int failed = getrusage(RUSAGE_SELF, &used) != 0 || getppid() == getpid() || !(sum > 0);
      _exit(failed ? 1 : 0);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(getpid() == parent);
    double now = seconds();
    CHECK(round_trip(&now, sizeof now));
  }
}

static void* number_of_a_thread(void* number) {
  *(long*)number = gettid();
  return number;
}

static long own_number;

static void still_has_its_number(void) {
  if (getpid() == own_number) return;
  fprintf(stderr, "another process id in an exit handler: %ld\n", (long)getpid());
  _exit(9);
}

/* Who this process is: the same in all replicas, and of use in the calls that take it. */
static void numbers(void) {
  long told[2] = {getpid(), gettid()};
  CHECK(told[0] == told[1]); /* the first thread's */
  own_number = told[0];
  CHECK(atexit(still_has_its_number) == 0);
  CHECK(round_trip(told, sizeof told));
  cpu_set_t processors;
  CHECK(sched_getaffinity(getpid(), sizeof processors, &processors) == 0);
  CHECK(sched_setaffinity(gettid(), sizeof processors, &processors) == 0);
  struct sched_param how;
  CHECK(sched_getscheduler(getpid()) == SCHED_OTHER && sched_getparam(gettid(), &how) == 0);
  CHECK(sched_setscheduler(getpid(), SCHED_OTHER, &how) == 0 && sched_setparam(gettid(), &how) == 0);
  errno = 0;
  const int priority = getpriority(PRIO_PROCESS, (id_t)getpid());
  CHECK(errno == 0 && setpriority(PRIO_PROCESS, (id_t)gettid(), priority) == 0);
  CHECK(getpgid(getpid()) == getpgid(0) && getsid(getpid()) == getsid(0));
  CHECK(kill(getpid(), 0) == 0 && tgkill(getpid(), gettid(), 0) == 0);
  CHECK(kill((1 << 30) | (getpid() ^ 1), 0) == -1 && errno == ESRCH);  // nobody's, whatever this one is told
  long other = -1;
  pthread_t thread;
  pthread_create(&thread, NULL, number_of_a_thread, &other);
  pthread_join(thread, NULL);
  CHECK(other > 0 && other != told[1]);
}

static atomic_int stop;

static void* reads_clocks(void* unused) {
  while (!atomic_load(&stop)) {
    (void)seconds();
    (void)time(NULL);
    usleep(50);
  }
  return unused;
}

/* A thread that has nothing to do with MPI reads clocks. */
static void clocks_of_a_thread(void) {
  pthread_t thread;
  atomic_store(&stop, 0);
  pthread_create(&thread, NULL, reads_clocks, NULL);
  for (int step = 0; step < 50; ++step) {
    double now[2] = {seconds(), (double)time(NULL)};
    CHECK(round_trip(now, sizeof now));
  }
  atomic_store(&stop, 1);
  pthread_join(thread, NULL);
}

static void file_of_kernel(const char* path) {
  char text[1 << 16];
  memset(text, 0, sizeof text);
  FILE* file = fopen(path, "r");
  CHECK(file != NULL);
  if (file == NULL) return;
  const size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  CHECK(length > 0);
  CHECK(round_trip(text, sizeof text));
  memset(text, 0, sizeof text);
  const int descriptor = open(path, O_RDONLY);
  CHECK(descriptor >= 0 && read(descriptor, text, sizeof text) > 0);
  close(descriptor);
  CHECK(round_trip(text, sizeof text));
}

static void files_of_kernel(void) {
  const char* paths[] = {"/proc/self/statm", "/proc/self/status", "/proc/self/io",   "/proc/meminfo",
                         "/proc/loadavg",    "/proc/stat",        "/proc/uptime",    "/proc/vmstat",
                         "/proc/cpuinfo",    "/proc/self/sched",  "/proc/interrupts"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
    if (access(paths[i], R_OK) == 0) file_of_kernel(paths[i]);
  }
  char own[64];
  snprintf(own, sizeof own, "/proc/%d/statm", (int)getpid());
  file_of_kernel(own);
  FILE* none = fopen("/proc/self/no_such_file", "r");
  CHECK(none == NULL);
}

/* The addresses in /proc/self/stat are each process's own; the rest is the leader's. */
static void own_addresses(void) {
  char text[4096];
  memset(text, 0, sizeof text);
  FILE* file = fopen("/proc/self/stat", "r");
  CHECK(file != NULL && fgets(text, sizeof text, file) != NULL);
  if (file) fclose(file);
  const char* at = strrchr(text, ')');
  unsigned long long stack = 0, memory = 0;
  long faults = 0;
  CHECK(at != NULL);
  if (at == NULL) return;
  int field = 2;
  for (at = strchr(at, ' '); at != NULL; at = strchr(at + 1, ' ')) {
    ++field;
    if (field == 10) faults = atol(at);
    if (field == 23) memory = strtoull(at, NULL, 10);
    if (field == 28) stack = strtoull(at, NULL, 10);
  }
  const unsigned long long here = (unsigned long long)(uintptr_t)&stack;
  CHECK(stack > here && stack - here < (8ULL << 20));
  CHECK(memory > 0);
  unsigned long long told[2] = {memory, (unsigned long long)faults};
  CHECK(round_trip(told, sizeof told));
}

static void host(void) {
  struct {
    struct sysinfo host;
    double loads[3];
    long pages;
    int processor;
    unsigned number, node;
  } told;
  for (int i = 0; i < 20; ++i) {
    memset(&told, 0, sizeof told);
    CHECK(sysinfo(&told.host) == 0);
    CHECK(getloadavg(told.loads, 3) == 3);
    told.pages = sysconf(_SC_AVPHYS_PAGES);
    CHECK(told.pages > 0);
    told.processor = sched_getcpu();
    CHECK(getcpu(&told.number, &told.node) == 0);
    CHECK(round_trip(&told, sizeof told));
  }
}

static void usage(void) {
  struct {
    struct rusage own;
    struct tms used;
    clock_t ticks, processor;
    struct mallinfo2 heap;
    int parent;
  } told;
  for (int i = 0; i < 20; ++i) {
    memset(&told, 0, sizeof told);
    CHECK(getrusage(RUSAGE_SELF, &told.own) == 0 && told.own.ru_maxrss > 0);
    told.ticks = times(&told.used);
    told.processor = clock();
    told.heap = mallinfo2();
    told.parent = (int)getppid();
    CHECK(round_trip(&told, sizeof told));
  }
}

static void file_systems(void) {
  struct {
    struct statfs one;
    struct statvfs other, open;
  } told;
  for (int i = 0; i < 20; ++i) {
    memset(&told, 0, sizeof told);
    CHECK(statfs("/", &told.one) == 0 && told.one.f_bsize > 0);
    CHECK(statvfs("/proc", &told.other) == 0);
    CHECK(fstatvfs(0, &told.open) == 0);
    CHECK(round_trip(&told, sizeof told));
    CHECK(statfs("/no/such/folder", &told.one) == -1);
  }
}

/* What the launcher's variables say is who this process is in the program's world. */
static void environment(void) {
  const char* names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}};
  for (int i = 0; i < 2; ++i) {
    const char* own = getenv(names[i][0]);
    const char* all = getenv(names[i][1]);
    if (own == NULL || all == NULL) continue;
    CHECK(atoi(own) == rank);
    CHECK(atoi(all) == ranks);
  }
}

/* Holdfast's own, which are listed in docs/reference/agreed.md: kept for those that the program starts, and for MPI. */
static int each_replicas_own(const char* variable) {
  return strncmp(variable, "HOLDFAST_RUN_LAUNCHED=", 22) == 0 || strncmp(variable, "HOLDFAST_RUN_PLACED=", 20) == 0 ||
         strstr(variable, "_backing_directory=") != NULL;
}

/* All variables as a program sees them that looks for itself, as Python does. */
static void whole_environment(void) {
  static char all[1 << 16];
  size_t length = 0;
  for (char** each = environ; *each != NULL; ++each) {
    const size_t more = strlen(*each) + 1;
    if (each_replicas_own(*each) || length + more > sizeof all) continue;
    memcpy(all + length, *each, more);
    length += more;
    char name[256];
    const size_t end = strcspn(*each, "=");
    snprintf(name, sizeof name, "%.*s", (int)end, *each);
    CHECK(end >= sizeof name || (getenv(name) != NULL && strcmp(getenv(name), *each + end + 1) == 0));
  }
  CHECK(length > 100);
  CHECK(getenv("HOLDFAST_RUN_LAUNCHED") == NULL);
  CHECK(round_trip(all, sizeof all)); /* ranks may have lengths of their own */
}

static const struct Scenario scenarios[] = {{"stray_clocks", stray_clocks},
                                            {"stray_before_collective", stray_before_collective},
                                            {"children", children},
                                            {"numbers", numbers},
                                            {"clocks_of_a_thread", clocks_of_a_thread},
                                            {"files_of_kernel", files_of_kernel},
                                            {"own_addresses", own_addresses},
                                            {"host", host},
                                            {"usage", usage},
                                            {"file_systems", file_systems},
                                            {"names_of_files", names_of_files},
                                            {"environment", environment},
                                            {"whole_environment", whole_environment}};

/* Take their time: only where they are asked for. */
static const struct Scenario long_work[] = {{"stray_before_long_work", stray_before_long_work},
                                            {"one_works_long", one_works_long},
                                            {"stray_before_long_sleep", stray_before_long_sleep}};

/* Programs start themselves again to set their environment; MPI must still be told who the process is. */
static void start_again(char** argv) {
  if (argv[1] == NULL || strcmp(argv[1], "environment") != 0 || getenv("SYSTEM_ANSWERS_AGAIN") != NULL) return;
  setenv("SYSTEM_ANSWERS_AGAIN", "yes", 1);
  execv("/proc/self/exe", argv);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "--version") == 0) return 0;  // without MPI
  start_again(argv);
  make_names(names[0]);
  MPI_Init(&argc, &argv);
  const size_t weight = ((size_t)(own_replica() + 2)) << 22;
  ballast = malloc(weight);
  memset(ballast, 1, weight);
  const int code = argc > 1 && strcmp(argv[1], "long") == 0
                       ? run_scenarios(1, argv, long_work, sizeof long_work / sizeof *long_work)
                       : run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  free(ballast);
  MPI_Finalize();
  return code;
}
