#include "record/import/dumpi_communicators.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "core/arithmetic/checked.h"

namespace holdfast::record {
namespace {

using List = std::vector<std::int64_t>;

constexpr std::int64_t unknown_colour = std::numeric_limits<std::int64_t>::min();

DumpiCommunicators::Members shared(List members) {
  return std::make_shared<const List>(std::move(members));
}

/// Which of `size` places a list of them, or of triples first, last, step, names, in its order; none where a place is
/// outside.
std::optional<std::vector<std::size_t>> places(const List& numbers, bool ranges, std::size_t size) {
  std::vector<std::size_t> named;
  const auto name = [&](std::int64_t place) {
    if (place < 0 || static_cast<std::size_t>(place) >= size || named.size() >= size) return false;
    named.push_back(static_cast<std::size_t>(place));
    return true;
  };
  if (!ranges) {
    for (const std::int64_t place : numbers)
      if (!name(place)) return std::nullopt;
    return named;
  }
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3) {
    const std::int64_t last = numbers[i + 1], step = numbers[i + 2];
    if (step == 0) return std::nullopt;
    for (std::int64_t place = numbers[i]; step > 0 ? place <= last : place >= last;) {
      if (!name(place)) return std::nullopt;
      const auto next = arithmetic::checked_add(place, step);
      if (!next) break;
      place = *next;
    }
  }
  return named;
}

std::int64_t product_of(const List& numbers, std::int64_t most) {
  std::int64_t product = 1;
  for (const std::int64_t number : numbers) {
    const auto next = number < 1 ? std::nullopt : arithmetic::checked_multiply(product, number);
    if (!next || *next > most) return 0;
    product = *next;
  }
  return product;
}

}  // namespace

DumpiCommunicators::DumpiCommunicators(std::uint64_t ranks) : ranks_(ranks) {
  List all(ranks);
  std::iota(all.begin(), all.end(), 0);
  communicators_.push_back({shared(std::move(all)), {}});
}

bool DumpiCommunicators::makes_one(std::string_view function) {
  static const std::set<std::string_view> names{
      "MPI_Comm_dup",     "MPI_Comm_split",          "MPI_Comm_create",     "MPI_Cart_create", "MPI_Cart_sub",
      "MPI_Graph_create", "MPI_Intercomm_create",    "MPI_Intercomm_merge", "MPI_Comm_accept", "MPI_Comm_connect",
      "MPI_Comm_spawn",   "MPI_Comm_spawn_multiple", "MPI_Comm_join"};
  return names.contains(function);
}

std::optional<DumpiCommunicators::Making> DumpiCommunicators::making_of(const DumpiCall& call) {
  const auto number = [&](std::string_view name) { return call.number(name).value_or(0); };
  const std::string_view function = call.function;
  if (function == "MPI_Comm_group") return Making{Kind::group_of, false, number("comm"), 0, number("group"), {}};
  const bool ranges = function.find("_range_") != std::string_view::npos;
  if (function == "MPI_Group_incl" || function == "MPI_Group_range_incl")
    return Making{
        Kind::include, ranges, number("group"), 0, number("newgroup"), call.numbers(ranges ? "ranges" : "ranks")};
  if (function == "MPI_Group_excl" || function == "MPI_Group_range_excl")
    return Making{
        Kind::exclude, ranges, number("group"), 0, number("newgroup"), call.numbers(ranges ? "ranges" : "ranks")};
  for (const auto& [name, kind] : {std::pair<std::string_view, Kind>{"MPI_Group_union", Kind::unite},
                                   {"MPI_Group_intersection", Kind::intersect},
                                   {"MPI_Group_difference", Kind::subtract}})
    if (function == name) return Making{kind, false, number("group1"), number("group2"), number("newgroup"), {}};
  if (!makes_one(function)) return std::nullopt;
  Making making{Kind::unknown, false, number("oldcomm"), 0, number("newcomm"), {}};
  if (function == "MPI_Comm_dup") making.kind = Kind::duplicate;
  if (function == "MPI_Comm_split") {
    making.kind = Kind::split;
    making.numbers = {number("color"), number("key")};
  }
  if (function == "MPI_Comm_create") {
    making.kind = Kind::by_group;
    making.second = number("group");
  }
  if (function == "MPI_Graph_create") {
    making.kind = Kind::first;
    making.numbers = {number("nodes")};
  }
  if (function == "MPI_Cart_create") {
    making.kind = Kind::cartesian;
    making.numbers = call.numbers("dims");
  }
  if (function == "MPI_Cart_sub") {
    making.kind = Kind::part_of_cartesian;
    making.numbers = call.numbers("remain_dims");
  }
  return making;
}

