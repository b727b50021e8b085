#include "transport/ofi/endpoint.h"

#include <poll.h>
#include <rdma/fi_errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include "core/config/settings.h"
#include "core/event/record.h"
#include "core/fault/grammar.h"
#include "core/random/stream.h"
#include "core/secret/secret_file.h"
#include "core/time/nanoseconds.h"
#include "transport/ofi/atomic.h"
#include "transport/ofi/parameters.h"
#include "transport/ofi/process.h"
#include "transport/rail/faulty_rail.h"
#include "transport/rail/libfabric/open_rail.h"
#include "transport/rail/rail_options.h"
#include "transport/wire/packet.h"

namespace holdfast::transport::ofi {

namespace {

constexpr std::uint32_t no_destination = 0xFFFFFFFF;
constexpr std::int64_t first_opening_gap_ns = 250'000'000;  ///< between tries to open a rail
constexpr std::int64_t most_opening_gap_ns = 4'000'000'000;
constexpr std::int64_t again_gap_ns = 1'000'000;  ///< between looks at rails whose descriptors say nothing

std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time::in_ns(time);
}

}  // namespace

std::int64_t now_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

Endpoint::Endpoint(Domain* of, const fi_info& info) : domain(of) {
  send_flags = info.tx_attr != nullptr ? info.tx_attr->op_flags : 0;
  receive_flags = info.rx_attr != nullptr ? info.rx_attr->op_flags : 0;
  const std::uint64_t receive_caps =
      info.rx_attr != nullptr && info.rx_attr->caps != 0 ? info.rx_attr->caps : info.caps;
  directed_receives_ = (receive_caps & FI_DIRECTED_RECV) != 0;
  Address source;
  const auto* raw = static_cast<const std::byte*>(info.src_addr);
  if (raw != nullptr && info.src_addrlen == Address::bytes && Address::read({raw, Address::bytes}, source) &&
      source.rails.size() == 2) {  // host and port to bind to, as texts (provider.cc)
    const auto text = [](const std::vector<std::byte>& bytes) {
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    node_ = text(source.rails[0]);
    service_ = text(source.rails[1]);
  }
}

std::size_t Endpoint::wanted_packet_bytes() const {
  return std::max<std::size_t>(options_.fragment_bytes, 512) + wire::data_header_bytes;
}

Status Endpoint::open_rails() {
  config::Settings<Options> settings(options_table());
  if (Status status = read_parameters(settings); !status.ok()) return status;
  options_ = settings.options();
  config::Settings<RailOptions> own(rail_options_table());
  if (Status status = read_parameters(own); !status.ok()) return status;
  counters_folder_ = own.options().counters;
  counters_every_ns_ = own.options().counters_every_ns;
  auto faults = fault::parse(own.options().faults, "rails.faults");
  if (!faults.ok()) return faults.status();
  faults_ = std::move(faults).value();
  fault_seed_ = own.options().seed;
  auto specs = chosen_rails();
  if (!specs.ok()) return specs.status();
  specs_ = std::move(specs).value();
  Status failure;
  bool opened = false;
  for (std::uint32_t number = 0; number < specs_.size(); ++number) {
    auto rail = open_one(number);
    if (!rail.ok()) failure = rail.status();
    opened = opened || rail.ok();
    // One that cannot be opened keeps its place in the list, which is the same on every host.
    rails_.push_back(rail.ok() ? std::move(rail).value() : nullptr);
  }
  if (opened && !failure.ok()) warn(failure.message() + ": going on without it until it can be opened");
  return opened ? Status() : failure;
}

Result<std::unique_ptr<Rail>> Endpoint::open_one(std::uint32_t number) {
  const bool first = number == 0;
  auto rail = open_rail(specs_[number], packet_bytes_of(number), first ? node_ : "", first ? service_ : "");
  if (!rail.ok() || faults_.empty()) return rail;
  const std::uint32_t rank = launched_rank();
  const random::Stream chance = random::Stream(fault_seed_).child(rank).child(number);
  return std::unique_ptr<Rail>(std::make_unique<FaultyRail>(
      std::move(rail).value(), faults_, FaultyRail::Place{.rank = rank, .replica = 0, .rail = number}, chance));
}

// What packets a rail is asked for. Fragments have one length for all rails, so that of one that is not open yet, and
// whose network may have small packets, must be known beforehand.
std::size_t Endpoint::packet_bytes_of(std::uint32_t rail) const {
  return engine_ == nullptr ? wanted_packet_bytes() : packet_bytes_[rail];
}

// From the progress thread: a link that was down at the start may have come up.
void Endpoint::open_missing_rails() {
  const std::int64_t now = now_ns();
  if (now < next_opening_ns_) return;
  opening_gap_ns_ = std::clamp(2 * opening_gap_ns_, first_opening_gap_ns, most_opening_gap_ns);
  next_opening_ns_ = now + opening_gap_ns_;
  bool missing = false;
  for (std::uint32_t number = 0; number < specs_.size(); ++number) {
    if (rails_[number] != nullptr) continue;  // this thread alone adds one
    auto rail = open_one(number);
    if (rail.ok() && rail.value()->most_packet_bytes() >= packet_bytes_[number]) {
      use_rail(number, std::move(rail).value());
    } else {
      missing = true;
    }
  }
  if (!missing) next_opening_ns_ = INT64_MAX;
}

// Peers hear of the rail's address by this endpoint's name, which has the addresses of all rails.
void Endpoint::use_rail(std::uint32_t number, std::unique_ptr<Rail> rail) {
  const std::lock_guard lock(mutex_);
  Address address;
  Address::read(address_, address);
  const auto bytes = rail->address();
  address.rails[number].assign(bytes.begin(), bytes.end());
  if (!address.write(address_)) return;
  can_wait_ = can_wait_ && rail->wait_fd() >= 0;
  rails_[number] = std::move(rail);
  for (Peer& peer : peers_) add_destinations(peer);
  engine_->rename(address_, now_ns());
  flush_rails();
}

// Without a secret the first process of the job says so, once.
Status Endpoint::make_secrets() {
  secrets_.seed = secret::new_key();
  if (!options_.secret_file.empty()) {
    auto key = secret::read_key(options_.secret_file);
    if (!key.ok()) return key.status();
    secrets_.job = key.value();
    return {};
  }
  static std::once_flag said;
  if (launched_rank() == 0) {
    std::call_once(said, [] {
      warn(
          "packets of this job are not authenticated: whoever reads the network can forge them: "
          "name a file with a secret in HOLDFAST_TRANSPORT_SECRET_FILE");
    });
  }
  return {};
}

int Endpoint::enable() {
  if (engine_ != nullptr) return 0;
  if (names == nullptr) return -FI_ENOAV;
  if (send_queue == nullptr && receive_queue == nullptr && counting.sends == nullptr) return -FI_ENOCQ;
  if (Status status = open_rails(); !status.ok()) {
    warn(status.message());
    return -FI_ENODEV;
  }
  if (Status status = make_secrets(); !status.ok()) {
    warn(status.message());
    return -FI_EACCES;
  }
  Address address;
  address.host = Address::this_host();
  address.number = Address::new_number();
  std::vector<RailTraits> traits;
  can_wait_ = true;
  next_opening_ns_ = INT64_MAX;
  for (std::uint32_t i = 0; i < rails_.size(); ++i) {
    sinks_.emplace_back(*this, i);
    RailTraits one;
    one.most_packet_bytes = std::min(wanted_packet_bytes(), likely_packet_bytes(specs_[i]));
    one.checksum = specs_[i].checksum;
    address.rails.emplace_back();
    if (rails_[i] != nullptr) {
      const auto bytes = rails_[i]->address();
      address.rails.back().assign(bytes.begin(), bytes.end());
      one.most_packet_bytes = rails_[i]->most_packet_bytes();
      one.bytes_per_second = rails_[i]->bytes_per_second();
      can_wait_ = can_wait_ && rails_[i]->wait_fd() >= 0;
    }
    if (rails_[i] == nullptr) next_opening_ns_ = now_ns();
    packet_bytes_.push_back(one.most_packet_bytes);
    traits.push_back(one);
  }
  if (!address.write(address_)) {
    warn("naming an endpoint: the addresses of " + std::to_string(rails_.size()) + " rails do not fit: use fewer");
    return -FI_ENODEV;
  }
  engine_ = std::make_unique<Engine>(options_, traits, *this, address_, secrets_, now_ns());
  write_endpoint(counters_folder_, address.number_as_integer(), {launched_rank(), host_name()});
  if (send_queue != nullptr) send_queue->sources.add(this);
  if (receive_queue != nullptr) receive_queue->sources.add(this);
  for (Counter* counter : {counting.sends, counting.receives, counting.writes, counting.reads, counting.remote_writes,
                           counting.remote_reads}) {
    if (counter != nullptr) counter->sources.add(this);
  }
  wake_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake_fd_ < 0) {
    warn(std::string("making an eventfd: ") + std::strerror(errno));
    engine_.reset();
    return -FI_EMFILE;
  }
  thread_ = std::thread([this] { run_thread(); });
  return 0;
}

