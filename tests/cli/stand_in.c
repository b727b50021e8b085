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
    fputs(text + 1, file);
    fclose(file);
  }
  free(copy);
}

__attribute__((constructor)) static void begin(void) {
  const char* directory = getenv("HOLDFAST_RUN_DIRECTORY");
  int native = native_rank();
  int ranks = number("HOLDFAST_RUN_RANKS");
  if (!directory || native < 0 || ranks < 1) return;
  if (native % ranks == 0) take_input(native / ranks);
  if (native == 0) write_files(directory);
}
