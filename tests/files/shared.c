/* Two ranks that share memory, semaphores and message queues by names, keys and numbers, and one piece of memory that
 * somebody else has made. Rank 0 adds to what is there, so that ranks of several replicas in one memory would add
 * several times. Rank 0 prints what came of each. Usage: shared NAME KEY; NAME-outside is there. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <mqueue.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

enum { numbers = 1000, steps = 20 };

static int rank;

static void must(int good, const char* what) {
  if (good) return;
  printf("%s: %s\n", what, strerror(errno));
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void add_up(const char* what, double* shared) {
  double own = 0, all = 0;
  must(shared != MAP_FAILED && shared != (void*)-1, what);
  for (int step = 0; step < steps; ++step) {
    if (rank == 0)
      for (int i = 0; i < numbers; ++i) shared[i] += i;
    MPI_Barrier(MPI_COMM_WORLD);
    own = 0;
    for (int i = 0; i < numbers; ++i) own += shared[i];
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%s: %.0f\n", what, all);
}

/* Twice, since a name may be used again once it was removed. */
static void by_name(const char* name) {
  for (int time = 0; time < 2; ++time) {
    int memory = -1;
    if (rank == 0) {
      memory = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
      must(memory >= 0 && ftruncate(memory, numbers * sizeof(double)) == 0, "shm_open");
      must(shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600) == -1 && errno == EEXIST, "a second one");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) memory = shm_open(name, O_RDWR, 0);
    must(memory >= 0, "shm_open");
    double* shared = mmap(NULL, numbers * sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    add_up("by name", shared);
    munmap(shared, numbers * sizeof(double));
    close(memory);
    if (rank == 0) must(shm_unlink(name) == 0, "shm_unlink");
    MPI_Barrier(MPI_COMM_WORLD);
    must(shm_open(name, O_RDWR, 0) == -1 && errno == ENOENT, "after it was removed");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void by_key(const char* what, key_t key) {
  int number = -1;
  if (rank == 0) number = shmget(key, numbers * sizeof(double), IPC_CREAT | IPC_EXCL | 0600);
  if (rank == 0) must(number >= 0, "shmget");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0 && key != IPC_PRIVATE) number = shmget(key, 0, 0600);
  if (key == IPC_PRIVATE) MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double* shared = shmat(number, NULL, 0);
  add_up(what, shared);
  shmdt(shared);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) must(shmctl(number, IPC_RMID, NULL) == 0, "shmctl");
}

/* Rank 1 waits for what rank 0 posts, and nobody else does. */
static void semaphores(const char* name, key_t key) {
  sem_t* by_name = SEM_FAILED;
  int number = -1, left = -1;
  if (rank == 0) by_name = sem_open(name, O_CREAT | O_EXCL, 0600, 2);
  if (rank == 0) number = semget(key, 2, IPC_CREAT | IPC_EXCL | 0600);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) by_name = sem_open(name, 0);
  if (rank != 0) number = semget(key, 2, 0600);
  must(by_name != SEM_FAILED && number >= 0, "semaphores");
  struct sembuf one = {1, rank == 0 ? 1 : -1, 0};
  const struct timespec long_enough = {60, 0};
  for (int i = 0; i < 5; ++i) {
    must((rank == 0 ? sem_post(by_name) : sem_wait(by_name)) == 0, "sem_post");
    must((i % 2 ? semop(number, &one, 1) : semtimedop(number, &one, 1, &long_enough)) == 0, "semop");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  must(sem_getvalue(by_name, &left) == 0, "sem_getvalue");
  const int of_key = semctl(number, 1, GETVAL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("semaphores: %d and %d left\n", left, of_key);
  if (rank == 0) must(sem_unlink(name) == 0 && semctl(number, 0, IPC_RMID) == 0, "sem_unlink");
  sem_close(by_name);
}

/* Rank 0 sends numbers by two queues, and rank 1 adds up what comes: nothing is left. */
static void queues(const char* name, key_t key) {
  struct mq_attr small = {.mq_maxmsg = 8, .mq_msgsize = sizeof(int)};
  struct message {
    long type;
    int number;
  } sent = {1, 0};
  struct msqid_ds status;
  int number = -1, came = 0, sum = 0;
  mqd_t by_name = -1;
  if (rank == 0) by_name = mq_open(name, O_CREAT | O_RDWR, 0600, &small);
  if (rank == 0) number = msgget(key, IPC_CREAT | 0600);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) by_name = mq_open(name, O_RDWR);
  if (rank != 0) number = msgget(key, 0600);
  must(by_name >= 0 && number >= 0, "queues");
  for (int i = 1; i <= 5; ++i) {
    sent.number = i;
    if (rank == 0) must(mq_send(by_name, (const char*)&i, sizeof i, 1) == 0, "mq_send");
    if (rank == 0) must(msgsnd(number, &sent, sizeof sent.number, 0) == 0, "msgsnd");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; rank != 0 && i <= 5; ++i) {
    must(mq_receive(by_name, (char*)&came, sizeof came, NULL) == sizeof came, "mq_receive");
    must(msgrcv(number, &sent, sizeof sent.number, 0, 0) == sizeof sent.number, "msgrcv");
    sum = 10 * sum + came + sent.number;
  }
  MPI_Bcast(&sum, 1, MPI_INT, 1, MPI_COMM_WORLD);
  must(mq_getattr(by_name, &small) == 0 && msgctl(number, IPC_STAT, &status) == 0, "mq_getattr");
  if (rank == 0) printf("queues: %d, %ld and %lu left\n", sum, small.mq_curmsgs, status.msg_qnum);
  mq_close(by_name);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) must(mq_unlink(name) == 0 && msgctl(number, IPC_RMID, NULL) == 0, "mq_unlink");
}

/* A file where the memory of shm_open() is, by its path. */
static void by_path(const char* name) {
  char path[200];
  snprintf(path, sizeof path, "/dev/shm%s-path", name);
  int memory = -1;
  if (rank == 0) memory = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (rank == 0) must(memory >= 0 && ftruncate(memory, numbers * sizeof(double)) == 0, path);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) memory = open(path, O_RDWR);
  add_up("by path", mmap(NULL, numbers * sizeof(double), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0));
  close(memory);
  if (rank == 0) must(unlink(path) == 0, "unlink");
}

/* Somebody else's memory is the same for all. */
static void from_outside(const char* name) {
  char text[8] = "";
  const int memory = shm_open(name, O_RDONLY, 0);
  must(memory >= 0 && read(memory, text, 7) == 7, "from outside");
  close(memory);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("from outside: %s\n", text);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  must(argc == 3, "usage: shared NAME KEY");
  const key_t key = (key_t)atol(argv[2]);
  char outside[200];
  char long_name[256];
  snprintf(outside, sizeof outside, "%s-outside", argv[1]);
  snprintf(long_name, sizeof long_name, "%s%0*d", argv[1], (int)(250 - strlen(argv[1])), 0);
  by_name(argv[1]);
  by_name(long_name);
  by_path(argv[1]);
  by_key("by key", key);
  by_key("by number", IPC_PRIVATE);
  semaphores(argv[1], key);
  semaphores(long_name, key);
  queues(argv[1], key);
  queues(long_name, key);
  from_outside(outside);
  MPI_Finalize();
  return 0;
}