Endpoint::~Endpoint() {
  for (Cq* queue : {send_queue, receive_queue}) {
    if (queue != nullptr) queue->sources.remove(this);
  }
  for (Counter* counter : {counting.sends, counting.receives, counting.writes, counting.reads, counting.remote_writes,
                           counting.remote_reads}) {
    if (counter != nullptr) counter->sources.remove(this);
  }
  if (engine_ == nullptr) return;
  stopping_ = true;
  (void)eventfd_write(wake_fd_, 1);
  thread_.join();
  ::close(wake_fd_);
  // What was reported as sent is kept until it is acknowledged, or the peer is given up.
  const std::int64_t until = now_ns() + options_.unreachable_after_ns + options_.keepalive_ns;
  const auto work = [&](auto busy) {
    while (busy() && now_ns() < until) {
      const std::lock_guard lock(mutex_);
      progress_locked(now_ns());
    }
  };
  work([&] { return !engine_->idle(); });
  // A peer whose last acknowledgement was lost sends again: it finds somebody who answers until it is quiet for a tick.
  work([&] { return now_ns() - last_packet_ns_ < options_.tick_ns; });
  engine_->close(now_ns());
  flush_rails();
  tell_of_lost_peers();
  work([&] { return engine_->pending_puts() > 0; });
  write_counters();
  send_queue = receive_queue = nullptr;
  counting = {};
  rails_.clear();  // a put that is still pending ends with its rail
}

