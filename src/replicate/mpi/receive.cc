#include "replicate/mpi/receive.h"

#include <algorithm>
#include <list>
#include <map>
#include <utility>

#include "real_functions.h"
#include "replicate/mpi/carry.h"
#include "replicate/mpi/correct.h"
#include "replicate/mpi/decide.h"
#include "replicate/mpi/dispute.h"
#include "replicate/mpi/error_handlers.h"
#include "replicate/mpi/failure.h"
#include "replicate/mpi/progress.h"
#include "replicate/mpi/runtime.h"
#include "replicate/mpi/status.h"
#include "replicate/mpi/thread_order.h"
#include "replicate/mpi/tolerance.h"

namespace holdfast::replicate {

namespace {

/// Unresolved wildcard receives by number, made of the communicator and the place among the receives there, on which
/// replicas agree.
struct Wildcards {
  std::unordered_map<std::uint64_t, Operation*> open;
  struct Match {
    int source;
    int tag;
    std::uint32_t poster;
  };
  std::unordered_map<std::uint64_t, Match> decided_early;
};
Wildcards wildcards;

/// Receives that wait for their turn to be posted, by communicator and ticket.
std::unordered_map<Comm*, std::unordered_map<ReceiveOrder::Ticket, Operation*>> waiting_line;

/// Whether this replica posts wildcard receives to MPI as they are: the leader, when it has heard all that the leader
/// before it said.
bool in_office = false;

/// Messages that a cancelled receive had already taken from MPI.
struct PutBack {
  Comm* comm;
  int source;
  int tag;
  bool verified;  ///< it was compared already, because another replica asked about it
  std::vector<std::byte> bytes;
};
std::list<PutBack> put_back;

std::int32_t engine_source(int source) {
  return source == MPI_ANY_SOURCE ? any_source : source;
}
std::int32_t engine_tag(int tag) {
  return tag == MPI_ANY_TAG ? any_tag : tag;
}

std::list<PutBack>::iterator find_put_back(Comm& comm, int source, int tag) {
  return std::find_if(put_back.begin(), put_back.end(), [&](const PutBack& message) {
    return message.comm == &comm && (source == MPI_ANY_SOURCE || source == message.source) &&
           (tag == MPI_ANY_TAG || tag == message.tag);
  });
}

std::uint64_t received_bytes(const Operation& op) {
  MPI_Count bytes = 0;  // more than an int holds, where elements are large
  real().Get_elements_x(&op.status, MPI_BYTE, &bytes);
  return bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes);
}

bool take_put_back(Operation& op) {
  if (put_back.empty()) return false;
  const auto found = find_put_back(*op.comm, op.source, op.tag);
  if (found == put_back.end()) return false;
  op.region.scatter(found->bytes);
  op.status.MPI_SOURCE = found->source;
  op.status.MPI_TAG = found->tag;
  real().Status_set_elements_x(&op.status, MPI_BYTE, static_cast<MPI_Count>(found->bytes.size()));
  op.pushed_back = true;
  op.stage = found->verified ? Operation::Stage::complete : Operation::Stage::placing;
  put_back.erase(found);
  return true;
}

/// Puts the message of a cancelled receive back for the next one that fits.
void put_back_message(const Operation& op, bool verified) {
  const std::uint64_t bytes = op.was_corrected ? op.corrected_bytes : received_bytes(op);
  PutBack message{op.comm, op.status.MPI_SOURCE, op.status.MPI_TAG, verified, {}};
  op.region.gather(std::min(bytes, op.region.bytes()), message.bytes);
  put_back.push_back(std::move(message));
}

void give_to_mpi(Operation& op) {
  op.stage = Operation::Stage::native;
  if (take_put_back(op)) return;
  // A follower's persistent wildcard is none any more: the leader has said what it takes.
  const bool as_asked = !op.persistent || (op.source == op.posted_source && op.tag == op.posted_tag);
  const bool as_made = op.persistent && op.native != MPI_REQUEST_NULL && as_asked;
  if (as_made) {
    real().Start(&op.native);
  } else {
    real().Irecv(op.buffer, op.count, op.type, op.source, op.tag, op.comm->handle, &op.native);
  }
}

void post_now_placed(Comm& comm, const std::vector<ReceiveOrder::Ticket>& tickets) {
  const auto line = waiting_line.find(&comm);
  if (line == waiting_line.end()) return;
  for (const ReceiveOrder::Ticket ticket : tickets) {
    const auto found = line->second.find(ticket);
    if (found == line->second.end()) continue;
    Operation& op = *found->second;
    line->second.erase(found);
    give_to_mpi(op);
  }
  if (line->second.empty()) waiting_line.erase(line);
}

void resolve(Operation& op, int source, int tag) {
  op.source = source;
  op.tag = tag;
  std::vector<ReceiveOrder::Ticket> now_placed;
  op.comm->order.resolve(op.ticket, source, tag, now_placed);
  post_now_placed(*op.comm, now_placed);
}

/// MPI is done with the receive; notes its match.
void arrived(Operation& op) {
  int error_class = MPI_SUCCESS;
  if (op.status.MPI_ERROR != MPI_SUCCESS) real().Error_class(op.status.MPI_ERROR, &error_class);
  op.failed = error_class != MPI_SUCCESS;
  const bool undecided =
      op.wildcard && std::erase_if(wildcards.open, [&](const auto& entry) { return entry.second == &op; }) > 0;
  if (undecided) {
    publish_match(op.place.ordinal, op.status.MPI_SOURCE, op.status.MPI_TAG,
                  op.poster);  // until placed, this is its number
    resolve(op, op.status.MPI_SOURCE, op.status.MPI_TAG);
  }
  op.stage = Operation::Stage::placing;
}

bool native_done(Operation& op) {
  if (op.stage != Operation::Stage::native) return true;
  int done = 0;
  op.status.MPI_ERROR = MPI_SUCCESS;
  const int code = status_of(op.native, &done, &op.status);
  if (code != MPI_SUCCESS) {
    op.status.MPI_ERROR = code;
    done = 1;
  }
  if (!done) {
    set_awaited({Awaited::What::own_world, op.source >= 0 ? op.comm->virtual_rank(op.source) : -1, runtime().replica});
    return false;
  }
  if (op.cancel_asked) {
    int cancelled = 0;
    real().Test_cancelled(&op.status, &cancelled);
    if (cancelled) return true;  // settle_cancel ends it
  }
  arrived(op);
  return true;
}

Channel channel_of(const Operation& op) {
  return {op.comm->id, op.source, op.tag};
}

void read_message(Operation& op) {
  if (runtime().partial && senders_of(op) == 1) {
    ++runtime().counters[Count::unverified];
    op.stage = Operation::Stage::complete;
    return;
  }
  op.lanes = &runtime().inbox->lanes(channel_of(op));
  op.whole = false;
  if (op.failed) {
    op.own = {{}, 0, false};
  } else {
    op.own = op.region.ballot(std::min(received_bytes(op), op.region.bytes()));
  }
  op.stage = Operation::Stage::comparing;
}

Ballot half(const Ballot& ballot) {
  return {{ballot.digest.low, 0}, ballot.bytes, ballot.known};
}

/// What a sender said of the message, and the receiver's own ballot to hold it to. Where one side has long doubles and
/// the other bytes or MPI_PACKED, only all the bytes can be compared, and of their digest the lower half was sent.
Ballot comparable(Operation& op, const Arrival& said) {
  if (said.padded == op.region.padded()) return said.ballot;
  if (!op.whole && op.own.known) op.own = half(op.region.whole_ballot(op.own.bytes));
  op.whole = true;
  return said.padded ? Ballot{{said.whole, 0}, said.ballot.bytes} : half(said.ballot);
}

void start_comparing(Operation& op) {
  op.place = op.comm->order.place(op.ticket);
  read_message(op);
}

void complete(Operation& op) {
  op.stage = Operation::Stage::complete;
  Runtime& state = runtime();
  ++state.counters[Count::messages];
  state.counters[Count::bytes] += op.own.bytes;
}

/// MPI refused the message, does not say how long it was, and would refuse one of that length too: longer than the
/// buffer, or, under MPICH, the last element there in part.
bool refused_like(const Operation& op, std::uint64_t bytes) {
  return op.failed && (bytes > op.region.bytes() || op.region.torn_by(bytes));
}

/// Whether the message is the application's mistake, which MPI tells it at completion: that of each other replica
/// longer than the buffer, or of a length that MPI refused here. Open MPI does not tell before that one was too long.
bool mistaken_everywhere(const Operation& op, std::span<const Ballot> ballots, std::size_t own) {
  const Runtime& state = runtime();
  int others = 0;
  bool longer = op.failed || op.own.bytes == op.region.bytes();
  bool refused = op.failed;
  for (std::size_t k = 0; k < ballots.size(); ++k) {
    if (k == own || !state.here(static_cast<int>(k))) continue;
    ++others;
    longer = longer && ballots[k].bytes > op.region.bytes();
    refused = refused && refused_like(op, ballots[k].bytes);
  }
  return others == 0 ? op.failed : longer || refused;
}

/// A message that MPI refuses for its length cannot be given to a replica whose own it took.
void require_supply(const Operation& op, std::span<const Ballot> ballots) {
  const Verdict verdict = vote(ballots);
  if (verdict.winner < 0) return;
  const std::uint64_t length = ballots[static_cast<std::size_t>(verdict.winner)].bytes;
  if (length <= op.region.bytes() && !refused_like(op, length)) return;
  fail(Incident::uncorrected, described(op) +
                                  ": MPI refuses the majority's copy for its length, and took another replica's" +
                                  ballot_list(ballots));
}

/// msg-plus-hash: the sender replica below has said something about the message.
bool compare_with_below(Operation& op) {
  Runtime& state = runtime();
  const int below = (state.replica + state.degree - 1) % state.degree;
  Lane& lane = (*op.lanes)[static_cast<std::size_t>(below)];
  const Arrival* said = lane.find(op.place.ordinal);
  if (!said) {
    set_awaited({Awaited::What::verdict, op.comm->virtual_rank(op.source), below});
    return false;
  }
  op.identity = {channel_of(op), said->sequence};
  const Ballot announced = comparable(op, *said);
  lane.take(op.place.ordinal);
  // Too long for the buffer in both replicas: the application's mistake, which MPI tells it at completion. Open MPI
  // does not tell before; of two replicas, the one whose message did fit reports the difference.
  const bool cut = op.failed || (state.degree == 2 && op.own.bytes == op.region.bytes());
  const bool cut_alike =
      (cut && announced.bytes > op.region.bytes()) || (state.degree == 2 && refused_like(op, announced.bytes));
  if (op.own == announced || cut_alike || tolerated(op)) {
    note_agreement(op.identity);
    complete(op);
  } else if (state.degree == 2) {
    report_pair(op, announced);
    complete(op);
  } else {
    open_dispute(op, announced);
  }
  return true;
}

/// Every other sender replica has said something about the message.
bool compare_with_all(Operation& op) {
  Runtime& state = runtime();
  const int senders = senders_of(op);
  const int own = state.replica % senders;  // whose message this is
  std::vector<Ballot> ballots(senders);
  std::vector<std::shared_ptr<const std::vector<std::byte>>> copies(senders);
  for (int k = 0; k < senders; ++k) {
    if (k == own || !state.here(k)) continue;
    const Arrival* said = (*op.lanes)[k].find(op.place.ordinal);
    if (!said || !said->complete) {
      set_awaited({Awaited::What::verdict, op.comm->virtual_rank(op.source), k});
      return false;
    }
    op.identity = {channel_of(op), said->sequence};
    copies[k] = said->copy;
    ballots[k] = copies[k] && op.region.padded() ? op.region.ballot_of_copy(*copies[k]) : comparable(op, *said);
  }
  ballots[own] = op.own;
  for (int k = 0; k < senders; ++k)
    if (k != own && state.here(k)) (*op.lanes)[k].take(op.place.ordinal);
  if (mistaken_everywhere(op, ballots, static_cast<std::size_t>(own))) {
    op.failed = true;
    complete(op);
    return true;
  }
  if (senders > 2) require_supply(op, ballots);
  settle(op, ballots, copies);
  if (op.stage == Operation::Stage::complete) complete(op);
  if (op.stage == Operation::Stage::disputed) ask_for_correction(op, op.supplier, ballots);
  return true;
}

void take_early_decision(std::unordered_map<std::uint64_t, Wildcards::Match>::iterator early) {
  const auto [number, match] = *early;
  wildcards.decided_early.erase(early);
  resolve_wildcard(number, match.source, match.tag, match.poster);
}

bool compare(Operation& op) {
  return runtime().options.protocol == Protocol::msg_plus_hash ? compare_with_below(op) : compare_with_all(op);
}

}  // namespace

