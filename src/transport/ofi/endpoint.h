#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/fault/grammar.h"
#include "transport/engine/engine.h"
#include "transport/ofi/address.h"
#include "transport/ofi/domain.h"
#include "transport/ofi/lost_peer.h"
#include "transport/ofi/queue.h"
#include "transport/rail/link_watch.h"
#include "transport/rail/rail.h"

namespace holdfast::transport::ofi {

/// What an inject may have, of messages and writes (fi_tx_attr's inject_size).
constexpr std::size_t most_inject_bytes = 4096;

/// CLOCK_MONOTONIC.
std::int64_t now_ns();

/// One reliable-datagram endpoint: the protocol engine over the rails, behind libfabric's calls (ops.cc). One lock
/// serialises everything, so any threads may call. A progress thread looks after the rails when the application has not
/// for a tick: as soon as something comes, where the rails have descriptors to sleep on, else once a tick. It hears at
/// once of links that go down or come up.
class Endpoint : public Host {
 public:
  /// Bindings, before enable().
  Domain* domain = nullptr;
  Names* names = nullptr;
  Cq* send_queue = nullptr;
  Cq* receive_queue = nullptr;
  Eq* events = nullptr;  ///< hears of peers that are given up
  fid* own_fid = nullptr;
  bool selective_sends = false;
  bool selective_receives = false;
  struct Counting {
    Counter* sends = nullptr;
    Counter* receives = nullptr;
    Counter* writes = nullptr;
    Counter* reads = nullptr;
    Counter* remote_writes = nullptr;
    Counter* remote_reads = nullptr;
  } counting;
  std::uint64_t send_flags = 0;     ///< of calls that take none
  std::uint64_t receive_flags = 0;  ///< likewise
  std::size_t least_multi_bytes = 64;

  Endpoint(Domain* of, const fi_info& info);
  ~Endpoint() override;

  /// Opens the rails and starts. A negative libfabric code on failure, which is also logged.
  int enable();
  bool enabled() const { return engine_ != nullptr; }
  const Address::Raw& address() const { return address_; }

  /// Looks at the rails and lets the timers run.
  void progress();
  /// Sleeps until a rail has something, or as long.
  void wait_for_packets(int most_ms);

  /// The operations of ops.cc; each gives 0, -FI_EAGAIN or another code.
  ssize_t send(SendRequest request, fi_addr_t to, std::uint64_t flags);
  ssize_t receive(ReceiveRequest request, fi_addr_t from, std::uint64_t flags);
  ssize_t write(WriteRequest request, fi_addr_t to, std::uint64_t flags);
  ssize_t read(ReadRequest request, fi_addr_t from, std::uint64_t flags);
  ssize_t atomic(AtomicRequest request, fi_addr_t to, std::uint64_t flags);
  static constexpr std::uint64_t no_entry = 1ULL << 63;  ///< a flag of atomic(): an inject, which has no completion
  ssize_t cancel(void* context);
  /// Their buffers are copied, and they have no completion.
  ssize_t inject(SendRequest request, fi_addr_t to);
  ssize_t inject_write(WriteRequest request, fi_addr_t to);

  // Host
  Put put(std::uint32_t rail, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) override;
  void complete(const Completion& completion) override;
  PeerId peer_named(std::span<const std::byte> name, std::uint32_t rail) override;
  PeerId find_peer(std::span<const std::byte> name, std::uint32_t rail) override;
  void answer_stranger(std::uint32_t rail, std::span<const std::byte> name, std::span<const std::byte> packet) override;
  bool comes_from(PeerId peer, std::uint32_t rail) override;
  std::byte* memory(std::uint64_t key, std::uint64_t address, std::size_t bytes, Access access) override;
  bool apply_atomic(std::uint64_t operation, std::byte* target, std::size_t bytes, std::span<const std::byte> operands,
                    std::byte* old_values) override;
  void reached(std::uint64_t key, Access access, bool fetched) override;

 private:
  struct Peer {
    Address::Raw raw{};
    Address address;
    std::vector<std::uint32_t> destinations;  ///< by rail
    fi_addr_t number = FI_ADDR_NOTAVAIL;      ///< in the application's address vector
    std::uint64_t removals_seen = 0;          ///< of addresses, when `number` was last looked at
  };
  /// What a rail tells, passed on to the engine.
  class Sink : public RailSink {
   public:
    Sink(Endpoint& endpoint, std::uint32_t rail) : endpoint_(endpoint), rail_(rail) {}
    void on_packet(std::span<const std::byte> packet) override;
    void on_put_done(std::uint64_t token, bool ok) override;
    void on_ready() override;
    void on_failed(std::uint32_t destination) override;
    void on_doubted(std::uint32_t destination) override;

