/* Writes files in the ways that programs do, reads them back, and prints what it finds. The output and the files must
 * be the same with and without replication. In the replicas that --bad names it writes other bytes than it should.
 *
 * usage: writer [--bad REPLICA[,REPLICA...]] [--alike] [--die] [--map] [--stays-open] [--scratch] */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../programs/replica.h"

static int rank, ranks, bad, alike, mapped, replica = -1;

static void find_replica(const char* list) {
  if (getenv("HOLDFAST_REPLICATE_DEGREE") == NULL) return;
  replica = native_rank() < 0 ? -1 : native_rank() / ranks;
  for (const char* at = list; *at != '\0'; at += strcspn(at, ","), at += *at == ',')
    if (atoi(at) == replica) bad = 1;
}

static void show(const char* what, long value) {
  if (rank == 0) printf("%s: %ld\n", what, value);
}

/* What is in a file, as one number. */
static long contents(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return -errno;
  long sum = 0, at = 0;
  for (int byte; (byte = fgetc(file)) != EOF;) sum = (sum + ++at * byte) % 1000003;
  fclose(file);
  return sum;
}

static void standard_streams(void) {
  FILE* file = fopen("stream.txt", "w");
  for (int i = 0; i < 1000; ++i) fprintf(file, "line %d\n", i);
  if (bad && !mapped) {
    fseek(file, 1234, SEEK_SET);
    fputc(alike ? '#' : '0' + replica, file);
  }
  fclose(file);
  if (mapped) { /* where no call writes it */
    const int descriptor = open("stream.txt", O_RDWR);
    char* bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (bad) bytes[1234] = alike ? '#' : '0' + replica;
    munmap(bytes, 4096);
    close(descriptor);
  }
  file = fopen("before.log", "a");
  fprintf(file, "one more line\n");
  fclose(file);
  file = freopen("again.txt", "w", fopen("stream.txt", "r"));
  fprintf(file, "opened again\n");
  fclose(file);
}

/* The input of this run is the output of the last one, and overwritten at once. */
static void restart(void) {
  show("restart before", contents("restart.dat"));
  int file = open("restart.dat", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  for (int i = 0; i < 100; ++i)
    if (write(file, &i, sizeof i) != (ssize_t)sizeof i) perror("write");
  close(file);
  show("restart after", contents("restart.dat"));
}

static void checkpoints(void) {
  for (int step = 0; step < 3; ++step) {
    FILE* file = fopen("checkpoint.new", "w");
    fprintf(file, "step %d\n", step);
    fclose(file);
    rename("checkpoint", "checkpoint.old");
    show("renamed", rename("checkpoint.new", "checkpoint"));
  }
  show("draft is gone", access("checkpoint.new", F_OK));
  show("old", contents("checkpoint.old"));
  show("unlink", unlink("checkpoint.old"));
  show("unlink again", unlink("checkpoint.old"));
}

static void directories(void) {
  show("mkdir", mkdir("results", 0755));
  show("mkdir again", mkdir("results", 0755));
  show("chdir", chdir("results"));
  char folder[4096];
  if (getcwd(folder, sizeof folder) == NULL) perror("getcwd");
  show("works in results", strcmp(strrchr(folder, '/'), "/results"));
  for (int i = 0; i < 5; ++i) {
    char name[32];
    snprintf(name, sizeof name, "part-%d", i);
    close(creat(name, 0644));
  }
  symlink("part-4", "latest");
  unlink("part-0");
  show("through the link", contents("latest"));
  DIR* directory = opendir(".");
  int names = 0;
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;) names += entry->d_name[0] != '.';
  closedir(directory);
  show("names", names);
  show("chdir back", chdir(".."));
  mkdir("scratch", 0755);
  show("rmdir", rmdir("scratch"));
  char temporary[] = "temporary-XXXXXX";
  int file = mkstemp(temporary);
  show("mkstemp", file < 0);
  close(file);
  show("its removal", remove(temporary));
  truncate("long.dat", 10);
  struct stat status;
  stat("long.dat", &status);
  show("truncated to", status.st_size);
}

