/* Two ranks that talk by pipes with names: one from before the job, which is removed, and new ones by mkfifo and mknod,
 * one of them below a folder of the job and renamed. Rank 0 prints what came through and what is left. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank;

static void must(int result, const char* what) {
  if (result == 0) return;
  printf("%s: %s\n", what, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Opens a pipe to write once somebody reads it, and looks for that itself. */
static int open_when_read(const char* path) {
  for (;;) {
    const int descriptor = open(path, O_WRONLY | O_NONBLOCK);
    if (descriptor >= 0 || errno != ENXIO) return descriptor;
    usleep(1000);
  }
}

/* Rank 0 writes a thousand numbers into the pipe, rank 1 adds them up. */
static void talk(const char* path, int (*open_it)(const char* path)) {
  double numbers[1000];
  double sum = 0;
  struct stat status;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < 1000; ++i) numbers[i] = i;
    const int descriptor = open_it(path);
    if (write(descriptor, numbers, sizeof numbers) != sizeof numbers) printf("%s: cut off\n", path);
    close(descriptor);
  } else {
    FILE* stream = fopen(path, "r");
    if (!stream || fread(numbers, sizeof numbers, 1, stream) != 1) printf("%s: cut off\n", path);
    if (stream) fclose(stream);
    for (int i = 0; i < 1000; ++i) sum += numbers[i];
  }
  MPI_Bcast(&sum, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  must(stat(path, &status), "stat");
  if (rank == 0) printf("%s: %s, %g\n", path, S_ISFIFO(status.st_mode) ? "pipe" : "no pipe", sum);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int open_and_wait(const char* path) {
  return open(path, O_WRONLY);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) must(unlink("before"), "unlink");
  if (rank == 0) must(mkfifo("before", 0600), "mkfifo");
  talk("before", open_and_wait);
  if (rank == 1) must(mknod("new", S_IFIFO | 0640, 0), "mknod");
  talk("new", open_when_read);
  if (rank == 0) must(mkdir("folder", 0755), "mkdir");
  if (rank == 0) must(mkfifo("folder/first", 0600), "mkfifo");
  if (rank == 0) must(rename("folder/first", "folder/second"), "rename");
  talk("folder/second", open_and_wait);
  /* Nobody reads it. */
  if (rank == 0) {
    const int descriptor = open("new", O_WRONLY | O_NONBLOCK);
    printf("without a reader: %s\n", descriptor < 0 ? strerror(errno) : "opened");
    must(mkfifo("new", 0600) == -1 && errno == EEXIST ? 0 : -1, "a second one");
    must(unlink("before"), "unlink");
    must(unlink("folder/second"), "unlink");
    must(rmdir("folder"), "rmdir");
  }
  MPI_Finalize();
  return 0;
}
