// Partitioned communication (MPI 4.0, chapter 4).
#include <limits>
#include <string>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/engine/mix.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/mpi/pointtopoint/completion.h"
#include "replicate/mpi/pointtopoint/operation.h"
#include "replicate/mpi/pointtopoint/partitioned.h"
#include "replicate/mpi/pointtopoint/plausible.h"
#include "replicate/process/threads.h"

#ifdef HOLDFAST_HAS_Psend_init
namespace holdfast::replicate {

namespace {

/// A request over the whole message, to be made a partitioned one.
Operation& make(Function function, void* buffer, int partitions, MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
  const MPI_Count whole = partitions * count;
  if (whole > std::numeric_limits<int>::max()) {
    fail_unsupported(std::string(function_name(function)) + " of " + std::to_string(whole) + " elements",
                     "only up to 2147483647 are protected: use a larger datatype");
  }
  Operation& op = runtime().requests.make();
  op.function = function;
  op.comm = &runtime().comms.find(comm);
  op.buffer = buffer;
  op.count = static_cast<int>(whole);
  op.type = type;
  op.region = Region::keep(buffer, static_cast<std::uint64_t>(whole), type);
  return op;
}

Operation* partitioned(MPI_Request request) {
  Operation* op = runtime().requests.find(request);
  return op && op->partitions ? op : nullptr;
}

int raise(int error_class) {
  real().Comm_call_errhandler(protection.world, error_class);
  return error_class;
}

bool may_get_ready(const Operation& op, int partition) {
  const Partitions& parts = *op.partitions;
  return op.kind == Operation::Kind::persistent_send && !op.idle() && partition >= 0 && partition < parts.count &&
         !parts.ready[static_cast<std::size_t>(partition)];
}

int get_ready(Operation& op, int partition) {
  return may_get_ready(op, partition) ? part_is_ready(op, partition) : raise(MPI_ERR_ARG);
}

/// What names the order of the answers about one part, each of which one thread asks for. Threads that look for parts
/// of one message do so in no common order, and how often depends on when each finds its own.
std::uint64_t order_of_part(const Operation& op, int partition) {
  const MessageId& channel = op.partitions->channel;
  const auto source = static_cast<std::uint32_t>(channel.channel.source);
  const auto tag = static_cast<std::uint32_t>(channel.channel.tag);
  return mix(mix(mix(mix(channel.channel.communicator, source), tag), channel.ordinal),
             static_cast<std::uint64_t>(partition));
}

}  // namespace

int hook::Psend_init(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (!runtime().verifying || dest == MPI_PROC_NULL || partitions <= 0 ||
      !plausible_send(count, datatype, dest, tag, comm)) {
    return real().Psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request);
  }
  Operation& op = make(Function::Psend_init, const_cast<void*>(buf), partitions, count, datatype, comm);
  make_partitioned_send(op, partitions, dest, tag);
  runtime().requests.file(op);
  *request = op.visible;
  return MPI_SUCCESS;
}

int hook::Precv_init(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  if (!runtime().verifying || source == MPI_PROC_NULL || partitions <= 0 ||
      !plausible_send(count, datatype, source, tag, comm)) {
    return real().Precv_init(buf, partitions, count, datatype, source, tag, comm, info, request);
  }
  Operation& op = make(Function::Precv_init, buf, partitions, count, datatype, comm);
  make_partitioned_receive(op, partitions, source, tag);
  runtime().requests.file(op);
  *request = op.visible;
  return MPI_SUCCESS;
}

int hook::Pready(int partition, MPI_Request request) {
  Operation* op = partitioned(request);
  return op ? get_ready(*op, partition) : real().Pready(partition, request);
}

int hook::Pready_range(int partition_low, int partition_high, MPI_Request request) {
  Operation* op = partitioned(request);
  if (!op) return real().Pready_range(partition_low, partition_high, request);
  int code = MPI_SUCCESS;
  for (int i = partition_low; i <= partition_high && code == MPI_SUCCESS; ++i) code = get_ready(*op, i);
  return code;
}

int hook::Pready_list(int length, int array_of_partitions[], MPI_Request request) {
  Operation* op = partitioned(request);
  if (!op) return real().Pready_list(length, array_of_partitions, request);
  int code = MPI_SUCCESS;
  for (int i = 0; i < length && code == MPI_SUCCESS; ++i) code = get_ready(*op, array_of_partitions[i]);
  return code;
}

int hook::Parrived(MPI_Request request, int partition, int* flag) {
  Operation* op = partitioned(request);
  if (!op) return real().Parrived(request, partition, flag);
  if (op->kind != Operation::Kind::receive || partition < 0 || partition >= op->partitions->count) {
    return raise(MPI_ERR_ARG);
  }
  if (asked_by_channel()) asking.order = order_of_part(*op, partition);
  *flag = op->idle() || decide([&] {
            progress();
            return advance(*op);
          });
  if (*flag && !op->idle()) wait_until([&] { return advance(*op); });  // a follower's own
  return MPI_SUCCESS;
}

}  // namespace holdfast::replicate
#endif
