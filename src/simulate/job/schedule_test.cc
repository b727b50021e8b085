#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "simulate/job/collective.h"

/// Every schedule of every operation: it ends, what is sent is received, and what must have come to a rank has.
namespace holdfast::simulate::job {
namespace {

struct Case {
  Operation operation;
  std::vector<Algorithm> algorithms;
};

const std::vector<Case>& cases() {
  using enum Algorithm;
  using O = Operation;
  static const std::vector<Case> all{
      {O::barrier, {linear, recursive_doubling, dissemination, tree}},
      {O::bcast, {linear, chain, binary, split_binary, binomial, knomial, scatter_recursive_doubling, scatter_ring}},
      {O::gather, {linear, binomial, linear_synchronous, linear_at_once}},
      {O::gatherv, {linear, linear_at_once}},
      {O::scatter, {linear, binomial, linear_at_once}},
      {O::scatterv, {linear, linear_at_once}},
      {O::allgather, {bruck, recursive_doubling, ring, neighbour_exchange, exchange, linear_at_once}},
      {O::allgatherv, {gather_bcast, bruck, ring, neighbour_exchange, exchange}},
      {O::alltoall, {linear_at_once, linear_synchronous, pairwise, bruck, exchange, scattered}},
      {O::alltoallv, {linear_at_once, pairwise, scattered}},
      {O::alltoallw, {linear_at_once, pairwise, scattered}},
      {O::reduce, {linear, chain, binary, in_order_binary, binomial, rabenseifner}},
      {O::allreduce, {linear, reduce_bcast, recursive_doubling, ring, rabenseifner}},
      {O::scan, {linear, recursive_doubling}},
      {O::exscan, {linear, recursive_doubling}},
      {O::reduce_scatter, {reduce_scatter, recursive_halving, ring, butterfly, pairwise}},
      {O::reduce_scatter_block, {reduce_scatter, recursive_doubling, recursive_halving, butterfly, pairwise}}};
  return all;
}

std::vector<Collective> ranks_of(Operation operation, std::uint32_t size, std::uint64_t bytes, std::uint32_t root) {
  std::vector<Collective> ranks;
  for (std::uint32_t me = 0; me < size; ++me) {
    Collective what;
    what.operation = operation;
    what.me = me;
    what.size = size;
    what.root = root;
    what.bytes = bytes;
    const auto block = [&](std::uint32_t rank) { return bytes * (rank % 3); };
    for (std::uint32_t other = 0; other < size; ++other) {
      if (operation == Operation::alltoallv || operation == Operation::alltoallw) {
        what.to.push_back(bytes * ((me + 2 * other) % 3));
        what.from.push_back(bytes * ((other + 2 * me) % 3));
      }
      if (operation == Operation::allgatherv || operation == Operation::reduce_scatter ||
          (operation == Operation::gatherv && me == root))
        what.from.push_back(block(other));
      if (operation == Operation::scatterv && me == root) what.to.push_back(block(other));
    }
    if (operation == Operation::allgatherv || operation == Operation::gatherv || operation == Operation::scatterv)
      what.bytes = block(me);
    ranks.push_back(std::move(what));
  }
  return ranks;
}

using Heard = std::bitset<128>;

/// Runs the ranks' actions on an ideal machine whose sends end at once, or, `synchronous`, when they are received.
/// Returns the ranks that each rank has heard of, itself included.
std::vector<Heard> play(const std::vector<std::vector<Action>>& ranks, bool synchronous, std::string& wrong) {
  struct Begun {
    bool over = false;
    bool receives = false;
    std::uint32_t peer = 0;
    std::uint64_t bytes = 0;
    Heard heard;
  };
  const std::size_t size = ranks.size();
  std::vector<Heard> heard(size);
  std::vector<std::vector<Begun>> begun(size);
  std::vector<std::size_t> at(size, 0), waited(size, 0);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::size_t>> sends, receives;
  for (std::uint32_t rank = 0; rank < size; ++rank) heard[rank].set(rank);
  const auto match = [&](std::uint32_t from, std::uint32_t to) {
    auto& sent = sends[{from, to}];
    auto& wanted = receives[{from, to}];
    while (!sent.empty() && !wanted.empty()) {
      Begun& send = begun[from][sent.front()];
      Begun& receive = begun[to][wanted.front()];
      if (send.bytes != receive.bytes)
        wrong = std::to_string(from) + " sends " + std::to_string(send.bytes) + " to " + std::to_string(to) +
                ", which wants " + std::to_string(receive.bytes);
      send.over = receive.over = true;
      receive.heard = send.heard;
      sent.pop_front();
      wanted.pop_front();
    }
  };
  const auto is_over = [&](std::uint32_t rank, std::size_t number) {
    Begun& one = begun[rank][number];
    if (!one.over) return false;
    if (one.receives) heard[rank] |= one.heard;
    return true;
  };
  bool moved = true;
  while (moved && wrong.empty()) {
    moved = false;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      while (at[rank] < ranks[rank].size()) {
        const Action& what = ranks[rank][at[rank]];
        bool goes_on = true;
        if (what.kind == Action::Kind::wait) {
          while (waited[rank] < begun[rank].size() && is_over(rank, waited[rank])) ++waited[rank];
          goes_on = waited[rank] == begun[rank].size();
        } else if (what.kind == Action::Kind::wait_for) {
          goes_on = is_over(rank, what.bytes);
        } else if (what.kind != Action::Kind::reduce) {
          const bool is_receive = what.kind == Action::Kind::receive;
          if (what.peer >= size || what.peer == rank) return wrong = "a bad peer", heard;
          begun[rank].push_back({!is_receive && !synchronous, is_receive, what.peer, what.bytes, heard[rank]});
          const auto pair = is_receive ? std::pair(what.peer, rank) : std::pair(rank, what.peer);
          (is_receive ? receives : sends)[pair].push_back(begun[rank].size() - 1);
          match(pair.first, pair.second);
        }
        if (!goes_on) break;
        ++at[rank];
        moved = true;
      }
    }
  }
  for (std::uint32_t rank = 0; rank < size && wrong.empty(); ++rank)
    if (at[rank] < ranks[rank].size()) wrong = "rank " + std::to_string(rank) + " waits for ever";
  for (const auto& [pair, left] : sends)
    if (!left.empty() && wrong.empty()) wrong = "a message to " + std::to_string(pair.second) + " is not received";
  return heard;
}

/// Whether `from`'s data must have come to `to`, where no block is empty.
bool must_hear(Operation operation, std::uint32_t root, std::uint32_t from, std::uint32_t to) {
  switch (operation) {
    case Operation::bcast:
    case Operation::scatter:
      return from == root;
    case Operation::gather:
    case Operation::reduce:
      return to == root;
    case Operation::scan:
    case Operation::exscan:
      return from <= to;
    case Operation::gatherv:
    case Operation::scatterv:
    case Operation::allgatherv:
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::reduce_scatter:
      return false;  // some blocks are empty
    default:
      return true;
  }
}

void expect_right(Operation operation, Algorithm algorithm, Rules rules, std::uint32_t size, std::uint64_t bytes,
                  std::uint32_t root) {
  std::vector<std::vector<Action>> actions;
  for (const Collective& what : ranks_of(operation, size, bytes, root))
    actions.push_back(schedule(what, algorithm, rules));
  const std::string which = std::string(name(operation)) + " " + std::string(name(algorithm)) + " " +
                            std::string(name(rules)) + " of " + std::to_string(size) + ", " + std::to_string(bytes) +
                            " bytes, root " + std::to_string(root);
  for (const bool synchronous : {false, true}) {
    std::string wrong;
    const auto heard = play(actions, synchronous, wrong);
    ASSERT_EQ(wrong, "") << which << (synchronous ? ", synchronous" : "");
    for (std::uint32_t from = 0; from < size; ++from)
      for (std::uint32_t to = 0; to < size; ++to)
        if (must_hear(operation, root, from, to)) {
          ASSERT_TRUE(heard[to].test(from)) << which << ": " << to << " has nothing of " << from;
        }
  }
}

TEST(Schedules, AllEndAndBringWhatTheyMust) {
  for (const auto& [operation, algorithms] : cases())
    for (const Algorithm algorithm : algorithms)
      for (const Rules rules : {Rules::openmpi, Rules::mpich})
        for (std::uint32_t size = 1; size <= 20; ++size)
          for (const std::uint64_t bytes : {8, 800})
            for (const std::uint32_t root : {0U, size / 2})
              expect_right(operation, algorithm, rules, size, bytes, root);
}

TEST(Schedules, TwoLevels) {
  for (const Operation operation : {Operation::barrier, Operation::bcast, Operation::reduce, Operation::allreduce})
    for (std::uint32_t size = 2; size <= 13; ++size)
      for (const std::uint32_t hosts : {2U, 3U, 5U})
        for (const std::uint32_t root : {0U, size - 1}) {
          std::vector<std::vector<Action>> actions;
          for (Collective what : ranks_of(operation, size, 64, root)) {
            for (std::uint32_t rank = 0; rank < size; ++rank) what.host_of.push_back(rank % hosts);
            actions.push_back(schedule(what, Algorithm::two_level, Rules::mpich));
          }
          std::string wrong;
          const auto heard = play(actions, true, wrong);
          ASSERT_EQ(wrong, "") << name(operation) << " of " << size << " on " << hosts << ", root " << root;
          for (std::uint32_t to = 0; to < size; ++to)
            for (std::uint32_t from = 0; from < size; ++from)
              if (must_hear(operation, root, from, to)) {
                ASSERT_TRUE(heard[to].test(from)) << name(operation) << " of " << size << " on " << hosts;
              }
        }
}

TEST(Schedules, WhatTheRulesChooseIsRightToo) {
  for (const auto& [operation, algorithms] : cases())
    for (const Rules rules : {Rules::openmpi, Rules::mpich})
      for (const bool nonblocking : {false, true})
        for (const std::uint32_t size : {2, 3, 4, 5, 7, 8, 12, 16, 33})
          for (const std::uint64_t bytes : {0, 8, 1024, 40'000, 1 << 20}) {
            const auto ranks = ranks_of(operation, size, bytes, size - 1);
            std::set<Algorithm> chosen;
            std::vector<std::vector<Action>> actions;
            for (Collective what : ranks) {
              what.nonblocking = nonblocking;
              chosen.insert(choose(rules, what));
              actions.push_back(schedule(what, choose(rules, what), rules));
            }
            ASSERT_EQ(chosen.size(), 1u) << name(operation) << ": ranks disagree";
            std::string wrong;
            play(actions, true, wrong);
            ASSERT_EQ(wrong, "") << name(operation) << " " << name(*chosen.begin()) << " of " << size << ", " << bytes;
          }
}

}  // namespace
}  // namespace holdfast::simulate::job