void Endpoint::write_counters() {
  if (counters_folder_.empty()) return;
  const Counters& counters = engine_->counters();
  std::string text = "{";
  for (std::size_t i = 0; i < counter_rows.size(); ++i) {
    text +=
        (i == 0 ? "\"" : ", \"") + std::string(counter_rows[i].name) + "\": " + std::to_string(counters.values()[i]);
  }
  char name[64];
  std::uint64_t number = 0;
  std::memcpy(&number, address_.data() + 6, sizeof number);
  std::snprintf(name, sizeof name, "/transport-%d-%016llx.json", static_cast<int>(getpid()),
                static_cast<unsigned long long>(number));
  const std::string path = counters_folder_ + name;
  std::ofstream(path + ".new") << text << "}\n";
  std::rename((path + ".new").c_str(), path.c_str());  // whoever reads it while we run finds it whole
}

// From the progress thread.
void Endpoint::keep_counters_fresh() {
  if (counters_folder_.empty()) return;
  const std::int64_t now = now_ns();
  if (now < counters_due_ns_) return;
  counters_due_ns_ = now + counters_every_ns_;
  const std::lock_guard lock(mutex_);
  write_counters();
}

void Endpoint::run_thread() {
  const bool sleepers = (send_queue != nullptr && send_queue->event_fd >= 0) ||
                        (receive_queue != nullptr && receive_queue->event_fd >= 0);
  const std::int64_t tick = options_.tick_ns;
  bool again = false;
  while (!stopping_) {
    if (next_opening_ns_ != INT64_MAX) open_missing_rails();
    const std::int64_t left = last_progress_ns_.load(std::memory_order_relaxed) + tick - now_ns();
    const bool alone = sleepers || left <= 0;  // the application is elsewhere
    const bool woken = sleep(!alone ? left : again ? std::min(tick, again_gap_ns) : tick, alone && !again);
    if (stopping_) break;
    look_at_links();
    keep_counters_fresh();
    const bool due = last_progress_ns_.load(std::memory_order_relaxed) + tick <= now_ns();
    const std::size_t found = sleepers || due ? look_after_rails() : 0;
    // Without a descriptor there may be more soon. And one of libfabric's net provider may stay readable for nothing.
    again = woken ? found == 0 : found > 0 && !can_sleep_on_rails_;
  }
}