   private:
    Endpoint& endpoint_;
    std::uint32_t rail_;
  };

  /// Peers that were never in the application's address vector: without a secret anybody can be one.
  static constexpr std::size_t most_strangers = 1024;

  Status open_rails();
  Result<std::unique_ptr<Rail>> open_one(std::uint32_t number);
  Status make_secrets();
  std::size_t wanted_packet_bytes() const;
  std::size_t packet_bytes_of(std::uint32_t rail) const;
  void open_missing_rails();
  void use_rail(std::uint32_t number, std::unique_ptr<Rail> rail);
  void add_destinations(Peer& peer);
  void tell_of_lost_peers();
  std::size_t progress_locked(std::int64_t now);
  void flush_rails();
  void run_thread();
  std::size_t look_after_rails();
  bool sleep(std::int64_t most_ns, bool for_packets);
  void look_at_links();
  template <class Tell>
  void tell_of_destination(std::uint32_t rail, std::uint32_t destination, Tell tell);
  PeerId peer_of(fi_addr_t number);
  PeerId add_peer(const Address::Raw& raw, const Address& address);
  PeerId find_peer(const Address& address) const;
  void rename(Peer& peer, const Address::Raw& raw, const Address& address);
  fi_addr_t number_of(Peer& peer);
  /// Finds the peer, gives the operation to the engine by `give(now)`, and sends what that made.
  template <class Request, class Give>
  ssize_t post_to_peer(Request& request, fi_addr_t to, Give give);
  ssize_t post_send(SendRequest& request, fi_addr_t to);
  ssize_t post_write(WriteRequest& request, fi_addr_t to);
  ssize_t peek(const ReceiveRequest& request, std::uint64_t flags);
  ssize_t code_of(Posted posted, PeerId peer) const;
  void report(const Completion& completion);
  Counter* counter_for(const Completion& completion) const;
  void note_loss(const Completion& completion);
  void learn_rails(Peer& peer, const Address& address);
  void write_counters();
  void keep_counters_fresh();

  bool directed_receives_ = false;  ///< without FI_DIRECTED_RECV a receive's source counts for nothing
  std::string node_;
  std::string service_;
  Options options_;
  std::string counters_folder_;
  std::int64_t counters_every_ns_ = 0;
  std::int64_t counters_due_ns_ = 0;
  Address::Raw address_{};
  std::mutex mutex_;
  std::vector<RailSpec> specs_;
  std::vector<fault::Fault> faults_;
  std::uint64_t fault_seed_ = 1;
  std::vector<std::unique_ptr<Rail>> rails_;  ///< null: could not be opened yet
  std::vector<LostPeer> lost_peers_;          ///< of which nobody was told yet
  std::vector<PeerId> lost_ids_;              ///< theirs
  std::vector<std::size_t> packet_bytes_;     ///< by rail, as the engine was told
  std::int64_t next_opening_ns_ = 0;          ///< of rails that could not be opened; the progress thread's
  std::int64_t opening_gap_ns_ = 0;
  std::vector<Sink> sinks_;
  std::unique_ptr<Engine> engine_;
  std::vector<Peer> peers_;
  std::vector<PeerId> by_number_;  ///< by fi_addr_t; any_peer: not yet
  std::map<Address::Number, PeerId> by_name_;
  std::vector<PeerId> partial_;  ///< peers that are known by host and port alone
  std::size_t strangers_ = 0;
  Secrets secrets_;
  std::multiset<void*> multi_receives_;  ///< contexts of those that are posted
  bool can_wait_ = false;                ///< every rail has a descriptor
  std::int64_t last_packet_ns_ = 0;

  std::thread thread_;
  LinkWatch links_;                  ///< the progress thread's
  bool can_sleep_on_rails_ = false;  ///< can_wait_, as the progress thread saw it last
  int wake_fd_ = -1;                 ///< ends the progress thread's sleep
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> last_progress_ns_{0};  ///< of the application
};

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context);

}  // namespace holdfast::transport::ofi