void post_receive(Operation& op, void* buffer, int count, MPI_Datatype type, int source, int tag, Comm& comm) {
  Runtime& state = runtime();
  op.kind = Operation::Kind::receive;
  op.comm = &comm;
  ++comm.pending;
  op.buffer = buffer;
  op.count = count;
  op.type = type;
  op.source = source;
  op.tag = tag;
  op.active = true;
  op.wildcard = source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
  op.region = Region::keep(buffer, static_cast<std::uint64_t>(count), type);
  op.ticket = comm.order.post(engine_source(source), engine_tag(tag));
  op.has_ticket = true;
  if (op.wildcard) {
    const std::uint64_t number = mix(comm.id, op.ticket);
    op.place.ordinal = number;
    op.poster = poster_of_wildcard();
    wildcards.open[number] = &op;
  }
  const auto early = op.wildcard ? wildcards.decided_early.find(op.place.ordinal) : wildcards.decided_early.end();
  const bool decided = early != wildcards.decided_early.end();
  const bool leads = state.leader() && in_office;
  if (!leads && (op.wildcard || !comm.order.placed(op.ticket))) {
    op.stage = Operation::Stage::unplaced;
    waiting_line[&comm][op.ticket] = &op;
    if (decided) take_early_decision(early);
    return;
  }
  if (decided) take_early_decision(early);  // the leader before this one had said it
  give_to_mpi(op);
}

