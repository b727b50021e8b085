/* Removes, lists and copies trees as Python's shutil and GNU's tools do: by descriptors of directories, by copies of
 * descriptors that fcntl(2) makes, with extended attributes; and prints by other names of standard output. Every
 * replica sends what it finds to the other rank, and rank 0 prints it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

static int rank;

static void say(const char* what, const char* found) {
  char text[4096], got[4096];
  snprintf(text, sizeof text, "%s: %s\n", what, found);
  MPI_Sendrecv(text, (int)strlen(text) + 1, MPI_BYTE, 1 - rank, 0, got, sizeof got, MPI_BYTE, 1 - rank, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) {
    fputs(text, stdout);
    fflush(stdout);
  }
}

/* By which Python's shutil.rmtree() goes, rank 0 alone. */
static void remove_tree(int parent, const char* name, char* found) {
  char names[100][32];
  int count = 0;
  const struct dirent* entry;
  struct stat named, opened;
  const int folder = openat(parent, name, O_RDONLY | O_NOFOLLOW);
  if (fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) != 0 || fstat(folder, &opened) != 0 ||
      named.st_ino != opened.st_ino)
    strcat(found, "(another directory) ");
  const int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
  DIR* directory = fdopendir(copy);
  while ((entry = readdir(directory)) != NULL) {
    if (entry->d_name[0] != '.') strcpy(names[count++], entry->d_name);
  }
  closedir(directory);
  for (int i = 0; i < count; ++i) {
    struct stat status;
    sprintf(found + strlen(found), "%s ", names[i]);
    if (fstatat(folder, names[i], &status, AT_SYMLINK_NOFOLLOW) != 0) {
      sprintf(found + strlen(found), "(%s) ", strerror(errno));
    } else if (S_ISDIR(status.st_mode)) {
      remove_tree(folder, names[i], found);
    } else if (unlinkat(folder, names[i], 0) != 0) {
      sprintf(found + strlen(found), "(not removed: %s) ", strerror(errno));
    }
  }
  close(folder);
  if (unlinkat(parent, name, AT_REMOVEDIR) != 0) strcat(found, "(left) ");
}

static void remove_named(const char* name) {
  char found[3000] = "";
  if (rank == 0) remove_tree(AT_FDCWD, name, found);
  if (access(name, F_OK) == 0) strcat(found, "(still there)");
  MPI_Barrier(MPI_COMM_WORLD);
  say(name, rank == 0 ? found : "");
}

static char found_by_thread[3000];

static void* remove_in_thread(void* name) {
  remove_tree(AT_FDCWD, name, found_by_thread);
  return NULL;
}

