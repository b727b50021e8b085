/* Stands in for the replication library where a test judges the launcher alone: it takes standard input as the library
 * does, and leaves the record and the incidents that the test asks for in the run directory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int number(const char* name) {
  const char* text = getenv(name);
  return text ? atoi(text) : -1;
}

static int native_rank(void) {
  int rank = number("OMPI_COMM_WORLD_RANK");
  return rank >= 0 ? rank : number("PMI_RANK");
}

static void take_input(int replica) {
  const char* pattern = getenv("HOLDFAST_RUN_STDIN");
  char path[4096];
  if (!pattern) return;
  const char* mark = strstr(pattern, "%r");
  if (mark)
    snprintf(path, sizeof path, "%.*s%d%s", (int)(mark - pattern), pattern, replica, mark + 2);
  else
    snprintf(path, sizeof path, "%s", pattern);
  int file = open(path, O_RDONLY);
  if (file < 0) return;
  dup2(file, 0);
  close(file);
}

static const char* job(const char* name) {
  const char* other = getenv(name);
  return other ? other : getenv("HOLDFAST_RUN_JOB");
}

/* TEST_FILES: "name=text" entries between '|', each written to the run directory by native rank 0. */
static void write_files(const char* directory) {
  const char* entries = getenv("TEST_FILES");
  char* copy = strdup(entries ? entries : "record.json={\"counters\": {\"messages\": 7, \"bytes\": 56}}");
  for (char* entry = strtok(copy, "|"); entry; entry = strtok(NULL, "|")) {
    char path[4096];
    char* text = strchr(entry, '=');
    if (!text) continue;
    snprintf(path, sizeof path, "%s/%.*s", directory, (int)(text - entry), entry);
    FILE* file = fopen(path, "w");
    if (!file) continue;
    if (text[1] == '{') /* as the library's files do, it names the job */
      fprintf(file, "{\"job\": \"%s\", %s", job("TEST_JOB"), text + 2);
    else
      fputs(text + 1, file);
    fclose(file);
  }
  free(copy);
}

/* Every process says that it has reached the end, except the one of TEST_NO_CLOSING: "RANK.REPLICA". */
static void write_closing(const char* directory, int rank, int replica) {
  char path[4096];
  char pair[64];
  snprintf(pair, sizeof pair, "%d.%d", rank, replica);
  if (getenv("TEST_NO_CLOSING") && strcmp(getenv("TEST_NO_CLOSING"), pair) == 0) return;
  snprintf(path, sizeof path, "%s/finished-%d.%d", directory, rank, replica);
  FILE* file = fopen(path, "w");
  if (!file) return;
  fprintf(file, "job %s stdout 0 stderr 0 files 0\n", job("TEST_CLOSING_JOB"));
  fclose(file);
}

/* TEST_STRUCK: the index of an injected fault. */
static void write_evidence(const char* directory) {
  char path[4096];
  snprintf(path, sizeof path, "%s/evidence-0.0", directory);
  FILE* file = getenv("TEST_STRUCK") ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%s 100 0 struck %s 0\n", job("TEST_JOB"), getenv("TEST_STRUCK"));
  fclose(file);
}

__attribute__((constructor)) static void begin(void) {
  const char* directory = getenv("HOLDFAST_RUN_DIRECTORY");
  int native = native_rank();
  int ranks = number("HOLDFAST_RUN_RANKS");
  if (!directory || native < 0 || ranks < 1) return;
  if (native % ranks == 0) take_input(native / ranks);
  write_closing(directory, native % ranks, native / ranks);
  if (native == 0) write_files(directory);
  if (native == 0) write_evidence(directory);
}