// From the progress thread. How much the rails had.
std::size_t Endpoint::look_after_rails() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() ? progress_locked(now_ns()) : 0;
}

// Until it is to stop, a link has changed, the time is over or, where all rails have descriptors and `for_packets`, one
// has something or a timer of the engine is due. Whether a rail has.
bool Endpoint::sleep(std::int64_t most_ns, bool for_packets) {
  std::vector<pollfd> descriptors = {{wake_fd_, POLLIN, 0}, {links_.fd(), POLLIN, 0}};
  if (for_packets) {
    const std::lock_guard lock(mutex_);
    can_sleep_on_rails_ = can_wait_;
    const std::int64_t until = engine_->next_deadline();
    if (can_wait_ && until != Engine::no_deadline) most_ns = std::min(most_ns, until - now_ns());
    for (std::size_t i = 0; can_wait_ && i < rails_.size(); ++i) {
      if (rails_[i] == nullptr) continue;
      descriptors.push_back({rails_[i]->wait_fd(), POLLIN, 0});
      if (!rails_[i]->may_wait()) most_ns = 0;
    }
  }
  most_ns = std::max<std::int64_t>(most_ns, 0);
  const timespec time = {most_ns / 1'000'000'000, most_ns % 1'000'000'000};
  ppoll(descriptors.data(), descriptors.size(), &time, nullptr);
  return std::any_of(descriptors.begin() + 2, descriptors.end(), [](const pollfd& each) { return each.revents != 0; });
}

// A rail whose link goes down is left at once, and asked at once when it is up again.
void Endpoint::look_at_links() {
  const std::vector<LinkWatch::Change> changes = links_.changes();
  if (changes.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const LinkWatch::Change& change : changes) {
    for (std::uint32_t rail = 0; rail < rails_.size(); ++rail) {
      if (rails_[rail] == nullptr || rails_[rail]->interface() != change.interface) continue;
      if (change.up) {
        engine_->on_rail_restored(rail, now_ns());
      } else {
        engine_->on_rail_failed(rail, any_peer, now_ns());
      }
    }
  }
  if (engine_->next_deadline() <= now_ns()) engine_->advance(now_ns());
  flush_rails();
}

void Endpoint::wait_for_packets(int most_ms) {
  std::vector<pollfd> descriptors;
  std::int64_t until = 0;
  bool sleep = false;
  bool all_wait = false;
  {
    const std::lock_guard lock(mutex_);
    sleep = all_wait = can_wait_;
    until = engine_->next_deadline();
    for (const auto& rail : rails_) {
      if (rail == nullptr || rail->wait_fd() < 0) continue;
      sleep = sleep && rail->may_wait();
      descriptors.push_back({rail->wait_fd(), POLLIN, 0});
    }
  }
  if (!sleep) {
    ::poll(nullptr, 0, all_wait ? 0 : 1);
    return;
  }
  const std::int64_t left_ms = until == Engine::no_deadline ? most_ms : (until - now_ns()) / 1'000'000;
  const int time = static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, most_ms));
  ::poll(descriptors.data(), descriptors.size(), time);
}

void Endpoint::progress() {
  const std::int64_t now = now_ns();
  last_progress_ns_.store(now, std::memory_order_relaxed);
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // somebody is at it
  progress_locked(now);
}

