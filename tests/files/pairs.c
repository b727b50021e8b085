/* Every pair of ways to use one file, in both orders: streams of the C library, descriptors, names (unlink, rename),
 * MPI-IO, and a child process. The first of a pair is rank 0's, the second rank 1's (what MPI does together, all do).
 * After each, the file is read back in three ways, and rank 0 prints what was found. Each pair has two files: "old-..."
 * is there when the program begins, where the one who calls it has made it, "new-..." is not. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank;
static int failed; /* what was tried last, at this rank */

/* `actor`: whether this rank does what one rank does. */
typedef void Act(const char* file, const char* other, int actor);

static void by_stream(const char* file, const char* other, int actor) {
  (void)other;
  if (!actor) return;
  FILE* stream = fopen(file, "a");
  fputs("stream\n", stream);
  fclose(stream);
}

static void by_new_stream(const char* file, const char* other, int actor) {
  (void)other;
  if (!actor) return;
  FILE* stream = fopen(file, "w");
  fputs("new stream\n", stream);
  fclose(stream);
}

static void by_descriptor(const char* file, const char* other, int actor) {
  (void)other;
  if (!actor) return;
  const int descriptor = open(file, O_RDWR | O_CREAT, 0644);
  (void)!pwrite(descriptor, "Descriptor", 10, 1);
  close(descriptor);
}

static void by_mpi(const char* file, const char* other, int actor) {
  (void)other, (void)actor;
  MPI_File handle;
  MPI_Offset length;
  if (MPI_File_open(MPI_COMM_WORLD, file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &handle) != MPI_SUCCESS) {
    failed = 1;
    return;
  }
  MPI_File_get_size(handle, &length);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_write_at(handle, length + 4 * rank, rank ? "two\n" : "one\n", 4, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&handle);
}

static void by_child(const char* file, const char* other, int actor) {
  char line[300];
  (void)other;
  if (!actor) return;
  snprintf(line, sizeof line, "echo child >> %s", file);
  failed = system(line) != 0;
}

static void by_unlink(const char* file, const char* other, int actor) {
  (void)other;
  if (actor) failed = unlink(file) == 0 ? 0 : errno;
}

static void by_deletion(const char* file, const char* other, int actor) {
  (void)other;
  if (actor) failed = MPI_File_delete(file, MPI_INFO_NULL) != MPI_SUCCESS;
}

static void by_removing_child(const char* file, const char* other, int actor) {
  char line[300];
  (void)other;
  if (!actor) return;
  snprintf(line, sizeof line, "rm %s 2>&-", file);
  failed = system(line) != 0;
}

static void by_rename(const char* file, const char* other, int actor) {
  if (actor) failed = rename(file, other) == 0 ? 0 : errno;
}

static void by_renaming_child(const char* file, const char* other, int actor) {
  char line[600];
  if (!actor) return;
  snprintf(line, sizeof line, "mv %s %s 2>&-", file, other);
  failed = system(line) != 0;
}

static const struct {
  const char* name;
  Act* act;
  int renames;
} ways[] = {
    {"stream", by_stream, 0},         {"newstream", by_new_stream, 0},
    {"descriptor", by_descriptor, 0}, {"mpi", by_mpi, 0},
    {"child", by_child, 0},           {"unlink", by_unlink, 0},
    {"deletion", by_deletion, 0},     {"rmchild", by_removing_child, 0},
    {"rename", by_rename, 1},         {"mvchild", by_renaming_child, 1},
};
enum { many = sizeof ways / sizeof *ways };

static void show(const char* how, const char* file, const char* text) {
  if (rank != 0) return;
  printf("%s by %s:", file, how);
  for (; *text; ++text) putchar(*text == '\n' ? '/' : *text);
  putchar('\n');
}

/* What each way of reading finds. Rank 1 reads, too: both must find the same. */
static void look(const char* file, int also_a_child) {
  char text[1000] = "(nothing)", command[300];
  struct stat status;
  FILE* stream = fopen(file, "r");
  if (stream) {
    text[fread(text, 1, sizeof text - 1, stream)] = 0;
    fclose(stream);
  }
  show("stream", file, text);
  snprintf(text, sizeof text, "%ld", stat(file, &status) == 0 ? (long)status.st_size : -1L);
  show("stat", file, text);

  MPI_File handle;
  MPI_Status got;
  int bytes;
  strcpy(text, "(nothing)");
  if (MPI_File_open(MPI_COMM_WORLD, file, MPI_MODE_RDONLY, MPI_INFO_NULL, &handle) == MPI_SUCCESS) {
    MPI_File_read_at(handle, 0, text, sizeof text - 1, MPI_CHAR, &got);
    MPI_Get_count(&got, MPI_CHAR, &bytes);
    text[bytes] = 0;
    MPI_File_close(&handle);
  }
  show("MPI", file, text);

  if (!also_a_child || rank != 0) return;
  snprintf(command, sizeof command, "cat %s 2>&- || echo '(nothing)'", file);
  stream = popen(command, "r");
  text[fread(text, 1, sizeof text - 1, stream)] = 0;
  pclose(stream);
  show("child", file, text);
}

static void use(int way, const char* file, const char* other, int actor) {
  int any;
  failed = 0;
  ways[way].act(file, other, actor);
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %s: %d\n", file, ways[way].name, any);
}

static void try_pair(const char* age, int first, int second) {
  char file[200], other[220];
  snprintf(file, sizeof file, "%s-%s-%s", age, ways[first].name, ways[second].name);
  snprintf(other, sizeof other, "%s-other", file);
  use(first, file, other, rank == 0);
  look(file, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  use(second, file, other, rank == 1);
  look(file, 1);
  if (ways[first].renames || ways[second].renames) look(other, 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int first = 0; first < many; ++first) {
    for (int second = 0; second < many; ++second) {
      if (argc > 1 && strcmp(argv[1], ways[first].name) != 0) continue;
      if (argc > 2 && strcmp(argv[2], ways[second].name) != 0) continue;
      try_pair("old", first, second);
      try_pair("new", first, second);
    }
  }
  MPI_Finalize();
  return 0;
}
