#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replicate/engine/agreement.h"
#include "replicate/engine/awaited.h"
#include "replicate/engine/incident.h"
#include "replicate/engine/record.h"
#include "replicate/engine/verified.h"

namespace holdfast::replicate {

/// How replicas reach each other: control messages, and copies that one of them announces. Processes are named by rank
/// and replica; nothing says that they are in one MPI world, or in MPI at all. Nothing blocks, and what one process
/// sends another arrives in that order.
class ControlChannel {
 public:
  virtual ~ControlChannel() = default;
  /// Sends a record, and up to most_tail_bytes behind it.
  virtual void send(Process to, const Record& record, std::span<const std::byte> tail = {}) = 0;
  /// Starts sending a copy, which is kept until it is sent; the tag that the announcing record carries.
  virtual std::uint64_t send_copy(Process to, Copy bytes) = 0;
  /// Starts receiving a copy that was announced with that tag; Replica::on_copy() with `token` when it is there.
  virtual void receive_copy(Process from, std::uint64_t tag, std::shared_ptr<std::vector<std::byte>> into,
                            std::uint64_t token) = 0;
};

/// What the engine asks of the program around it. The engine calls these from inside its own functions, and they may
/// not call the engine.
class Host : public ControlChannel {
 public:
  /// MPI may have the receive now.
  virtual void give_to_mpi(Verified& receive) = 0;
  /// The leader has told a part of the book of that name (answer_book.h).
  virtual void take_answers(std::uint64_t book, std::span<const Decision> decisions) = 0;
  /// The leader has said which thread's turn is next; 0: nobody knows.
  virtual void wake_for_turn(std::uint64_t thread) = 0;
  /// The receive of that ticket, which MPI or the application has; null where there is none. Rarely asked.
  virtual Verified* find_posted(const ReceiveOrder& order, ReceiveOrder::Ticket ticket) = 0;
  /// Takes a receive back from MPI; false where its message is here already.
  virtual bool take_back(Verified& receive) = 0;
  /// The digest of bytes by the job's algorithm.
  virtual Ballot digest(std::span<const std::byte> bytes) const = 0;
  /// A copy of that memory of the application, which may have been given back to the system meanwhile; null where it is
  /// not there. Rarely asked.
  virtual Copy read_if_there(const std::byte* memory, std::uint64_t bytes) = 0;
  /// Whether the user allows the copies of this message or result to differ.
  virtual bool tolerates(const Verified& verified) = 0;
  /// What is waited for from here on, by the function that returned "not yet".
  virtual void await(Awaited awaited) = 0;
  /// Calls Replica::advance() for this message whatever the application waits for, until forget().
  virtual void watch(Verified& verified) = 0;
  virtual void forget(Verified& verified) = 0;
  /// A copy that came from there was wrong for the first time.
  virtual void note_wrong_copy(int rank, int replica) = 0;
  /// One line for the user.
  virtual void say(std::string_view message) = 0;
  /// Ends the job.
  [[noreturn]] virtual void fail(Incident incident, std::string_view message) = 0;
  /// This replica has wrong bytes, and no other one has the right ones any more: where the job goes on without it, it
  /// ends alone; else it ends the job.
  [[noreturn]] virtual void withdraw(std::string_view why) = 0;
  /// What else than a flipped bit makes the copies of this job differ: words that go behind a diagnosis.
  virtual std::string other_causes() const = 0;
  /// What makes replicas take different ways in this job, likewise.
  virtual std::string divergence_causes() const = 0;
};

}  // namespace holdfast::replicate
