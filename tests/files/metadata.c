/* Looks at files and directories that the job makes, in every way there is, and lets the replicas compare what they
 * were told: it goes into messages and into a file. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../programs/replica.h"

static int rank;
static FILE* seen;

/* Every replica sends what it saw to the next rank, and rank 0 writes it down. */
static void say(const char* what, const void* bytes, int length) {
  char got[4096];
  MPI_Sendrecv(bytes, length, MPI_BYTE, 1 - rank, 0, got, sizeof got, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (rank != 0) return;
  fprintf(seen, "%s ", what);
  fwrite(bytes, 1, (size_t)length, seen);
  fputc('\n', seen);
}

static void say_status(const char* what, const struct stat* status) {
  char text[400];
  const int length =
      snprintf(text, sizeof text, "%lu %lu %o %lu %ld %ld %ld.%09ld %ld.%09ld %ld.%09ld", (unsigned long)status->st_dev,
               (unsigned long)status->st_ino, status->st_mode, (unsigned long)status->st_nlink, (long)status->st_size,
               (long)status->st_blocks, (long)status->st_atim.tv_sec, (long)status->st_atim.tv_nsec,
               (long)status->st_mtim.tv_sec, (long)status->st_mtim.tv_nsec, (long)status->st_ctim.tv_sec,
               (long)status->st_ctim.tv_nsec);
  say(what, text, length);
}

static void look_at_path(const char* path) {
  struct stat status;
  struct statx more;
  memset(&more, 0, sizeof more);
  stat(path, &status);
  say_status("stat", &status);
  lstat(path, &status);
  say_status("lstat", &status);
  fstatat(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW);
  say_status("fstatat", &status);
  statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, &more);
  say("statx", &more, sizeof more);

  const int descriptor = open(path, O_RDONLY);
  fstat(descriptor, &status);
  say_status("fstat", &status);
  fstatat(descriptor, "", &status, AT_EMPTY_PATH);
  say_status("fstatat of a descriptor", &status);
  statx(descriptor, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &more);
  say("statx of a descriptor", &more, sizeof more);
  const int copy = dup(descriptor);
  close(descriptor);
  fstat(copy, &status);
  say_status("fstat of a copy", &status);
  close(copy);
}

static int visible(const struct dirent* entry) {
  return entry->d_name[0] != '.';
}

static void look_into(const char* folder) {
  char names[4000] = "";
  struct dirent** list;
  const struct dirent* entry;
  long second = 0;
  DIR* directory = opendir(folder);
  for (int count = 0; (entry = readdir(directory)) != NULL; ++count) {
    char one[300];
    snprintf(one, sizeof one, "%s:%lu:%d ", entry->d_name, (unsigned long)entry->d_ino, entry->d_type);
    strncat(names, one, sizeof names - strlen(names) - 1);
    if (count == 1) second = telldir(directory);
  }
  seekdir(directory, second);
  entry = readdir(directory);
  strncat(names, entry ? entry->d_name : "(none)", sizeof names - strlen(names) - 1);
  rewinddir(directory);
  entry = readdir(directory);
  strncat(names, entry ? entry->d_name : "(none)", sizeof names - strlen(names) - 1);
  closedir(directory);
  say("readdir", names, (int)strlen(names));

  names[0] = 0;
  const int found = scandir(folder, &list, visible, alphasort);
  for (int i = 0; i < found; ++i) {
    strncat(names, list[i]->d_name, sizeof names - strlen(names) - 1);
    free(list[i]);
  }
  free(list);
  say("scandir", names, (int)strlen(names));

  glob_t matches;
  char pattern[300];
  names[0] = 0;
  snprintf(pattern, sizeof pattern, "%s/*", folder);
  if (glob(pattern, 0, NULL, &matches) == 0) {
    for (size_t i = 0; i < matches.gl_pathc; ++i) strncat(names, matches.gl_pathv[i], sizeof names - strlen(names) - 1);
    globfree(&matches);
  }
  say("glob", names, (int)strlen(names));
}

