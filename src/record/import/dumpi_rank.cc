#include "record/import/dumpi_rank.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/arithmetic/checked.h"
#include "record/call_kind.h"

namespace holdfast::record {
namespace {

constexpr std::int64_t null_rank = -2;
constexpr std::int64_t any_rank = -1;  ///< DUMPI's MPI_ANY_SOURCE, and of its MPI_ANY_TAG
constexpr std::int64_t most_message_bytes = std::int64_t{1} << 40;

/// MPI's tags are ints; negative ones are MPI_ANY_TAG.
std::int64_t tag_of(std::optional<std::int64_t> number, std::int64_t otherwise) {
  return std::clamp<std::int64_t>(number.value_or(otherwise), any_tag, std::numeric_limits<std::int32_t>::max());
}

bool is_one_of(std::string_view function, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), function) != names.end();
}

}  // namespace

DumpiRank::DumpiRank(std::uint64_t rank, const DumpiCommunicators& communicators,
                     std::map<std::int64_t, std::int64_t> sizes, ImportedRank& to)
    : rank_(rank), all_(communicators), datatypes_(std::move(sizes)), to_(to) {
  const auto everybody = all_.everybody();
  communicators_[DumpiCommunicators::world] = {to_.define({*everybody, {}, 0}), everybody};
  const auto alone = std::make_shared<const std::vector<std::int64_t>>(1, static_cast<std::int64_t>(rank_));
  communicators_[DumpiCommunicators::self] = {to_.define({*alone, {}, 0}), alone};
}

void DumpiRank::take(const DumpiCall& call) {
  datatypes_.take(call);
  facts_.clear();
  current_ = nullptr;
  if (call.function == "MPI_Finalize") ending_ = Ending::finalized;
  if (call.function == "MPI_Abort") ending_ = Ending::aborted;
  const CallKind kind = kind_of(call.function);
  bool known = true;
  switch (kind) {
    case CallKind::send:
    case CallKind::receive:
    case CallKind::send_receive:
    case CallKind::persistent_send:
    case CallKind::persistent_receive:
    case CallKind::probe:
      known = point_to_point(call);
      break;
    case CallKind::start:
    case CallKind::completion:
      known = completion(call);
      break;
    case CallKind::collective:
      known = collective(call);
      break;
    case CallKind::communicator:
      known = communicator(call);
      break;
    case CallKind::file:
      if (call.find("count") && call.find("datatype")) fact(Fact::bytes, bytes(call, "count", "datatype"));
      break;
    case CallKind::one_sided:
    case CallKind::synchronisation:
    case CallKind::neighbours:
      return to_.count(call.function, false);
    case CallKind::other:
      if (is_one_of(call.function, {"MPI_Cancel", "MPI_Request_free"}))
        completion(call);
      else if (ending_ == Ending::left)
        return to_.count(call.function, true);
      break;
  }
  if (known)
    to_.add(call.function, call.thread, facts_, call.entered_ns, call.left_ns);
  else
    to_.count(call.function, kind == CallKind::communicator);
}

/// Notes the communicator; false where it is not known.
bool DumpiRank::on_communicator(const DumpiCall& call, std::string_view field) {
  const auto number = call.number(field);
  const auto found = number ? communicators_.find(*number) : communicators_.end();
  if (found == communicators_.end()) {
    ++unknown_communicators_;
    return false;
  }
  current_ = &found->second;
  fact(Fact::communicator, current_->number);
  return true;
}

/// Negative ranks other than "any" are MPI_PROC_NULL.
std::int64_t DumpiRank::in_world(std::int64_t rank, bool of_receive) const {
  if (rank < 0) return of_receive && rank == any_rank ? std::int64_t{anybody} : std::int64_t{nobody};
  const auto& members = *current_->members;
  return static_cast<std::size_t>(rank) < members.size() ? members[static_cast<std::size_t>(rank)]
                                                         : std::int64_t{outside};
}

std::int64_t DumpiRank::bytes(const DumpiCall& call, std::string_view count, std::string_view datatype) {
  const std::int64_t elements = std::max<std::int64_t>(call.number(count).value_or(0), 0);
  const auto number = call.number(datatype);
  auto size = number ? datatypes_.bytes_of(*number) : std::nullopt;
  if (!size) {
    if (elements > 0) ++unknown_sizes_;
    size = 1;
  }
  return std::clamp<std::int64_t>(arithmetic::checked_multiply(elements, *size).value_or(most_message_bytes), 0,
                                  most_message_bytes);
}

