#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "simulate/job/collective.h"
#include "simulate/job/trees.h"

namespace holdfast::simulate::job {

/// Puts together what one rank does.
class Builder {
 public:
  std::uint64_t send(std::uint32_t to, std::uint64_t bytes, bool synchronous = false) {
    return begin({synchronous ? Action::Kind::synchronous_send : Action::Kind::send, to, bytes});
  }
  std::uint64_t receive(std::uint32_t from, std::uint64_t bytes) { return begin({Action::Kind::receive, from, bytes}); }
  void network(std::uint64_t bytes) { wait_for(begin({Action::Kind::network, 0, bytes})); }
  void wait() {
    if (begun_ > waited_) actions_.push_back({Action::Kind::wait, 0, 0});
    waited_ = begun_;
  }
  void wait_for(std::uint64_t number) { actions_.push_back({Action::Kind::wait_for, 0, number}); }
  std::uint64_t begun() const { return begun_; }
  void reduce(std::uint64_t bytes) {
    if (bytes > 0) actions_.push_back({Action::Kind::reduce, 0, bytes});
  }
  void send_and_wait(std::uint32_t to, std::uint64_t bytes) { wait_for(send(to, bytes)); }
  void receive_and_wait(std::uint32_t from, std::uint64_t bytes) { wait_for(receive(from, bytes)); }
  /// What MPI_Sendrecv does.
  void exchange(std::uint32_t to, std::uint64_t sent, std::uint32_t from, std::uint64_t received) {
    receive(from, received);
    send(to, sent);
    wait();
  }
  std::vector<Action> take() {
    wait();
    return std::move(actions_);
  }

 private:
  std::uint64_t begin(const Action& action) {
    actions_.push_back(action);
    return begun_++;
  }
  std::vector<Action> actions_;
  std::uint64_t begun_ = 0;
  std::uint64_t waited_ = 0;
};

/// How a vector is cut into blocks of whole elements, the first ones longer by one.
struct Blocks {
  std::uint64_t element = 1, least = 0, longer = 0;
  Blocks(std::uint64_t bytes, std::uint64_t count) : element(element_bytes(bytes)) {
    least = bytes / element / count;
    longer = bytes / element % count;
  }
  std::uint64_t operator[](std::uint64_t block) const { return (least + (block < longer ? 1 : 0)) * element; }
};

/// The largest power of two that is no more than `size`.
inline std::uint32_t power_within(std::uint32_t size) {
  return std::bit_floor(size);
}
inline std::uint32_t next_rank(const Collective& what, std::uint64_t by = 1) {
  return static_cast<std::uint32_t>((what.me + by) % what.size);
}
inline std::uint32_t rank_before(const Collective& what, std::uint64_t by = 1) {
  return static_cast<std::uint32_t>((what.me + what.size - by % what.size) % what.size);
}
inline std::uint64_t sum_of(const std::vector<std::uint64_t>& values) {
  std::uint64_t sum = 0;
  for (const std::uint64_t value : values) sum += value;
  return sum;
}

// Each adds what the algorithm does to the builder. Defined in the file that is named after the operation.
void add_barrier(const Collective& what, Algorithm algorithm, Builder& builder);
void add_broadcast(const Collective& what, Algorithm algorithm, Builder& builder);
void add_reduction(const Collective& what, Algorithm algorithm, Rules rules, Builder& builder);
void add_all_reduction(const Collective& what, Algorithm algorithm, Rules rules, Builder& builder);
void add_reduce_scatter(const Collective& what, Algorithm algorithm, Builder& builder);
void add_scan(const Collective& what, Algorithm algorithm, Builder& builder);
void add_gather(const Collective& what, Algorithm algorithm, Builder& builder);
void add_scatter(const Collective& what, Algorithm algorithm, Builder& builder);
void add_allgather(const Collective& what, Algorithm algorithm, Builder& builder);
void add_exchange_of_all(const Collective& what, Algorithm algorithm, Builder& builder);

}  // namespace holdfast::simulate::job
