/* Which of the launcher's processes this is, and which replica of its rank, whatever replication says. */
#pragma once

#include <stdlib.h>
#include <string.h>

/* -1 without a launcher. */
static inline int native_rank(void) {
  const char* native = getenv("OMPI_COMM_WORLD_RANK");
  if (native == NULL) native = getenv("PMI_RANK");
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
