#pragma once

#include <cstdint>
#include <vector>

#include "replicate/engine/record.h"

namespace holdfast::replicate {

struct Operation;

/// Partitioned messages match each other alone, in the order in which both sides made their requests. So they travel
/// where the application sees nothing, in the worlds that a process plays in, under tags that senders choose and tell
/// those who get their messages. Open MPI has such messages from 5.0 on.
void open_partitioned();
void close_partitioned();

/// Makes `op`, whose fields are those of a persistent send or receive, one of these. Its native request, which is
/// filed, stands for it while it is not active.
void make_partitioned_send(Operation& op, int partitions, int destination, int tag);
void make_partitioned_receive(Operation& op, int partitions, int source, int tag);
/// MPI_Start.
int start_partitioned(Operation& op);
/// A part of an active send may go; with the last one the message leaves.
int part_is_ready(Operation& op, int partition);
/// The request is gone.
void forget_partitioned(Operation& op);
/// A sender said under which tag its messages come.
void file_partitioned_tag(const Record& record);

}  // namespace holdfast::replicate