/* A log that is closed at the end of the program: one wrong byte in its middle. */
static void log_that_stays_open(void) {
  FILE* file = rank == 0 ? fopen("long.log", "w") : NULL;
  for (int i = 0; i < 4000 && file != NULL; ++i)
    fprintf(file, "a line of forty characters, number %06d\n", bad && i == 2500 ? replica : i);
  fflush(NULL);
  for (int i = 0, all = 0; i < 1000; ++i) MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (file != NULL) show("closed", fclose(file));
}

/* Nothing of it is left at the end of the job. */
static void scratch_file(void) {
  const int file = open("scratch.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
  char bytes[300] = "";
  if (bad) bytes[200] = (char)(1 + replica);
  if (pwrite(file, bytes, sizeof bytes, 100) != (ssize_t)sizeof bytes) perror("pwrite");
  close(file);
  rename("scratch.tmp", "scratch.old");
  unlink("scratch.old");
}

/* All ranks write their own part of one file. */
static void one_file(void) {
  int file = open("shared.dat", O_RDWR | O_CREAT, 0644);
  long part[1000];
  for (int i = 0; i < 1000; ++i) part[i] = 1000 * rank + i;
  if (pwrite(file, part, sizeof part, (off_t)sizeof part * rank) != (ssize_t)sizeof part) perror("pwrite");
  MPI_Barrier(MPI_COMM_WORLD);
  if (pread(file, part, sizeof part, (off_t)sizeof part * ((rank + 1) % ranks)) != (ssize_t)sizeof part)
    perror("pread");
  close(file);
  long first = part[0], all = 0;
  MPI_Allreduce(&first, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  show("first numbers", all);
}

/* One of the ranks makes the directory, whichever comes first. */
static void race(void) {
  int code = mkdir("race", 0755), made = code == 0, all = 0;
  MPI_Allreduce(&made, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  show("made by", all);
  char name[32];
  snprintf(name, sizeof name, "race/rank-%d", rank);
  FILE* file = fopen(name, "w");
  fprintf(file, "rank %d\n", rank);
  fclose(file);
  MPI_Barrier(MPI_COMM_WORLD);
  struct stat status;
  int seen = 0;
  for (int r = 0; r < ranks; ++r) {
    snprintf(name, sizeof name, "race/rank-%d", r);
    seen += stat(name, &status) == 0;
  }
  show("seen", seen);
}

int main(int argc, char** argv) {
  FILE* early = fopen("early.txt", "w"); /* before the replicas can talk */
  if (early != NULL) fclose(early);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int die = 0, stays_open = 0, scratch = 0;
  for (int a = 1; a < argc; ++a) {
    if (strcmp(argv[a], "--alike") == 0) alike = 1;
    if (strcmp(argv[a], "--die") == 0) die = 1;
    if (strcmp(argv[a], "--map") == 0) mapped = 1;
    if (strcmp(argv[a], "--stays-open") == 0) stays_open = 1;
    if (strcmp(argv[a], "--scratch") == 0) scratch = 1;
    if (strcmp(argv[a], "--bad") == 0 && a + 1 < argc) find_replica(argv[++a]);
  }
  if (scratch) {
    if (rank == 0) scratch_file();
  } else if (stays_open) {
    log_that_stays_open();
  } else if (rank == 0) {
    standard_streams();
    restart();
    checkpoints();
    directories();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  one_file();
  race();
  show("a file of rank 0, seen by all", contents("stream.txt") > 0);
  if (die) raise(SIGKILL);
  MPI_Finalize();
  FILE* late = fopen("late.txt", "a");
  if (rank == 0) fprintf(late, "after MPI_Finalize\n");
  fclose(late);
  return 0;
}
