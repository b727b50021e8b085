/* Which of the launcher's processes this is, and which replica of its rank, whatever replication says. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the launcher said when it started this process, past getenv() and environ, which tell a replicated program what
 * its replicas agree on. */
static inline const char* launcher_says(const char* name) {
  static char said[1 << 17];
  static size_t end = 0;
  if (end == 0) {
    FILE* file = fopen("/proc/self/environ", "r");
    if (file == NULL) return NULL;
    end = fread(said, 1, sizeof said - 1, file);
    fclose(file);
  }
  const size_t length = strlen(name);
  for (const char* each = said; each < said + end; each += strlen(each) + 1) {
    if (strncmp(each, name, length) == 0 && each[length] == '=') return each + length + 1;
  }
  return NULL;
}

/* -1 without a launcher. */
static inline int native_rank(void) {
  const char* native = launcher_says("OMPI_COMM_WORLD_RANK");
  if (native == NULL) native = launcher_says("PMI_RANK");
  return native == NULL ? -1 : atoi(native);
}

/* From HOLDFAST_TEST_REPLICAS: which replica each process is, in the order of the launcher, with ',' between them. -1
 * without it. */
static inline int own_replica(void) {
  const char* replicas = getenv("HOLDFAST_TEST_REPLICAS");
  if (replicas == NULL || native_rank() < 0) return -1;
  for (int skip = native_rank(); skip > 0; --skip) replicas = strchr(replicas, ',') + 1;
  return atoi(replicas);
}