// Gives how much the rails had.
std::size_t Endpoint::progress_locked(std::int64_t now) {
  if (engine_ == nullptr) return 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    if (rails_[i] == nullptr) continue;
    found += rails_[i]->poll(sinks_[i], now);
    flush_rails();  // this process may be without a processor before the next: its answers are not to wait for that
  }
  now = now_ns();  // the engine has seen later times meanwhile, and takes none back
  if (engine_->next_deadline() <= now) engine_->advance(now);
  flush_rails();
  if (found == 0) engine_->sum_ahead();
  tell_of_lost_peers();
  return found;
}

// After every call of the engine that may have put packets.
void Endpoint::flush_rails() {
  for (const auto& rail : rails_) {
    if (rail != nullptr) rail->flush();
  }
}

void Endpoint::Sink::on_packet(std::span<const std::byte> packet) {
  endpoint_.last_packet_ns_ = now_ns();
  endpoint_.engine_->on_packet(rail_, packet, endpoint_.last_packet_ns_);
}
void Endpoint::Sink::on_put_done(std::uint64_t token, bool ok) {
  endpoint_.engine_->on_put_done(token, ok, now_ns());
}
void Endpoint::Sink::on_ready() {
  endpoint_.engine_->on_rail_ready(rail_, now_ns());
}
void Endpoint::Sink::on_failed(std::uint32_t destination) {
  endpoint_.tell_of_destination(rail_, destination,
                                [this](PeerId peer) { endpoint_.engine_->on_rail_failed(rail_, peer, now_ns()); });
}
void Endpoint::Sink::on_doubted(std::uint32_t destination) {
  endpoint_.tell_of_destination(rail_, destination,
                                [this](PeerId peer) { endpoint_.engine_->on_rail_doubted(rail_, peer, now_ns()); });
}

// Which peers a destination of a rail is, or that it is any.
template <class Tell>
void Endpoint::tell_of_destination(std::uint32_t rail, std::uint32_t destination, Tell tell) {
  if (destination == Rail::all_destinations) return tell(any_peer);
  for (PeerId peer = 0; peer < peers_.size(); ++peer) {
    if (peers_[peer].destinations[rail] == destination) tell(peer);
  }
}

PeerId Endpoint::add_peer(const Address::Raw& raw, const Address& address) {
  peers_.emplace_back();
  const auto id = static_cast<PeerId>(peers_.size() - 1);
  rename(peers_.back(), raw, address);
  if (address.partial) {
    partial_.push_back(id);
  } else {
    by_name_[address.number] = id;
  }
  return id;
}

void Endpoint::rename(Peer& peer, const Address::Raw& raw, const Address& address) {
  peer.raw = raw;
  peer.address = address;
  peer.destinations.assign(rails_.size(), no_destination);
  add_destinations(peer);
}

// On the rails that both ends have, as far as is known.
void Endpoint::add_destinations(Peer& peer) {
  const Address& address = peer.address;
  const bool same_host = address.partial || address.host == Address::this_host();
  for (std::size_t i = 0; i < std::min(rails_.size(), address.rails.size()); ++i) {
    if (peer.destinations[i] != no_destination) continue;
    if (rails_[i] == nullptr || address.rails[i].empty() || (rails_[i]->local_only() && !same_host)) continue;
    auto destination = rails_[i]->add_destination(address.rails[i]);
    if (destination.ok()) peer.destinations[i] = destination.value();
  }
}

PeerId Endpoint::peer_of(fi_addr_t number) {
  if (number == FI_ADDR_UNSPEC) return any_peer;
  if (number < by_number_.size() && by_number_[number] != any_peer) return by_number_[number];
  Address::Raw raw;
  Address address;
  if (!names->get(number, raw) || !Address::read(raw, address)) return any_peer;
  PeerId id = any_peer;
  const auto known = by_name_.find(address.number);
  if (!address.partial && known != by_name_.end()) {
    id = known->second;  // it called first; where it is, the application knows best
    if (peers_[id].raw != raw) rename(peers_[id], raw, address);
  } else {
    id = add_peer(raw, address);
  }
  if (number >= by_number_.size()) by_number_.resize(number + 1, any_peer);
  by_number_[number] = id;
  peers_[id].number = number;
  return id;
}