void post_matched(Operation& op, void* buffer, int count, MPI_Datatype type, MPI_Message* message,
                  const MessageId& place, Comm& comm) {
  op.kind = Operation::Kind::receive;
  op.comm = &comm;
  ++comm.pending;
  op.source = place.channel.source;
  op.tag = place.channel.tag;
  op.place = place;
  op.region = Region::keep(buffer, static_cast<std::uint64_t>(count), type);
  op.stage = Operation::Stage::native;
  real().Imrecv(buffer, count, type, message, &op.native);
}

bool advance_receive(Operation& op) {
  if (op.stage == Operation::Stage::unplaced) {
    set_awaited({Awaited::What::decision, runtime().rank, 0});
    return false;
  }
  if (op.stage == Operation::Stage::native && (!native_done(op) || op.stage == Operation::Stage::native)) return false;
  if (op.stage == Operation::Stage::placing) {
    if (op.has_ticket && !op.comm->order.placed(op.ticket)) {
      set_awaited({Awaited::What::own_world, -1, runtime().replica});
      return false;
    }
    if (op.has_ticket) {
      start_comparing(op);
    } else {
      read_message(op);
    }
  }
  if (op.stage == Operation::Stage::comparing && !compare(op)) return false;
  if (op.stage == Operation::Stage::disputed) {
    if (!(runtime().docket ? advance_dispute(op) : take_correction(op))) {
      if (!runtime().docket) set_awaited({Awaited::What::correction, runtime().rank, -1});
      return false;
    }
    complete(op);
  }
  return op.stage == Operation::Stage::complete;
}

