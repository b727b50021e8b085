#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replicate/engine/host.h"

namespace holdfast::replicate {

/// What the engine asks of this process: control messages and copies by way of the real world's communicators
/// (control_channel.h), and the rest by the parts of the adapter that have it.
class EngineHost final : public Host {
 public:
  void send(Process to, const Record& record, std::span<const std::byte> tail) override;
  std::uint64_t send_copy(Process to, Copy bytes) override;
  void receive_copy(Process from, std::uint64_t tag, std::shared_ptr<std::vector<std::byte>> into,
                    std::uint64_t token) override;
  void give_to_mpi(Verified& receive) override;
  void take_answers(std::uint64_t book, std::span<const Decision> decisions) override;
  void wake_for_turn(std::uint64_t thread) override;
  Verified* find_posted(const ReceiveOrder& order, ReceiveOrder::Ticket ticket) override;
  bool take_back(Verified& receive) override;
  Ballot digest(std::span<const std::byte> bytes) const override;
  Copy read_if_there(const std::byte* memory, std::uint64_t bytes) override;
  bool tolerates(const Verified& verified) override;
  void await(Awaited awaited) override;
  void watch(Verified& verified) override;
  void forget(Verified& verified) override;
  void note_wrong_copy(int rank, int replica) override;
  void say(std::string_view message) override;
  [[noreturn]] void fail(Incident incident, std::string_view message) override;
  [[noreturn]] void withdraw(std::string_view why) override;
  std::string other_causes() const override;
  std::string divergence_causes() const override;
};

}  // namespace holdfast::replicate