// A rail that the peer has opened since it was named last.
void Endpoint::learn_rails(Peer& peer, const Address& address) {
  if (peer.address.rails.size() != address.rails.size() || peer.address.partial) return;
  bool more = false;
  for (std::size_t i = 0; i < address.rails.size(); ++i) {
    if (!peer.address.rails[i].empty() || address.rails[i].empty()) continue;
    peer.address.rails[i] = address.rails[i];
    more = true;
  }
  if (more) add_destinations(peer);
}

PeerId Endpoint::find_peer(const Address& address) const {
  if (address.partial) return any_peer;
  const auto known = by_name_.find(address.number);
  if (known != by_name_.end()) return known->second;
  if (address.rails.empty()) return any_peer;
  const auto same_place = [&](PeerId id) {
    return !peers_[id].address.rails.empty() && peers_[id].address.rails[0] == address.rails[0];
  };
  const auto partial = std::find_if(partial_.begin(), partial_.end(), same_place);
  return partial == partial_.end() ? any_peer : *partial;
}

PeerId Endpoint::find_peer(std::span<const std::byte> name, std::uint32_t) {
  Address address;
  return Address::read(name, address) ? find_peer(address) : any_peer;
}

PeerId Endpoint::peer_named(std::span<const std::byte> name, std::uint32_t) {
  Address address;
  if (!Address::read(name, address) || address.partial) return any_peer;
  Address::Raw raw;
  std::memcpy(raw.data(), name.data(), raw.size());
  const PeerId id = find_peer(address);
  if (id == any_peer) {
    if (!secrets_.job && strangers_ == most_strangers) return any_peer;
    ++strangers_;
    return add_peer(raw, address);
  }
  if (!peers_[id].address.partial) {
    learn_rails(peers_[id], address);
    return id;
  }
  rename(peers_[id], raw, address);
  by_name_[address.number] = id;
  std::erase(partial_, id);
  return id;
}

void Endpoint::answer_stranger(std::uint32_t rail, std::span<const std::byte> name, std::span<const std::byte> packet) {
  Address address;
  if (!Address::read(name, address) || address.partial || rail >= address.rails.size()) return;
  if (rails_[rail] == nullptr || (rails_[rail]->local_only() && address.host != Address::this_host())) return;
  rails_[rail]->answer(address.rails[rail], packet);
}

bool Endpoint::comes_from(PeerId peer, std::uint32_t rail) {
  const std::uint32_t destination = peers_[peer].destinations[rail];
  return destination == no_destination || rails_[rail]->came_from(destination);
}

fi_addr_t Endpoint::number_of(Peer& peer) {
  const std::uint64_t removals = names->removals.load(std::memory_order_relaxed);
  const bool removed =
      peer.number != FI_ADDR_NOTAVAIL && peer.removals_seen != removals && names->is_removed(peer.number);
  if (peer.number == FI_ADDR_NOTAVAIL || removed) peer.number = names->find(peer.raw);
  peer.removals_seen = removals;
  return peer.number;
}

Put Endpoint::put(std::uint32_t rail, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) {
  const std::uint32_t destination = peers_[peer].destinations[rail];
  if (destination == no_destination) return Put::failed;
  return rails_[rail]->put(destination, pieces, token);
}

std::byte* Endpoint::memory(std::uint64_t key, std::uint64_t address, std::size_t bytes, Access access) {
  const std::lock_guard lock(domain->mutex);
  const auto found = domain->regions.find(key);
  if (found == domain->regions.end()) return nullptr;
  const Region& region = *found->second;
  const std::uint64_t need = access == Access::read ? FI_REMOTE_READ : FI_REMOTE_WRITE;
  if ((region.access & need) == 0 || address > region.length || bytes > region.length - address) return nullptr;
  return region.base + address;
}

bool Endpoint::apply_atomic(std::uint64_t operation, std::byte* target, std::size_t bytes,
                            std::span<const std::byte> operands, std::byte* old_values) {
  const std::lock_guard lock(domain->atomics);  // other endpoints of the domain have the same memory
  return apply_atomic_code(operation, target, bytes, operands, old_values);
}

}  // namespace holdfast::transport::ofi
