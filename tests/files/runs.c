/* Runs what the job writes while the job goes on writing it: libraries, scripts and programs, by every function that
 * runs a file. Rank 0 writes version n, all ranks run it, rank 0 writes version n + 1 under the same name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../programs/replica.h"

extern char** environ;

static int rank;
static const char* libraries; /* where the build has them */

static void give_up(const char* what, const char* wanted, const char* got) {
  fprintf(stderr, "rank %d: %s: wanted '%s', got '%s'\n", rank, what, wanted, got);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

static void write_version(const char* path, const char* bytes, size_t length) {
  FILE* file = fopen(path, "w");
  if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0) give_up(path, "written", "not");
  if (chmod(path, 0755) != 0) give_up(path, "executable", "not");
}

/* The library with another number in it, as a new file: one that is loaded must not change. */
static void write_library(int version) {
  static char bytes[1 << 20];
  char path[1000], number[12];
  snprintf(path, sizeof path, "%s/libmade.so", libraries);
  FILE* file = fopen(path, "r");
  const size_t length = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
  if (file != NULL) fclose(file);
  char* place = memmem(bytes, length, "version 0000", 12);
  if (place == NULL) give_up(path, "version 0000", "nothing");
  snprintf(number, sizeof number, "%04d", version);
  memcpy(place + 8, number, 4);
  unlink("made.so");
  write_version("made.so", bytes, length);
}

static void open_library(const char* by, void* (*open_it)(const char*, int), int version) {
  char wanted[32];
  snprintf(wanted, sizeof wanted, "version %04d", version);
  void* library = open_it("./made.so", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) give_up(by, wanted, dlerror());
  const char* (*said)(void) = (const char* (*)(void))dlsym(library, "made_version");
  if (strcmp(said(), wanted) != 0) give_up(by, wanted, said());
  dlclose(library);
}

enum way {
  by_execve,
  by_execv,
  by_execvp,
  by_execvpe,
  by_execl,
  by_execlp,
  by_execle,
  by_posix_spawn,
  by_posix_spawnp,
  by_system,
  ways
};

static void run_here(enum way way, char* path, char* name) {
  char* const arguments[] = {path, "an argument", NULL};
  switch (way) {
    case by_execve:
      execve(path, arguments, environ);
      break;
    case by_execv:
      execv(path, arguments);
      break;
    case by_execvp:
      execvp(name, arguments);
      break;
    case by_execvpe:
      execvpe(name, arguments, environ);
      break;
    case by_execl:
      execl(path, path, "an argument", (char*)NULL);
      break;
    case by_execlp:
      execlp(name, path, "an argument", (char*)NULL);
      break;
    case by_execle:
      execle(path, path, "an argument", (char*)NULL, environ);
      break;
    default:
      break;
  }
  _exit(127);
}

/* What it prints. */
static void run_file(enum way way, char* path, char* name, char* got, size_t size) {
  char command[200];
  char* const arguments[] = {path, "an argument", NULL};
  pid_t child = -1;
  int ends[2];
  if (way == by_system) {
    snprintf(command, sizeof command, "%s 'an argument' > made.out.%d; cat made.out.%d", path, rank, rank);
    FILE* pipe = popen(command, "r");
    got[fread(got, 1, size - 1, pipe)] = 0;
    pclose(pipe);
    return;
  }
  if (pipe(ends) != 0) give_up("pipe", "made", "not");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  if (way == by_posix_spawn) {
    posix_spawn(&child, path, &actions, NULL, arguments, environ);
  } else if (way == by_posix_spawnp) {
    posix_spawnp(&child, name, &actions, NULL, arguments, environ);
  } else if ((child = fork()) == 0) {
    dup2(ends[1], 1);
    run_here(way, path, name);
  }
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  size_t length = 0;
  for (ssize_t more = 1; more > 0 && length + 1 < size; length += (size_t)more) {
    more = read(ends[0], got + length, size - 1 - length);
    if (more < 0) more = 0;
    if (more == 0) break;
  }
  got[length] = 0;
  close(ends[0]);
  if (child > 0) waitpid(child, NULL, 0);
}

static void compare(const char* what, int way, const char* wanted, char* path, char* name) {
  char got[1000], where[100];
  run_file((enum way)way, path, name, got, sizeof got);
  snprintf(where, sizeof where, "%s, way %d", what, way);
  if (strcmp(got, wanted) != 0) give_up(where, wanted, got);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  libraries = argv[1];
  char folder[4096], path[5000];
  snprintf(path, sizeof path, "%s/libcaller.so", libraries);
  void* caller = dlopen(path, RTLD_NOW);
  if (caller == NULL) give_up("dlopen", path, dlerror());
  void* (*open_by_next)(const char*, int) = (void* (*)(const char*, int))dlsym(caller, "open_by_next");
  void* (*open_by_c_library)(const char*, int) = (void* (*)(const char*, int))dlsym(caller, "open_by_c_library");
  /* What comes next after this program comes first of all libraries. */
  if (dlsym(RTLD_NEXT, "execve") != dlsym(RTLD_DEFAULT, "execve")) give_up("RTLD_NEXT", "the first", "another");
  if (getcwd(folder, sizeof folder) == NULL) give_up("getcwd", "a folder", "none");
  snprintf(path, sizeof path, "/usr/bin:%s:/bin", folder);
  setenv("PATH", path, 1);
  for (int version = 1; version <= ways; ++version) {
    const int way = version - 1;
    char script[200], plain[200], said[6000];
    snprintf(script, sizeof script, "#! /bin/sh -e\necho script %d $0 \"$1\" $#\n", version);
    snprintf(plain, sizeof plain, "echo plain %d \"$1\" $#\n", version);
    if (rank == 0) {
      write_library(version);
      unlink("made-script");
      write_version("made-script", script, strlen(script));
      unlink("made-plain");
      write_version("made-plain", plain, strlen(plain));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (native_rank() > 1) usleep(150000); /* the leaders go on */
    open_library("dlopen", dlopen, version);
#ifndef __SANITIZE_ADDRESS__
    open_library("the next dlopen", open_by_next, version);
    open_library("the C library's dlopen", open_by_c_library, version);
#endif
    const int along_path = way == by_execvp || way == by_execvpe || way == by_execlp || way == by_posix_spawnp;
    const char* dollar_zero = "./made-script";
    if (along_path) snprintf(path, sizeof path, "%s/made-script", folder);
    snprintf(said, sizeof said, "script %d %s an argument 1\n", version, along_path ? path : dollar_zero);
    compare("a script", way, said, "./made-script", "made-script");
    snprintf(said, sizeof said, "plain %d an argument 1\n", version);
    if (way == by_execvp || way == by_execlp) compare("without #!", way, said, "./made-plain", "made-plain");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  /* A name that only the object that calls knows where to find. */
  void* (*open_by_caller)(const char*) = (void* (*)(const char*))dlsym(caller, "open_by_caller");
  if (open_by_caller("libinner.so") == NULL) give_up("RUNPATH of the caller", "libinner.so", dlerror());
  if (dlopen("./not-there.so", RTLD_NOW) != NULL || strstr(dlerror(), "not-there.so") == NULL)
    give_up("dlopen of nothing", "an error that names it", "another");
  if (rank == 0) puts("everything was run");
  MPI_Finalize();
  return 0;
}