static void write_file(const char* path, const char* text) {
  FILE* file = fopen(path, "a");
  fputs(text, file);
  fclose(file);
}

enum { most_met = 64 };
static char met[most_met][200];
static int met_count, met_numbers, passes_over;

static int note(const char* path, const struct stat* status, int what, int base, int level) {
  char here[200] = "";
  if (met_count == most_met) return 1;
  const char* folder = getcwd(here, sizeof here) ? strrchr(here, '/') : "?";
  int length = snprintf(met[met_count], sizeof *met, "%s %d %d %d in %s", path, what, base, level, folder);
  if (met_numbers && what != FTW_NS)
    snprintf(met[met_count] + length, sizeof *met - (size_t)length, " %lu %ld %ld.%09ld", (unsigned long)status->st_ino,
             (long)status->st_size, (long)status->st_mtim.tv_sec, (long)status->st_mtim.tv_nsec);
  ++met_count;
  return 0;
}

static int meet(const char* path, const struct stat* status, int what, struct FTW* where) {
  note(path, status, what, where->base, where->level);
  return passes_over && strcmp(path + where->base, "passed over") == 0 ? FTW_SKIP_SUBTREE : FTW_CONTINUE;
}

static int meet_in_old_way(const char* path, const struct stat* status, int what) {
  return note(path, status, what, 0, 0);
}

/* Walks over what the job made: in the same order everywhere, with the same numbers. */
static void walk_over(const char* folder) {
  static const int flags[] = {FTW_PHYS, 0, FTW_PHYS | FTW_DEPTH, FTW_PHYS | FTW_CHDIR, FTW_DEPTH | FTW_CHDIR};
  met_numbers = 1;
  for (size_t i = 0; i <= sizeof flags / sizeof *flags; ++i) {
    met_count = 0;
    const int code =
        i < sizeof flags / sizeof *flags ? nftw(folder, meet, 8, flags[i]) : ftw(folder, meet_in_old_way, 8);
    char head[40];
    say("walk", head, snprintf(head, sizeof head, "%d %d", code, met_count));
    for (int line = 0; line < met_count; ++line) say("met", met[line], (int)strlen(met[line]));
  }
}

