#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/rail/rail.h"
#include "transport/rail/rail_spec.h"

namespace holdfast::transport {

/// A rail over one endpoint of another libfabric provider (tcp as libfabric's own net provider, shm, verbs, ...). The
/// engine above takes neither order nor delivery nor integrity on trust. A send that completes with an error, an error
/// in the event queue and a completion queue that fails are failures; errors that name no packet, and those of
/// receives, are doubts, since a peer may have caused them.
class LibfabricRail : public Rail {
 public:
  /// `most_packet_bytes` is what the engine would like; a datagram rail may carry less. `service` (may be empty) is the
  /// port to bind to. Providers that want to be told of every buffer (FI_MR_LOCAL: verbs, efa) get packets copied to
  /// buffers that they know; `registers` does so with any. Errors: unavailable.
  static Result<std::unique_ptr<LibfabricRail>> open(const RailSpec& spec, std::size_t most_packet_bytes,
                                                     const std::string& node, const std::string& service,
                                                     bool registers = false);
  ~LibfabricRail() override;

  std::span<const std::byte> address() const override { return address_; }
  std::size_t most_packet_bytes() const override { return most_packet_bytes_; }
  double bytes_per_second() const override { return 1e9; }
  Result<std::uint32_t> add_destination(std::span<const std::byte> address) override;
  Put put(std::uint32_t destination, std::span<const iovec> pieces, std::uint64_t token) override;
  void answer(std::span<const std::byte> address, std::span<const std::byte> packet) override;
  std::size_t poll(RailSink& sink, std::int64_t now_ns) override;

  bool local_only() const override { return local_only_; }
  int wait_fd() const override { return wait_fd_; }
  bool may_wait() override;
  std::string_view interface() const override { return interface_; }

  /// The interfaces of this kind that libfabric offers on this host.
  static std::vector<std::string> domains(std::string_view kind);
  /// Errors: not_found.
  static Result<std::vector<std::byte>> resolve(const RailSpec& spec, const char* node, const char* service);

 private:
  struct Slot {  ///< of one operation of the endpoint; libfabric writes its context
    fi_context2 context{};
    bool receives = false;
    std::uint64_t token = 0;
    bool tell = false;  ///< on_put_done() is owed
    std::size_t bytes = 0;
    std::vector<std::byte> memory;
    fid_mr* region = nullptr;  ///< of `memory`, where the provider wants it
  };
  struct Objects {  ///< of libfabric, and the memory that they may write to
    ~Objects();
    fi_info* info = nullptr;
    fid_fabric* fabric = nullptr;
    fid_domain* domain = nullptr;
    fid_av* names = nullptr;
    fid_cq* queue = nullptr;
    fid_eq* events = nullptr;  ///< null where the provider binds none
    fid_ep* endpoint = nullptr;
    std::vector<std::unique_ptr<Slot>> slots;
  };
  struct ShmOfThisProcess;

  static constexpr std::size_t most_strangers = 64;

  LibfabricRail() = default;
  static ShmOfThisProcess& shm_of_this_process();
  bool give_memory(Slot& slot, std::size_t bytes);
  Status start(const RailSpec& spec, std::size_t most_packet_bytes, const std::string& node,
               const std::string& service);
  void want_receives(std::size_t count);
  bool is_address(std::span<const std::byte> address) const;
  void post(Slot* slot);
  void sent(Slot* slot, RailSink& sink, bool ok);
  Slot* take_slot();
  Put put_copy(fi_addr_t to, std::span<const iovec> pieces, std::size_t bytes, std::optional<std::uint64_t> token);
  Put refused(ssize_t code);
  bool read_error(RailSink& sink);
  void read_events(RailSink& sink, std::int64_t now_ns);
  void open_events();

  std::unique_ptr<Objects> objects_ = std::make_unique<Objects>();
  bool registers_ = false;
  std::uint64_t next_key_ = 1;
  std::size_t prefix_bytes_ = 0;
  bool local_only_ = false;
  int wait_fd_ = -1;
  std::size_t most_packet_bytes_ = 0;
  std::vector<std::byte> address_;
  std::vector<Slot*> free_;
  std::vector<Slot*> unposted_;  ///< receives for which the endpoint had no room
  std::size_t receives_ = 0;
  std::size_t destinations_ = 0;
  std::vector<std::pair<std::vector<std::byte>, fi_addr_t>> strangers_;  ///< that were answered: at most most_strangers
  std::size_t pending_bytes_ = 0;
  bool busy_ = false;
  bool broken_ = false;              ///< the completion queue itself fails
  std::int64_t next_events_ns_ = 0;  ///< when the event queue is looked at again
  std::string interface_;
};

}  // namespace holdfast::transport
