/* Prints in the ways that C programs do, from before MPI_Init until after main(). In the replicas that --bad names it
 * prints one other character than it should, to the stream that --on names. Only one rank prints, so that the launcher
 * has nothing to mix: rank 0, and with --bad rank 1.
 *
 * usage: printer [--bad REPLICA[,REPLICA...]] [--alike] [--on stdout|stderr] [--threads] [--ask] [--process]
 * [--terminals] */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "../programs/replica.h"

static int rank, ranks, bad, replica = -1;

static int launched_rank(void) {
  return native_rank() < 0 ? 0 : native_rank();
}

static int early_rank(void) {
  const char* all = getenv("HOLDFAST_RUN_RANKS");
  return all == NULL ? launched_rank() : launched_rank() % atoi(all);
}

static void find_replica(const char* list) {
  if (getenv("HOLDFAST_REPLICATE_DEGREE") == NULL) return;
  replica = launched_rank() / ranks;
  for (const char* at = list; *at != '\0'; at += strcspn(at, ","), at += *at == ',')
    if (atoi(at) == replica) bad = 1;
}

static void put(const char* text) {
  if (write(STDOUT_FILENO, text, strlen(text)) < 0) perror("write");
}

static void at_exit(void) {
  printf("from an exit handler\n");
}

/* In the order of the calls: what the C library keeps back is flushed where another way of writing comes next. */
static void in_every_way(void) {
  printf("printf %d\n", 1);
  puts("puts");
  putchar('c');
  fputs("haracters\n", stdout);
  fflush(stdout);
  put("write\n");
  struct iovec pieces[] = {{(void*)"in two ", 7}, {(void*)"pieces\n", 7}};
  if (writev(STDOUT_FILENO, pieces, 2) < 0) perror("writev");
  dprintf(STDOUT_FILENO, "dprintf\n");
  dprintf(STDOUT_FILENO, "%2000s|\n", "wide");
  fprintf(stderr, "to standard error\n");
  errno = ENOENT;
  perror("perror");
  fflush(stdout);
  fflush(stderr);
}

/* Away from standard output and back to it. */
static void around(void) {
  const int kept = dup(STDOUT_FILENO);
  const int file = open("aside.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(file, STDOUT_FILENO);
  close(file);
  printf("aside\n");
  fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  printf("and back\n");
  fflush(stdout);
}

/* What a child prints is not this program's, unless it reads it from the child and prints it itself. */
static void children(void) {
  char line[64] = "";
  FILE* child_says = popen("echo a child says", "r");
  if (child_says == NULL || fgets(line, sizeof line, child_says) == NULL) perror("popen");
  pclose(child_says);
  printf("%s", line);
  if (system("echo a child of process $$ >&2") != 0) perror("system");
  const pid_t child = fork();
  if (child == 0) {
    char text[64];
    const int length = snprintf(text, sizeof text, "a copy, %ld\n", (long)child + (long)getppid());
    if (write(STDERR_FILENO, text, (size_t)length) < 0) _exit(1);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

static void* print_lines(void* name) {
  for (int i = 0; i < 200; ++i) printf("thread %s line %d\n", (const char*)name, i);
  return NULL;
}

static void threads(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, print_lines, (void*)"one");
  pthread_create(&two, NULL, print_lines, (void*)"two");
  pthread_join(one, NULL);
  pthread_join(two, NULL);
}

/* Input is over when it has been read to its end; a child finds no more of it, and does not wait for any. */
static void ask(void) {
  char answer[64] = "";
  printf("What? ");
  fflush(stdout);
  if (fgets(answer, sizeof answer, stdin) == NULL) perror("fgets");
  printf("You said %s", answer);
  while (fgets(answer, sizeof answer, stdin) != NULL) printf("and %s", answer);
  fflush(stdout);
  if (system("cat >&2") != 0) perror("system");
}

/* What programs go by where they choose colours and the length of their lines. */
static void print_terminals(void) {
  for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; ++stream) {
    struct termios settings;
    struct winsize size;
    const int terminal = isatty(stream), set = tcgetattr(stream, &settings) == 0;
    const int wide = ioctl(stream, TIOCGWINSZ, &size) == 0, asked = ioctl(stream, TCGETS, &settings) == 0;
    printf("stream %d: %d %d %d %d\n", stream, terminal, set, wide, asked);
  }
}

static int has(int argc, char** argv, const char* option) {
  for (int a = 1; a < argc; ++a)
    if (strcmp(argv[a], option) == 0) return a;
  return 0;
}

int main(int argc, char** argv) {
  const int speaker = has(argc, argv, "--bad") ? 1 : 0;
  /* Still in the C library's buffer when MPI_Init comes, unless a terminal shows it. */
  if (early_rank() == speaker) printf("before MPI_Init\n");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (speaker) find_replica(argv[has(argc, argv, "--bad") + 1]);
  if (rank == speaker && rank == 0) {
    in_every_way();
    around();
    children();
    if (has(argc, argv, "--threads")) threads();
    if (has(argc, argv, "--process")) printf("process %ld\n", syscall(SYS_getpid)); /* the kernel's number */
    if (has(argc, argv, "--ask")) ask();
    if (has(argc, argv, "--terminals")) print_terminals();
  }
  const int on = has(argc, argv, "--on");
  FILE* stream = on && strcmp(argv[on + 1], "stderr") == 0 ? stderr : stdout;
  const int letter = !bad ? 'x' : has(argc, argv, "--alike") ? '#' : '0' + replica;
  if (rank == speaker) fprintf(stream, "rank %d: x = %c\n", rank, letter);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank != speaker) return 0;
  atexit(at_exit);
  printf("after MPI_Finalize\n");
  return 0;
}