int finish_receive(Operation& op, MPI_Status* status) {
  int code = MPI_SUCCESS;
  MPI_Status own_status = op.status;
  if (op.cancelled) {
    // A follower's own may have got a message all the same; the application hears what the leader's outcome was.
    if (op.native != MPI_REQUEST_NULL && !op.pushed_back) real().Wait(&op.native, MPI_STATUS_IGNORE);
  } else if (op.was_corrected && !op.persistent && op.native != MPI_REQUEST_NULL && !op.pushed_back) {
    real().Request_free(&op.native);  // MPI's own message may have been too long; the one delivered instead is not
  } else if (op.native != MPI_REQUEST_NULL && !op.pushed_back) {
    code = real().Wait(&op.native, MPI_STATUS_IGNORE);  // MPICH 4.2 has forgotten that of a persistent one, once asked
    if (code == MPI_SUCCESS && op.failed) {
      code = op.status.MPI_ERROR;
      real().Comm_call_errhandler(op.comm->handle, code);
    }
  }
  if (op.was_corrected) {
    real().Status_set_elements_x(&own_status, MPI_BYTE, static_cast<MPI_Count>(op.corrected_bytes));
  }
  hand_over(own_status, status);
  if (op.has_ticket) op.comm->order.done(op.ticket);
  op.has_ticket = false;
  --op.comm->pending;
  return code;
}