/* Replicas that come later than the leader walk over the tree as it was at that point for all. */
static void walk_while_it_changes(void) {
  met_numbers = 1;
  for (int step = 0; step < 3; ++step) {
    char path[40];
    met_count = 0;
    if (native_rank() > 1) usleep(200000);
    nftw("made", meet, 8, FTW_PHYS);
    MPI_Barrier(MPI_COMM_WORLD); /* both ranks walk before one of them writes */
    snprintf(path, sizeof path, "made/step %d", step);
    if (rank == 0) write_file(path, path);
    if (rank == 0 && step == 2) unlink("made/inner/zebra");
    for (int line = 0; line < met_count; ++line) say("met", met[line], (int)strlen(met[line]));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static int in_order(const void* one, const void* other) {
  return strcmp(one, other);
}

/* Walks over what was there before the job meet what those of the C library meet. */
static void walk_as_the_library(const char* folder) {
  typedef int (*Walk)(const char*, __nftw_func_t, int, int);
  static char wanted[most_met][200];
  static const int flags[] = {FTW_PHYS,
                              0,
                              FTW_DEPTH,
                              FTW_PHYS | FTW_DEPTH,
                              FTW_PHYS | FTW_CHDIR,
                              FTW_DEPTH | FTW_CHDIR,
                              FTW_MOUNT,
                              FTW_PHYS | FTW_ACTIONRETVAL};
  void* library = dlopen("libc.so.6", RTLD_NOW);
  const Walk real = (Walk)dlsym(library, "nftw");
  met_numbers = 0;
  for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i) {
    met_count = 0;
    passes_over = (flags[i] & FTW_ACTIONRETVAL) != 0;
    const int code = real(folder, meet, 8, flags[i]);
    const int count = met_count;
    memcpy(wanted, met, sizeof met);
    met_count = 0;
    const int own = nftw(folder, meet, 8, flags[i]);
    qsort(wanted, (size_t)count, sizeof *wanted, in_order);
    qsort(met, (size_t)met_count, sizeof *met, in_order);
    int same = code == own && count == met_count;
    for (int line = 0; same && line < count; ++line) same = strcmp(wanted[line], met[line]) == 0;
    if (!same)
      fprintf(stderr, "a walk over %s with flags %d: %d and %d met, codes %d and %d\n", folder, flags[i], count,
              met_count, code, own);
    if (!same) MPI_Abort(MPI_COMM_WORLD, 9);
  }
}

typedef struct {
  FTS* (*open)(char* const*, int, int (*)(const FTSENT**, const FTSENT**));
  FTSENT* (*read)(FTS*);
  FTSENT* (*children)(FTS*, int);
  int (*close)(FTS*);
} Fts;
static const Fts own_fts = {fts_open, fts_read, fts_children, fts_close};

static int by_name(const FTSENT** one, const FTSENT** other) {
  return strcmp((*one)->fts_name, (*other)->fts_name);
}

/* Walks by fts(3), with what it is told besides: to skip, to look again, to follow. */
static void note_fts(const Fts* fts, const char* folder, int flags, int sorted) {
  char* const paths[] = {(char*)folder, "before", NULL};
  met_count = 0;
  FTS* walk = fts->open(paths, flags, sorted ? by_name : NULL);
  if (walk == NULL) return;
  for (FTSENT* entry; met_count < most_met && (entry = fts->read(walk)) != NULL; ++met_count) {
    /* The C library leaves a slash behind a directory whose children were asked for. */
    int path_length = (int)strlen(entry->fts_path);
    while (path_length > 1 && entry->fts_level > 0 && entry->fts_path[path_length - 1] == '/') --path_length;
    int length = snprintf(met[met_count], sizeof *met, "%.*s as %s, %d at %d, error %d, number %ld", path_length,
                          entry->fts_path, entry->fts_name, entry->fts_info, entry->fts_level, entry->fts_errno,
                          entry->fts_number);
    if (met_numbers && entry->fts_info != FTS_NS && entry->fts_info != FTS_NSOK)
      length += snprintf(met[met_count] + length, sizeof *met - (size_t)length, " %lu %ld",
                         (unsigned long)entry->fts_statp->st_ino, (long)entry->fts_statp->st_size);
    if (entry->fts_info == FTS_D && strcmp(entry->fts_name, "passed over") == 0) fts_set(walk, entry, FTS_SKIP);
    if (entry->fts_info == FTS_SL && strcmp(entry->fts_name, "to a folder") == 0) fts_set(walk, entry, FTS_FOLLOW);
    if (entry->fts_info == FTS_F && entry->fts_number++ == 0) fts_set(walk, entry, FTS_AGAIN);
    if (entry->fts_info != FTS_D || entry->fts_level != 1) continue;
    int children = 0;
    for (const FTSENT* child = fts->children(walk, 0); child; child = child->fts_link) ++children;
    snprintf(met[met_count] + length, sizeof *met - (size_t)length, ", %d below", children);
  }
  fts->close(walk);
}

static const int fts_flags[] = {FTS_PHYSICAL,
                                FTS_LOGICAL,
                                FTS_PHYSICAL | FTS_NOCHDIR,
                                FTS_LOGICAL | FTS_NOCHDIR | FTS_SEEDOT,
                                FTS_PHYSICAL | FTS_COMFOLLOW,
                                FTS_PHYSICAL | FTS_XDEV,
                                FTS_PHYSICAL | 0x10000};
enum { fts_kinds = sizeof fts_flags / sizeof *fts_flags };

static void walk_by_fts(const char* folder) {
  met_numbers = 1;
  for (int i = 0; i < 2 * fts_kinds; ++i) {
    note_fts(&own_fts, folder, fts_flags[i / 2], i % 2);
    char head[40];
    say("fts", head, snprintf(head, sizeof head, "%d", met_count));
    for (int line = 0; line < met_count; ++line) say("met", met[line], (int)strlen(met[line]));
  }
}

/* The library's own compares with a number of a device that it never set where a walk on one device begins at a link
 * that fts_set() has followed. */
static int library_is_sure(const char* folder, int flags) {
  struct stat status;
  return (flags & FTS_XDEV) == 0 || (lstat(folder, &status) == 0 && !S_ISLNK(status.st_mode));
}

static void walk_by_fts_as_the_library(const char* folder) {
  static char wanted[most_met][200];
  void* library = dlopen("libc.so.6", RTLD_NOW);
  const Fts real = {(FTS * (*)(char* const*, int, int (*)(const FTSENT**, const FTSENT**))) dlsym(library, "fts_open"),
                    (FTSENT * (*)(FTS*)) dlsym(library, "fts_read"),
                    (FTSENT * (*)(FTS*, int)) dlsym(library, "fts_children"),
                    (int (*)(FTS*))dlsym(library, "fts_close")};
  met_numbers = 0;
  for (int i = 0; i < fts_kinds; ++i) {
    if (!library_is_sure(folder, fts_flags[i])) continue;
    met_count = 0;
    note_fts(&real, folder, fts_flags[i], 1);
    const int count = met_count;
    memcpy(wanted, met, sizeof met);
    note_fts(&own_fts, folder, fts_flags[i], 1);
    int same = count == met_count;
    for (int line = 0; line < count || line < met_count; ++line) {
      if (line < count && line < met_count && strcmp(wanted[line], met[line]) == 0) continue;
      same = 0;
      fprintf(stderr, "fts over %s with flags %d: '%s', not '%s'\n", folder, fts_flags[i],
              line < met_count ? met[line] : "(end)", line < count ? wanted[line] : "(end)");
    }
    if (!same) MPI_Abort(MPI_COMM_WORLD, 9);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    seen = fopen("seen", "w");
    mkdir("made", 0755);
    mkdir("made/inner", 0755);
    const char* names[] = {"zebra", "apple", "mango", "a much longer name than the others have", "b", "yak"};
    for (int i = 0; i < 6; ++i) {
      char path[200];
      snprintf(path, sizeof path, "made/inner/%s", names[i]);
      write_file(path, names[i]);
    }
    write_file("before", "more\n");
    symlink("inner", "made/link");
    unlink("made/inner/mango");
    rename("made/inner/yak", "made/inner/gnu");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const char* paths[] = {"before", "made", "made/inner", "made/inner/zebra", "made/inner/gnu", "made/link", "."};
  for (int i = 0; i < 7; ++i) look_at_path(paths[i]);
  look_into("made");
  look_into("made/inner");
  look_into("made/link");
  if (rank == 0) write_file("made/inner/zebra", "more");
  MPI_Barrier(MPI_COMM_WORLD);
  look_at_path("made/inner/zebra");
  walk_over("made");
  walk_over("./made/inner/");
  walk_over("made/link");
  walk_while_it_changes();
  walk_as_the_library("was there");
  walk_as_the_library("was there/");
  walk_as_the_library("was there/file");
  walk_as_the_library("was there/to a folder");
  walk_as_the_library("was there/to nothing");
  walk_as_the_library("not there");
  const char* trees[] = {"made", "./made/inner/", "made/link"};
  for (int i = 0; i < 3; ++i) walk_by_fts(trees[i]);
  const char* known[] = {"was there", "was there/", "was there/file", "was there/to a folder", "was there/to nothing",
                         "not there"};
  for (int i = 0; i < 6; ++i) walk_by_fts_as_the_library(known[i]);
  if (rank == 0) {
    fclose(seen);
    puts("everything was looked at");
  }
  MPI_Finalize();
  return 0;
}