void DumpiCommunicators::take(std::uint64_t rank, const DumpiCall& call) {
  if (auto making = making_of(call)) ranks_[rank].makings.push_back(std::move(*making));
}

void DumpiCommunicators::resolve() {
  for (std::uint64_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].communicators = {{world, 0}, {self, communicators_.size()}};
    communicators_.push_back({shared({static_cast<std::int64_t>(rank)}), {}});
    ready_.push_back(rank);
  }
  while (!ready_.empty()) {
    const std::uint64_t rank = ready_.front();
    ready_.pop_front();
    advance(rank);
  }
}

DumpiCommunicators::Members DumpiCommunicators::made(std::uint64_t rank, std::size_t index) const {
  const Rank& state = ranks_[rank];
  if (index >= state.made.size() || !state.made[index]) return nullptr;
  return communicators_[*state.made[index]].members;
}

/// Goes on to the rank's next call that needs the others, and makes what it makes when it is the last to come.
void DumpiCommunicators::advance(std::uint64_t rank) {
  Rank& state = ranks_[rank];
  while (state.next < state.makings.size()) {
    const Making& making = state.makings[state.next];
    const auto from = state.communicators.find(making.from);
    if (is_local(making.kind)) {
      make_group(state, making);
      ++state.next;
    } else if (making.kind == Kind::unknown || from == state.communicators.end()) {
      give(rank, std::nullopt);
    } else {
      const std::size_t communicator = from->second;
      std::vector<std::uint64_t>& here = waiting_[communicator];
      here.push_back(rank);
      if (here.size() == communicators_[communicator].members->size()) make_together(communicator);
      return;
    }
  }
}

/// The rank's next call has made this.
void DumpiCommunicators::give(std::uint64_t rank, std::optional<std::size_t> communicator) {
  Rank& state = ranks_[rank];
  const std::int64_t number = state.makings[state.next++].result;
  state.made.push_back(number > self ? communicator : std::nullopt);
  if (number <= self) return;
  state.communicators.erase(number);
  if (communicator) state.communicators[number] = *communicator;
}

DumpiCommunicators::Members DumpiCommunicators::chosen(const List& from, const Making& making) {
  const auto named = places(making.numbers, making.ranges, from.size());
  if (!named) return nullptr;
  List members;
  if (making.kind == Kind::include) {
    for (const std::size_t place : *named) members.push_back(from[place]);
    return shared(std::move(members));
  }
  std::vector<bool> out(from.size(), false);
  for (const std::size_t place : *named) out[place] = true;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!out[i]) members.push_back(from[i]);
  return shared(std::move(members));
}

/// MPI 4.0, 7.3.2: in the order of the first group, then of the second.
DumpiCommunicators::Members DumpiCommunicators::combined(const Members& left, const Members& right, Kind kind) {
  const std::set<std::int64_t> in_left(left->begin(), left->end()), in_right(right->begin(), right->end());
  List members;
  for (const std::int64_t rank : *left)
    if (kind == Kind::unite || in_right.contains(rank) == (kind == Kind::intersect)) members.push_back(rank);
  if (kind == Kind::unite)
    for (const std::int64_t rank : *right)
      if (!in_left.contains(rank)) members.push_back(rank);
  return shared(std::move(members));
}

void DumpiCommunicators::make_group(Rank& rank, const Making& making) {
  Members made;
  const auto group = [&](std::int64_t number) -> Members {
    const auto known = rank.groups.find(number);
    return known == rank.groups.end() ? nullptr : known->second;
  };
  if (making.kind == Kind::group_of) {
    const auto from = rank.communicators.find(making.from);
    if (from != rank.communicators.end()) made = communicators_[from->second].members;
  } else if (making.kind == Kind::include || making.kind == Kind::exclude) {
    if (const Members from = group(making.from)) made = chosen(*from, making);
  } else if (const Members left = group(making.from), right = group(making.second); left && right) {
    made = combined(left, right, making.kind);
  }
  rank.groups.erase(making.result);
  if (made) rank.groups[making.result] = made;
}

