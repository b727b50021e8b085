/* What every example does alike: options, digests and the last line. For C and C++, included once by each program.
 *
 * An option is one row; --help is made from the rows. Exit codes: 0 verified, 1 the program's own verification failed,
 * 2 a wrong option. */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Option {
  const char* name; /* without the dashes */
  long long* value; /* holds the default before, the choice after */
  long long least, most;
  const char* help;
};

static void leave(int code) {
  MPI_Finalize();
  exit(code);
}

static void print_help(const char* program, const char* about, const struct Option* options, int count) {
  printf("usage: %s [options]\n%s\n\n", program, about);
  for (int i = 0; i < count; ++i)
    printf("  --%-16s %s (%lld to %lld, default %lld)\n", options[i].name, options[i].help, options[i].least,
           options[i].most, *options[i].value);
  printf("  --%-16s show this\n", "help");
}

/* Reads "--name N" and "--name=N" into the rows' values. Ends the program on --help and on anything wrong, which rank 0
 * explains. Call it after MPI_Init. */
static void read_options(int argc, char** argv, const char* about, const struct Option* options, int count) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* program = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
  for (int a = 1; a < argc; ++a)
    if (strcmp(argv[a], "--help") == 0) {
      if (rank == 0) print_help(program, about, options, count);
      leave(0);
    }
  for (int a = 1; a < argc; ++a) {
    const char* name = strncmp(argv[a], "--", 2) == 0 ? argv[a] + 2 : "";
    const size_t length = strcspn(name, "=");
    const struct Option* option = NULL;
    for (int i = 0; i < count; ++i)
      if (length > 0 && strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0)
        option = &options[i];
    if (option == NULL) {
      if (rank == 0) fprintf(stderr, "%s: reading the options: unknown option '%s': see --help\n", program, argv[a]);
      leave(2);
    }
    const char* text = name[length] == '=' ? name + length + 1 : a + 1 < argc ? argv[++a] : "";
    char* end;
    const long long value = strtoll(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < option->least || value > option->most) {
      if (rank == 0)
        fprintf(stderr, "%s: reading --%s: '%s' is not a whole number from %lld to %lld: see --help\n", program,
                option->name, text, option->least, option->most);
      leave(2);
    }
    *option->value = value;
  }
}

/* FNV-1a, 64 bits, continued from `digest`; start with digest_start. */
static const uint64_t digest_start = 14695981039346656037ULL;
static inline uint64_t digest_bytes(uint64_t digest, const void* data, size_t bytes) {
  const unsigned char* byte = (const unsigned char*)data;
  for (size_t i = 0; i < bytes; ++i) digest = (digest ^ byte[i]) * 1099511628211ULL;
  return digest;
}

/* One digest of every rank's, the same on all ranks: the ranks' digests with their numbers, combined by exclusive or.
 */
static inline uint64_t digest_of_all(uint64_t own, MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  uint64_t all, mixed = digest_bytes(digest_bytes(digest_start, &rank, sizeof rank), &own, sizeof own);
  MPI_Allreduce(&mixed, &all, 1, MPI_UINT64_T, MPI_BXOR, comm);
  return all;
}

/* A well-mixed 64-bit number for each index: the same on every machine. (Steele, Lea, Flood: splitmix64.) */
static inline uint64_t scrambled(uint64_t index) {
  uint64_t z = (index + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/* The first `parts` shares of `whole` things among `of` owners together: where owner number `parts` begins. */
static inline long long share_begin(long long whole, int parts, int of) {
  return whole * parts / of;
}

static inline int compare_doubles(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Sorts the values, and returns the middle one. */
static inline double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return values[count / 2];
}
