/* Sends memory that it never set, and addresses: under --same-memory all replicas have the same. What was there is what
 * the program itself, the C library, MPI and Holdfast left. Each scenario says what it looks at after calls of all
 * kinds. */
#include <stdint.h>

#include "scenarios.h"

enum { rounds = 20, text_bytes = 512 };

static int right;

/* Calls of MPI, of which how many steps they take, and what they allocate, depends on when messages come. */
static void communicate(int round) {
  const int count = 1 + (round * 37) % 900;
  int* all = malloc((size_t)(count * ranks) * sizeof(int));
  int* own = calloc((size_t)count, sizeof(int));
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Request requests[2];
  int from = 0;
  const int word = rank; /* a flip strikes what is sent, which is not what the program steers by */
  MPI_Irecv(&from, 1, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&word, 1, MPI_INT, right, round, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
  free(own);
  free(all);
}

/* A file, written and read: Holdfast answers for those (another path in each replica). */
static void write_file(int round) {
  char name[64];
  snprintf(name, sizeof name, "unset-%d.txt", rank);
  FILE* file = fopen(name, round == 0 ? "w" : "a");
  if (!file) MPI_Abort(MPI_COMM_WORLD, 1);
  fprintf(file, "round %d\n", round);
  fclose(file);
}

__attribute__((noinline)) static void give(const void* memory, int bytes) {
  char* came = malloc((size_t)bytes);
  const int left = (rank + ranks - 1) % ranks;
  MPI_Sendrecv(memory, bytes, MPI_BYTE, right, 3, came, bytes, MPI_BYTE, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(came);
}

/* Leaves addresses on the stack: its own, the heap's, the C library's. */
__attribute__((noinline)) static uintptr_t leave_traces(int depth, const void* heap) {
  volatile uintptr_t trace[64];
  for (int i = 0; i < 64; ++i) trace[i] = i % 3 == 0 ? (uintptr_t)&trace[i] : (uintptr_t)(i % 3 == 1 ? heap : stdout);
  return depth > 0 ? leave_traces(depth - 1, heap) + trace[depth] : trace[1];
}

/* A string in a long variable, as Fortran programs broadcast them, and a structure with gaps. */
__attribute__((noinline)) static void send_unset_locals(int round) {
  char text[text_bytes];
  struct {
    char kind;
    double value;
    short code;
  } gaps;
  text[0] = (char)('a' + round);
  gaps.kind = 'k';
  gaps.value = round;
  gaps.code = 1;
  give(text, sizeof text);
  give(&gaps, sizeof gaps);
}

static void stack(void) {
  for (int round = 0; round < rounds; ++round) {
    communicate(round);
    send_unset_locals(round); /* what MPI left */
    void* block = malloc(100);
    volatile uintptr_t sum = leave_traces(5, block);
    (void)sum;
    send_unset_locals(round); /* what the program left */
    write_file(round);
    send_unset_locals(round); /* what Holdfast left in a call of the C library */
    printf("round %d\n", round);
    send_unset_locals(round);
    free(block);
  }
}

/* Arguments that nobody passed, as printf() saves them in its frame: what the last call left in their registers. */
__attribute__((noinline)) static void send_registers(void) {
#ifdef __x86_64__
  uintptr_t saved[8];
  __asm__ volatile(
      "movq %%rcx, 0(%%rax)\n movq %%rdx, 8(%%rax)\n movq %%rsi, 16(%%rax)\n movq %%rdi, 24(%%rax)\n"
      "movq %%r8, 32(%%rax)\n movq %%r9, 40(%%rax)\n movq %%r10, 48(%%rax)\n movq %%r11, 56(%%rax)\n"
      :
      : "a"(saved)
      : "memory");
  give(saved, sizeof saved);
#endif
}

static void registers(void) {
  for (int round = 0; round < rounds; ++round) {
    communicate(round);
    MPI_Barrier(MPI_COMM_WORLD);
    send_registers();
    write_file(round);
    send_registers();
    void* volatile block = malloc(100);
    free(block);
    send_registers();
  }
}

static void heap(void) {
  static const int sizes[] = {8, 24, 100, 513, 5000, 70000, 1 << 20};
  for (int round = 0; round < rounds; ++round) {
    communicate(round);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
      char* block = malloc((size_t)sizes[i]);
      block[0] = 'x';
      give(block, sizes[i]);
      free(block);
      MPI_Alloc_mem(sizes[i], MPI_INFO_NULL, &block);
      block[0] = 'y';
      give(block, sizes[i]);
      MPI_Free_mem(block);
    }
  }
}

static void addresses(void) {
  static int of_the_program;
  for (int round = 0; round < rounds; ++round) {
    communicate(round);
    int local = round;
    void* small = malloc(40);
    void* large = malloc(3 << 20);
    void* from_mpi;
    MPI_Alloc_mem(1000 * (round + 1), MPI_INFO_NULL, &from_mpi);
    const uintptr_t places[] = {(uintptr_t)&local,          (uintptr_t)small,   (uintptr_t)large,
                                (uintptr_t)&of_the_program, (uintptr_t)&strlen, (uintptr_t)&MPI_Barrier,
                                (uintptr_t)stdout,          (uintptr_t)from_mpi};
    give(places, sizeof places);
    if (rank == 0 && round == 0) printf("%p %p %p\n", (void*)&local, small, large);
    if (round % 2 == 0) free(large);
    if (round % 3 == 0) MPI_Free_mem(from_mpi);
    free(small);
  }
}

int main(int argc, char** argv) {
  char from_the_start[2000]; /* what was on the stack before the program */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right = (rank + 1) % ranks;
  from_the_start[0] = 'm';
  if (argc < 2) give(from_the_start, sizeof from_the_start);
  const struct Scenario scenarios[] = {
      {"stack", stack}, {"registers", registers}, {"heap", heap}, {"addresses", addresses}};
  const int code = run_scenarios(argc, argv, scenarios, 4);
  MPI_Finalize();
  return code;
}