void DumpiRank::list(Fact kind, const DumpiCall& call, std::string_view counts, std::string_view datatype) {
  const auto number = call.number(datatype);
  auto size = number ? datatypes_.bytes_of(*number) : std::nullopt;
  if (!size) ++unknown_sizes_;
  for (const std::int64_t count : call.numbers(counts))
    fact(kind, std::clamp<std::int64_t>(arithmetic::checked_multiply(std::max<std::int64_t>(count, 0), size.value_or(1))
                                            .value_or(most_message_bytes),
                                        0, most_message_bytes));
}

void DumpiRank::send_side(const DumpiCall& call, std::string_view tag, std::string_view count,
                          std::string_view datatype) {
  fact(Fact::peer, in_world(call.number("dest").value_or(null_rank), false));
  fact(Fact::tag, tag_of(call.number(tag), 0));
  fact(Fact::bytes, bytes(call, count, datatype));
}

/// What came, where the call asked for anybody's or any tag.
void DumpiRank::found(bool any_source, bool any_tag_asked, const DumpiStatus& status) {
  if (any_source) fact(Fact::source, in_world(status.source, false));
  if (any_tag_asked) fact(Fact::source_tag, tag_of(status.tag, any_tag));
  fact(Fact::source_bytes, std::clamp<std::int64_t>(status.bytes, 0, most_message_bytes));
}

bool DumpiRank::point_to_point(const DumpiCall& call) {
  if (!on_communicator(call, "comm")) return false;
  const CallKind kind = kind_of(call.function);
  const bool both = kind == CallKind::send_receive;
  const bool sends = kind == CallKind::send || kind == CallKind::persistent_send;
  if (sends) send_side(call, "tag", "count", "datatype");
  if (both) {
    const bool replaces = call.find("count") != nullptr;
    send_side(call, "sendtag", replaces ? "count" : "sendcount", replaces ? "datatype" : "sendtype");
  }
  if (!sends) {
    const std::vector<DumpiStatus> statuses = call.statuses("status");
    std::int64_t source = call.number("source").value_or(null_rank);
    if (!statuses.empty() && statuses.front().source < 0 && call.number("flag") != 0) source = null_rank;
    const std::int64_t tag = tag_of(call.number(both ? "recvtag" : "tag"), any_tag);
    fact(both ? Fact::receives_from : Fact::peer, in_world(source, true));
    fact(both ? Fact::receives_tag : Fact::tag, tag);
    if (call.find("request"))
      fact(Fact::source_bytes, bytes(call, "count", "datatype"));
    else if (call.find("flag") && call.number("flag") == 0)
      fact(Fact::not_yet, 1);
    else if (!statuses.empty() && source != null_rank)
      found(source == any_rank, tag == any_tag, statuses.front());
    else if (kind == CallKind::receive)
      fact(Fact::source_bytes, bytes(call, "count", "datatype"));  // its status was ignored: at most this
  }
  if (call.find("request"))
    made_request(call, kind == CallKind::persistent_send || kind == CallKind::persistent_receive, !sends);
  return true;
}

void DumpiRank::made_request(const DumpiCall& call, bool persistent, bool receives) {
  const auto number = call.number("request");
  if (!number) return;
  Request made;
  made.number = to_.new_request();
  made.communicator = call.number("comm").value_or(0);
  made.receives = receives;
  made.any_source = receives && call.number("source") == any_rank;
  made.tag = call.number("tag").value_or(any_tag);
  made.any_tag = receives && made.tag == any_tag;
  made.persistent = persistent;
  made.active = !persistent;
  fact(Fact::request, made.number);
  requests_[*number] = made;
}

DumpiRank::Request* DumpiRank::find(std::int64_t request) {
  const auto found = requests_.find(request);
  return found == requests_.end() ? nullptr : &found->second;
}

void DumpiRank::completes(std::int64_t request, const DumpiStatus* status) {
  Request* const known = find(request);
  if (!known || !known->active) return;  // it was null
  fact(Fact::completes, known->number);
  const auto communicator = communicators_.find(known->communicator);
  // A receive from MPI_PROC_NULL, which is MPICH's -1, looks like one from anybody until it is complete; MPICH's status
  // of it is all zero then.
  const bool from_nobody =
      status && known->any_source && (status->source < 0 || (!known->any_tag && status->tag != known->tag));
  if (status && (status->cancelled || from_nobody)) {
    fact(Fact::cancelled, 1);
  } else if (status && known->receives && communicator != communicators_.end()) {
    current_ = &communicator->second;
    found(known->any_source, known->any_tag, *status);
  }
  known->active = false;
  if (!known->persistent) requests_.erase(request);
}

