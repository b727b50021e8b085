/* Two ranks that go on until a signal comes, as codes do that write a checkpoint before their time is over: its handler
 * sets a flag, of which all learn by a collective. Processes of the replicas get it at different steps.
 *
 * signals self FIRST LATER   process n gets SIGUSR1 at step FIRST + n * LATER
 * signals outside            the file `ready` says that it may come
 * signals alarm              a timer of the program's own
 * signals wait               one that no collective call follows, for which the program waits
 * signals child              a child's are its own */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "replica.h"

static volatile sig_atomic_t came = 0, sender = 0;

static void note(int number, siginfo_t* info, void* context) {
  sender = context == NULL || info->si_signo != number;
  came = number;
}

/* Another process, which sends this one a signal when it is told to. */
static int told_to[2], sent[2];

static void start_sender(void) {
  char number = 0;
  if (pipe(told_to) != 0 || pipe(sent) != 0 || fork() != 0) return;
  close(told_to[1]);
  while (read(told_to[0], &number, 1) == 1) {
    kill(getppid(), number);
    if (write(sent[1], &number, 1) != 1) break;
  }
  _exit(0);
}

static void get(int signal) {
  char number = (char)signal;
  if (write(told_to[1], &number, 1) != 1 || read(sent[0], &number, 1) != 1) printf("no sender\n");
}

static void handle(int number) {
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = note;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(number, &action, NULL);
  sigaction(number, NULL, &before);
  if (before.sa_sigaction != note || before.sa_flags != action.sa_flags) printf("another handler is told\n");
}

/* The step at whose end it had come, and what was computed by then. */
static void go_on(int rank, int raised_at) {
  double value = rank, all = 0;
  int own = 0, told = 0, step = 0;
  for (; told == 0; ++step) {
    if (step == raised_at) get(SIGUSR1);
    own = came;
    MPI_Allreduce(&own, &told, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < 100000; ++i) value = value * 0.999 + 0.001 * i;
  }
  MPI_Reduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("signal %d %s step %d: %.17g %d\n", told, raised_at < 0 ? "by" : "at", step, all, (int)sender);
}

static void in_child(int rank) {
  int status = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGUSR1);
    _exit(came == SIGUSR1 ? 7 : 1);
  }
  waitpid(child, &status, 0);
  if (rank == 0) printf("the child ended with %d, and here %d came\n", WEXITSTATUS(status), (int)came);
}

int main(int argc, char** argv) {
  int rank;
  start_sender();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* what = argc > 1 ? argv[1] : "outside";
  handle(SIGUSR1);
  handle(SIGTERM);
  signal(SIGALRM, SIG_IGN);
  if (strcmp(what, "self") == 0) {
    go_on(rank, atoi(argv[2]) + native_rank() * atoi(argv[3]));
  } else if (strcmp(what, "outside") == 0) {
    if (rank == 0) fclose(fopen("ready", "w"));
    go_on(rank, -1);
  } else if (strcmp(what, "alarm") == 0) {
    const struct itimerval later = {{0, 0}, {0, 300000}};
    handle(SIGALRM);
    setitimer(ITIMER_REAL, &later, NULL);
    go_on(rank, -1);
  } else if (strcmp(what, "wait") == 0) {
    get(SIGTERM);
    while (came == 0) usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("waited for signal %d\n", (int)came);
  } else {
    in_child(rank);
  }
  close(told_to[1]);
  MPI_Finalize();
  return 0;
}
