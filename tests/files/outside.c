// Files that somebody outside the job changes while it reads them again and again: what the ranks make of them must be
// the same in all replicas. Rank 0 reads a number in "control" until it is negative, and all ranks add it up.
//   outside open|stream|place
// or locks it:
//   outside lock
// or asks a program outside the job by "question", which answers by "answer", again and again, and both lock "busy":
//   outside talk
// the same in a directory that it makes:
//   outside box
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/// What stands there; 0 where nothing does yet.
static long read_number(const char* how, const char* path) {
  char text[32] = "";
  if (strcmp(how, "stream") == 0) {
    FILE* file = fopen(path, "r");
    if (!file) return 0;
    if (!fgets(text, sizeof text, file)) text[0] = '\0';
    fclose(file);
  } else {
    const int file = open(path, O_RDONLY);
    if (file < 0) return 0;
    const ssize_t length = read(file, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    close(file);
  }
  return atol(text);
}

/// The ranks count in the file "counter", in turns, and lock "control" meanwhile, which they may only read.
static long count_in_turns(int rank) {
  const int lock = open("control", O_RDONLY);
  for (int i = 0; i < 40; ++i) {
    if (rank == i % 2) {
      if (flock(lock, LOCK_EX) != 0) return -1;
      const long counted = read_number("open", "counter");
      FILE* file = fopen("counter", "w");
      fprintf(file, "%ld\n", counted + 1);
      fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);  // the lock is held until all have come
    if (rank == i % 2 && flock(lock, LOCK_UN) != 0) return -1;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const int taken = flock(lock, LOCK_EX | LOCK_NB) == 0;
  MPI_Barrier(MPI_COMM_WORLD);
  close(lock);
  int all;
  MPI_Allreduce(&taken, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all == 1 ? read_number("open", "counter") : -2;
}

/// A lock of both, which whoever has it makes and removes: a file, a directory, or a symbolic link.
static int make_lock(int kind) {
  if (kind == 1) return mkdir("busy", 0700);
  if (kind == 2) return symlink("the job", "busy");
  const int lock = open("busy", O_CREAT | O_EXCL | O_WRONLY, 0600);
  return lock < 0 ? lock : close(lock);
}

static void lock_both(int kind) {
  struct stat status;
  while (lstat("busy", &status) == 0) usleep(500);
  while (make_lock(kind) != 0) usleep(500);
}

/// A directory that the other program sends along, which is removed: what is in a file in it, and how long the texts
/// are to which the names in it lead.
static long unpack(const char* name) {
  char text[64];
  long found = 0;
  const struct dirent* entry;
  const int folder = open(name, O_RDONLY | O_DIRECTORY);
  DIR* directory = opendir(name);
  if (folder < 0 || !directory || chdir(name) != 0) return -1000000;
  while ((entry = readdir(directory)) != NULL) {
    if (entry->d_name[0] == '.') continue;
    const ssize_t length = readlink(entry->d_name, text, sizeof text);
    found += length > 0 ? length : 100 * read_number("open", entry->d_name);
    if (unlinkat(folder, entry->d_name, 0) != 0) found -= 1000000;
  }
  closedir(directory);
  close(folder);
  return chdir("..") == 0 && rmdir(name) == 0 ? found : -1000000;
}

/// What the other program answers; takes the answer away, in one way or another.
static long ask(int round) {
  const int kind = round % 4 % 3;
  lock_both(kind);
  FILE* question = fopen("question", "w");
  fprintf(question, "%d\n", round);
  fclose(question);
  if ((kind == 1 ? rmdir("busy") : unlink("busy")) != 0) return -5;
  while (access("answer", R_OK) != 0) usleep(1000);
  struct stat status;
  if (stat("answer", &status) != 0 || status.st_size < 2) return -1;
  if (round % 3 == 0 && rename("answer", "taken") != 0) return -2;
  long answer = read_number(round % 2 ? "open" : "stream", round % 3 == 0 ? "taken" : "answer");
  if (round % 3 != 0 && unlink("answer") != 0) return -3;
  if (access("parcel", F_OK) == 0) answer += unpack("parcel");
  return access("answer", F_OK) == 0 ? -4 : answer;
}

/// All ranks add up the answers. The last one stays.
static void talk(int rank) {
  long sum = 0;
  if (rank == 0) unlink("answer");  // of an earlier run, if there was one
  for (int round = 1; round <= 30; ++round) {
    long answer = rank == 0 ? ask(round) : 0;
    MPI_Bcast(&answer, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    sum += answer;
  }
  if (rank == 0) {
    FILE* question = fopen("question", "w");
    fprintf(question, "-1\n");
    fclose(question);
    while (access("answer", R_OK) != 0) usleep(1000);
    printf("sum %ld, last %ld\n", sum, read_number("open", "answer"));
  }
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // From before the job: each replica reads its own the first time, and all have when they agree on a result.
  const long first = rank == 0 ? read_number(argv[1], "control") : 0;
  long total;
  MPI_Allreduce(&first, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(argv[1], "lock") == 0) {
    const long counted = count_in_turns(rank);
    if (rank == 0) printf("counted %ld\n", counted);
    MPI_Finalize();
    return 0;
  }
  if (strcmp(argv[1], "talk") == 0 || strcmp(argv[1], "box") == 0) {
    if (strcmp(argv[1], "box") == 0 && rank == 0 && (mkdir("box", 0777) != 0 || chdir("box") != 0)) return 1;
    talk(rank);
    MPI_Finalize();
    return 0;
  }
  // Where it is overwritten in place, the replicas must have seen that once: before, each may read in the middle of it.
  if (rank == 0 && strcmp(argv[1], "place") == 0) read_number("open", "control");
  if (rank == 0) fclose(fopen("ready", "w"));
  while (rank == 0 && strcmp(argv[1], "place") == 0 && access("changed", F_OK) != 0) usleep(1000);
  long sum = 0;
  int changes = 0;
  for (long before = 0, number = 0; number >= 0;) {
    if (rank == 0) number = read_number(argv[1], "control");
    MPI_Bcast(&number, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (number > 0) sum = (sum * 31 + number) % 1000003;
    changes += number != before;
    before = number;
  }
  if (rank == 0) printf("changes %d, sum %ld\n", changes, sum);
  MPI_Finalize();
  return argc < 2;
}