void DumpiRank::in_vain(const std::vector<std::int64_t>& requests) {
  for (const std::int64_t request : requests)
    if (const Request* const known = find(request)) {
      fact(Fact::concerns, known->number);
      break;
    }
  fact(Fact::not_yet, 1);
}

/// Starts and ends of requests.
bool DumpiRank::completion(const DumpiCall& call) {
  const std::string_view function = call.function;
  const std::vector<std::int64_t> requests = call.numbers(call.find("requests") ? "requests" : "request");
  const std::vector<DumpiStatus> statuses = call.statuses(call.find("statuses") ? "statuses" : "status");
  const auto status_of = [&](std::size_t i) { return i < statuses.size() ? &statuses[i] : nullptr; };
  if (function == "MPI_Start" || function == "MPI_Startall") {
    for (const std::int64_t request : requests) {
      Request* const known = find(request);
      if (known) known->active = true;
      fact(Fact::starts, known ? known->number : unknown_request);
    }
    return true;
  }
  if (function == "MPI_Cancel" || function == "MPI_Request_free") {
    const Request* const known = requests.empty() ? nullptr : find(requests.front());
    fact(function == "MPI_Cancel" ? Fact::cancels : Fact::frees, known ? known->number : unknown_request);
    if (function == "MPI_Request_free" && !requests.empty()) requests_.erase(requests.front());
    return true;
  }
  const bool asks = function.starts_with("MPI_Test");
  if (asks && call.find("flag") && call.number("flag") == 0) return in_vain(requests), true;
  if (is_one_of(function, {"MPI_Waitsome", "MPI_Testsome"})) {
    const std::vector<std::int64_t> indices = call.numbers("indices");
    if (asks && indices.empty()) return in_vain(requests), true;
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (indices[i] >= 0 && static_cast<std::size_t>(indices[i]) < requests.size())
        completes(requests[static_cast<std::size_t>(indices[i])], status_of(i));
    return true;
  }
  if (is_one_of(function, {"MPI_Waitany", "MPI_Testany"})) {
    const std::int64_t index = call.number("index").value_or(-1);
    if (index >= 0 && static_cast<std::size_t>(index) < requests.size())
      completes(requests[static_cast<std::size_t>(index)], status_of(0));
    return true;
  }
  for (std::size_t i = 0; i < requests.size(); ++i) completes(requests[i], status_of(i));
  return true;
}

bool DumpiRank::collective(const DumpiCall& call) {
  if (!on_communicator(call, "comm")) return false;
  const std::string_view name = collective_of(call.function);
  if (call.find("root")) fact(Fact::root, in_world(call.number("root").value_or(0), false));
  const bool is_root = call.find("root") && !facts_.empty() && facts_.back().value == static_cast<std::int64_t>(rank_);
  if (name == "Reduce_scatter")
    list(Fact::bytes_from, call, "recvcounts", "datatype");
  else if (call.find("count"))
    fact(Fact::bytes, bytes(call, "count", "datatype"));
  else if (name == "Scatter" || name == "Scatterv")
    fact(Fact::bytes, bytes(call, "recvcount", "recvtype"));
  else if (call.find("sendcount"))
    fact(Fact::bytes, bytes(call, "sendcount", "sendtype"));
  if (name == "Scatter" && is_root) facts_.back().value = bytes(call, "sendcount", "sendtype");
  if (name == "Scatterv" && is_root) list(Fact::bytes_to, call, "sendcounts", "sendtype");
  if ((name == "Gatherv" && is_root) || name == "Allgatherv") list(Fact::bytes_from, call, "recvcounts", "recvtype");
  if (name == "Alltoallv") {
    list(Fact::bytes_to, call, "sendcounts", "sendtype");
    list(Fact::bytes_from, call, "recvcounts", "recvtype");
  }
  return true;
}

/// Calls that make or free a communicator; others of the kind need no other process.
bool DumpiRank::communicator(const DumpiCall& call) {
  if (call.function == "MPI_Comm_free" || call.function == "MPI_Comm_disconnect") {
    if (!on_communicator(call, "comm")) return false;
    if (const std::int64_t number = call.number("comm").value_or(0); number > DumpiCommunicators::self)
      communicators_.erase(number);
    return true;
  }
  if (!DumpiCommunicators::makes_one(call.function)) return false;
  const auto members = all_.made(rank_, made_communicators_++);
  const bool known = on_communicator(call, "oldcomm");
  const std::int64_t number = call.number("newcomm").value_or(0);
  if (number > DumpiCommunicators::self) communicators_.erase(number);
  if (members) {
    const OneCommunicator made{to_.define({*members, {}, 0}), members};
    fact(Fact::made, made.number);
    communicators_[number] = made;
  }
  return known;
}

}  // namespace holdfast::record