/// All members have come to the call that makes something of this communicator.
void DumpiCommunicators::make_together(std::size_t communicator) {
  waiting_.erase(communicator);
  const OneCommunicator from = communicators_[communicator];
  std::vector<std::uint64_t> ranks;
  for (const std::int64_t rank : *from.members) ranks.push_back(static_cast<std::uint64_t>(rank));
  const auto making = [&](std::size_t i) -> const Making& { return ranks_[ranks[i]].makings[ranks_[ranks[i]].next]; };
  ready_.insert(ready_.end(), ranks.begin(), ranks.end());
  const Kind kind = making(0).kind;
  bool same = true;
  for (std::size_t i = 0; i < ranks.size(); ++i) same = same && making(i).kind == kind;
  std::vector<std::int64_t> colours(ranks.size(), 0), keys(ranks.size(), 0), dimensions;
  if (same && kind == Kind::duplicate) {
    dimensions = from.dimensions;
  } else if (same && kind == Kind::split) {
    for (std::size_t i = 0; i < ranks.size(); ++i) colours[i] = making(i).numbers[0], keys[i] = making(i).numbers[1];
  } else if (same && kind == Kind::by_group) {
    std::map<List, std::int64_t> lists;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const auto known = ranks_[ranks[i]].groups.find(making(i).second);
      if (known == ranks_[ranks[i]].groups.end()) {
        colours[i] = unknown_colour;
        continue;
      }
      const List& members = *known->second;
      colours[i] = lists.try_emplace(members, static_cast<std::int64_t>(lists.size())).first->second;
      keys[i] = std::find(members.begin(), members.end(), static_cast<std::int64_t>(ranks[i])) - members.begin();
    }
  } else if (same && (kind == Kind::first || kind == Kind::cartesian)) {
    // Without reordering, which neither Open MPI nor MPICH do by themselves.
    const std::int64_t count = product_of(making(0).numbers, static_cast<std::int64_t>(ranks.size()));
    for (std::size_t i = 0; i < ranks.size(); ++i) colours[i] = static_cast<std::int64_t>(i) < count ? 0 : 1;
    if (kind == Kind::cartesian && count > 0) dimensions = making(0).numbers;
  } else if (same && kind == Kind::part_of_cartesian && making(0).numbers.size() == from.dimensions.size()) {
    const List remains = making(0).numbers;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      auto rest = static_cast<std::int64_t>(i);
      std::int64_t unit = 1;
      for (std::size_t d = from.dimensions.size(); d > 0; --d) {  // the last dimension's coordinate runs fastest
        const std::int64_t size = from.dimensions[d - 1];
        if (remains[d - 1] == 0) {
          colours[i] += rest % size * unit;
          unit *= size;
        }
        rest /= size;
      }
    }
    for (std::size_t d = 0; d < remains.size(); ++d)
      if (remains[d] != 0) dimensions.push_back(from.dimensions[d]);
  } else {
    for (const std::uint64_t rank : ranks) give(rank, std::nullopt);
    return;
  }
  split(ranks, colours, keys, dimensions);
}

/// One communicator of each colour, in the order of the keys and then of the ranks, of those that got one.
void DumpiCommunicators::split(const std::vector<std::uint64_t>& ranks, const std::vector<std::int64_t>& colours,
                               const std::vector<std::int64_t>& keys, const std::vector<std::int64_t>& dimensions) {
  std::map<std::int64_t, std::vector<std::size_t>> parts;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Rank& state = ranks_[ranks[i]];
    if (state.makings[state.next].result > self && colours[i] != unknown_colour) parts[colours[i]].push_back(i);
  }
  std::vector<std::optional<std::size_t>> made(ranks.size());
  for (auto& [colour, places] : parts) {
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    List members;
    for (const std::size_t place : places) {
      members.push_back(static_cast<std::int64_t>(ranks[place]));
      made[place] = communicators_.size();
    }
    communicators_.push_back({shared(std::move(members)), dimensions});
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) give(ranks[i], made[i]);
}

}  // namespace holdfast::record