/* Where replicas do not agree on calls: on another thread, and in a child. */
static void remove_apart(const char* name) {
  pthread_t thread;
  if (rank == 0) {
    char command[200];
    found_by_thread[0] = '\0';
    pthread_create(&thread, NULL, remove_in_thread, (void*)name);
    pthread_join(thread, NULL);
    sprintf(command, "ls -U %s-kept > listed && rm -r %s-child && ls -A %s-kept | tail -2 > last", name, name, name);
    fflush(stdout);
    if (system(command) != 0) strcat(found_by_thread, "(the child failed)");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  say(name, rank == 0 ? found_by_thread : "");
}

static void fill(const char* name) {
  char path[64];
  if (mkdir(name, 0777) != 0) say(name, strerror(errno));
  for (int i = 0; i < 30; ++i) {
    sprintf(path, "%s/f%d", name, i * 37 % 101);
    FILE* file = fopen(path, "w");
    fprintf(file, "%d\n", i);
    fclose(file);
  }
}

/* A working directory and a descriptor that the leader's removal takes away from under the others. */
static void leave_removed(void) {
  char place[PATH_MAX];
  struct stat status;
  const int home = open(".", O_RDONLY | O_DIRECTORY);
  if (chdir("around/inner") != 0) say("chdir", strerror(errno));
  unlink("../inner/only");
  const int gone = rmdir("../inner");
  say("removed from inside", gone == 0 && !getcwd(place, sizeof place) && stat("only", &status) != 0 ? "yes" : "no");
  if (fchdir(home) != 0) say("fchdir", strerror(errno));
  close(home);
}

/* As copies of files are made with all they have; the source is gone at once. */
static void copy_attributes(void) {
  char names[256], value[64], found[1000] = "";
  fclose(fopen("source", "w"));
  if (setxattr("source", "user.note", "of the job", 10, 0) != 0) sprintf(found, "set: %s ", strerror(errno));
  fclose(fopen("target", "w"));
  const ssize_t room = listxattr("source", NULL, 0);
  const ssize_t length = listxattr("source", names, sizeof names);
  sprintf(found + strlen(found), "%d %d ", (int)room, (int)length);
  for (ssize_t at = 0; at < length; at += (ssize_t)strlen(names + at) + 1) {
    const ssize_t size = getxattr("source", names + at, value, sizeof value);
    sprintf(found + strlen(found), "%s %.*s ", names + at, (int)size, value);
    if (setxattr("target", names + at, value, (size_t)size, 0) != 0) strcat(found, "(not set) ");
  }
  if (unlink("source") != 0) strcat(found, "(not removed) ");
  const int target = open("target", O_RDONLY);
  const ssize_t size = fgetxattr(target, "user.note", value, sizeof value);
  sprintf(found + strlen(found), "%d %d ", (int)size, (int)flistxattr(target, names, sizeof names));
  close(target);
  sprintf(found + strlen(found), "%d ", (int)lgetxattr("target", "user.other", value, sizeof value));
  removexattr("target", "user.note");
  sprintf(found + strlen(found), "%d", (int)llistxattr("target", names, sizeof names));
  say("attributes", found);
}

/* Who owns a file and when it was changed, in every way that has not been tried elsewhere. */
static void alter(void) {
  char found[200], path[PATH_MAX];
  const struct timeval times[2] = {{1000000000, 0}, {1100000000, 0}};
  struct stat status;
  fclose(fopen("altered", "w"));
  if (symlink("altered", "leading") != 0) say("symlink", strerror(errno));
  const int owned = chown("altered", getuid(), getgid()) + lchown("leading", getuid(), getgid()) +
                    fchownat(AT_FDCWD, "altered", getuid(), (gid_t)-1, 0);
  const int timed = lutimes("leading", times) + futimesat(AT_FDCWD, "altered", times);
  lstat("leading", &status);
  sprintf(found, "%d %d %ld ", owned, timed, (long)status.st_mtime);
  stat("altered", &status);
  sprintf(found + strlen(found), "%ld %d %d ", (long)status.st_mtime, eaccess("altered", R_OK | W_OK),
          euidaccess("nothing", F_OK));
  char* whole = canonicalize_file_name("leading");
  strcat(found, whole && realpath("altered", path) && strcmp(whole, path) == 0 ? "alike" : "another name");
  free(whole);
  say("altered", found);
}

static void print_by_other_names(void) {
  const int copy = fcntl(STDOUT_FILENO, F_DUPFD, 100);
  dprintf(copy, "by a copy of the descriptor\n");
  close(copy);
  const char* names[] = {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  for (int i = 0; i < 3; ++i) {
    FILE* file = fopen(names[i], "a");
    if (!file) continue;  // a socket cannot be opened
    fprintf(file, "by %s\n", names[i]);
    fclose(file);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 3; ++round) {
    remove_named("old");
    if (rank == 0) fill("old");
    if (rank == 0) fill("old/inside");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  remove_apart("apart");
  if (rank == 0) {
    for (int i = 0; i < 3; ++i) fill((const char*[]){"made", "made-kept", "made-child"}[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  remove_apart("made");
  if (rank == 0) {
    FILE* file = fopen("attributed", "r+");
    fputs("new", file);
    fclose(file);
    print_by_other_names();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  char folder[16];
  sprintf(folder, "rank-%d", rank);
  if (mkdir(folder, 0777) != 0 ||
      rename(rank == 0 ? "around" : "beside", rank == 0 ? "rank-0/around" : "rank-1/around") != 0 || chdir(folder) != 0)
    return 1;
  leave_removed();
  copy_attributes();
  alter();
  MPI_Finalize();
  return 0;
}
