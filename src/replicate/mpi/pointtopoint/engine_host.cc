#include "replicate/mpi/pointtopoint/engine_host.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "real_functions.h"
#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/agree/thread_order.h"
#include "replicate/mpi/agree/threads_advice.h"
#include "replicate/mpi/agree/watch.h"
#include "replicate/mpi/context/crash.h"
#include "replicate/mpi/context/evidence.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/pointtopoint/completion.h"
#include "replicate/mpi/pointtopoint/operation.h"
#include "replicate/mpi/pointtopoint/receive.h"
#include "replicate/mpi/verify/tolerance.h"

namespace holdfast::replicate {

namespace {

Operation& operation(Verified& verified) {
  return static_cast<Operation&>(verified);
}

int physical_rank(Process process) {
  return runtime().map->physical_rank(process.rank, process.replica);
}

}  // namespace

void EngineHost::send(Process to, const Record& record, std::span<const std::byte> tail) {
  runtime().control.send(physical_rank(to), record, tail);
}

std::uint64_t EngineHost::send_copy(Process to, Copy bytes) {
  return static_cast<std::uint64_t>(runtime().control.send_payload(physical_rank(to), std::move(bytes)));
}

void EngineHost::receive_copy(Process from, std::uint64_t tag, std::shared_ptr<std::vector<std::byte>> into,
                              std::uint64_t token) {
  runtime().control.receive_copy(physical_rank(from), static_cast<int>(tag), std::move(into), token);
}

void EngineHost::give_to_mpi(Verified& receive) {
  Operation& op = operation(receive);
  const int source = mpi_source(op.source);
  const int tag = mpi_tag(op.tag);
  // A follower's persistent wildcard is none any more: the leader has said what it takes.
  const bool as_asked = !op.persistent() || (source == op.posted_source && tag == op.posted_tag);
  if (op.persistent() && op.native != MPI_REQUEST_NULL && as_asked) {
    real().Start(&op.native);
  } else {
    real().Irecv(op.buffer, op.count, op.type, source, tag, op.comm->handle, &op.native);
  }
}

void EngineHost::take_answers(std::uint64_t book, std::span<const Decision> decisions) {
  receive_answers(book, decisions);
}

void EngineHost::wake_for_turn(std::uint64_t thread) {
  replicate::wake_for_turn(thread);
}

Verified* EngineHost::find_posted(const ReceiveOrder& order, ReceiveOrder::Ticket ticket) {
  Verified* found = nullptr;
  const auto look = [&](Operation& op) {
    if (op.order == &order && op.ticket == ticket) found = &op;
  };
  runtime().requests.for_each(look);
  for (Operation* op : runtime().requests.orphans()) look(*op);
  return found;
}

bool EngineHost::take_back(Verified& receive) {
  return cancel_with_mpi(operation(receive));
}

Ballot EngineHost::digest(std::span<const std::byte> bytes) const {
  return ballot_of(bytes);
}

/// A system call that takes bytes from memory which is not there fails, where the processor would end the process.
Copy EngineHost::read_if_there(const std::byte* memory, std::uint64_t bytes) {
  const int file = ::memfd_create("holdfast-recalled", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  auto copy = std::make_shared<std::vector<std::byte>>(bytes);
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  const auto move = [&](std::uint64_t& at, auto call) {
    ssize_t part = 1;
    while (at < bytes && part > 0) {
      part = call();
      at += static_cast<std::uint64_t>(std::max<ssize_t>(part, 0));
    }
    return at == bytes;
  };
  const bool there =
      move(written, [&] { return ::pwrite(file, memory + written, bytes - written, static_cast<off_t>(written)); }) &&
      move(read, [&] { return ::pread(file, copy->data() + read, bytes - read, static_cast<off_t>(read)); });
  ::close(file);
  return there ? copy : nullptr;
}

bool EngineHost::tolerates(const Verified& verified) {
  const auto& op = static_cast<const Operation&>(verified);
  const bool message = op.kind == Operation::Kind::receive;
  return tolerated({message ? op.comm->virtual_rank(op.source) : -1, message ? op.tag : -1,
                    static_cast<long>(op.own.bytes), function_name(op.function)});
}

void EngineHost::await(Awaited awaited) {
  set_awaited(awaited);
}

void EngineHost::watch(Verified& verified) {
  watch_in_background(operation(verified));
}

void EngineHost::forget(Verified& verified) {
  forget_in_background(operation(verified));
}

void EngineHost::note_wrong_copy(int rank, int replica) {
  replicate::note_wrong_copy(rank, replica);
}

void EngineHost::say(std::string_view message) {
  replicate::say(message);
}

void EngineHost::fail(Incident incident, std::string_view message) {
  replicate::fail(incident, message);
}

void EngineHost::withdraw(std::string_view why) {
  end_alone(why);
}

std::string EngineHost::other_causes() const {
  const bool same_memory = std::getenv("HOLDFAST_RUN_SAME_MEMORY") != nullptr;
  return (same_memory ? "" : "; memory that was never set agrees with --same-memory") + openmp_advice() +
         threads_advice();
}

std::string EngineHost::divergence_causes() const {
  return threads_advice();
}

}  // namespace holdfast::replicate