bool has_waiting_receives(const Comm& comm) {
  const auto line = waiting_line.find(const_cast<Comm*>(&comm));
  return line != waiting_line.end() && !line->second.empty();
}

void take_office() {
  in_office = true;
  for (auto& [comm, line] : std::exchange(waiting_line, {})) {
    const std::map<ReceiveOrder::Ticket, Operation*> in_order(line.begin(), line.end());
    for (const auto& [ticket, op] : in_order) give_to_mpi(*op);
  }
}

void poll_wildcards() {
  if (wildcards.open.empty() || !runtime().leader() || !in_office) return;
  std::vector<Operation*> open;
  for (const auto& [number, op] : wildcards.open) open.push_back(op);
  for (Operation* op : open) native_done(*op);
}

void resolve_wildcard(std::uint64_t wildcard, int source, int tag, std::uint32_t poster) {
  const auto found = wildcards.open.find(wildcard);
  if (found == wildcards.open.end()) {
    wildcards.decided_early[wildcard] = {source, tag, poster};
    return;
  }
  Operation& op = *found->second;
  if (op.poster != poster) {
    fail(Incident::diverged, "replicas diverged: a wildcard receive of rank " + std::to_string(runtime().rank) +
                                 " replica " + std::to_string(runtime().replica) +
                                 " stands at another place among the receives of its communicator than the leader's" +
                                 threads_advice());
  }
  wildcards.open.erase(found);
  resolve(op, source, tag);
}

void settle_cancel(Operation& op, bool cancelled) {
  if (!cancelled) return;  // it matched: completes as a receive
  if (op.stage == Operation::Stage::unplaced) {
    waiting_line[op.comm].erase(op.ticket);
  } else if (!runtime().leader() && op.stage != Operation::Stage::native) {
    wait_until([&] { return advance_receive(op); });
    put_back_message(op, true);
    op.was_corrected = false;
  } else if (!runtime().leader()) {
    real().Cancel(&op.native);
    int done = 0;
    wait_until([&] {
      real().Request_get_status(op.native, &done, &op.status);
      return done != 0;
    });
    int really = 0;
    real().Test_cancelled(&op.status, &really);
    if (!really) put_back_message(op, false);
  }
  if (op.wildcard) std::erase_if(wildcards.open, [&](const auto& entry) { return entry.second == &op; });
  std::vector<ReceiveOrder::Ticket> now_placed;
  op.comm->order.cancel(op.ticket, now_placed);
  post_now_placed(*op.comm, now_placed);
  op.cancelled = true;
  op.stage = Operation::Stage::complete;
  real().Status_set_elements(&op.status, MPI_BYTE, 0);
  real().Status_set_cancelled(&op.status, 1);
}

bool put_back_matches(Comm& comm, int source, int tag, MPI_Status* status) {
  if (put_back.empty()) return false;
  const auto found = find_put_back(comm, source, tag);
  if (found == put_back.end()) return false;
  if (status != MPI_STATUS_IGNORE) {
    status->MPI_SOURCE = found->source;
    status->MPI_TAG = found->tag;
    real().Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(found->bytes.size()));
  }
  return true;
}

}  // namespace holdfast::replicate
