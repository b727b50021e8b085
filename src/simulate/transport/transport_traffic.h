#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/fault/fault.h"
#include "fabric/topology/fabric.h"
#include "simulate/packet/histogram.h"
#include "simulate/packet/parameters.h"
#include "simulate/packet/traffic.h"
#include "simulate/transport/contents.h"
#include "simulate/transport/datagram_options.h"
#include "simulate/transport/endpoint.h"
#include "simulate/transport/endpoints.h"
#include "simulate/transport/transport_record.h"

namespace holdfast::simulate {

struct TransportSetting {
  transport::Options options;
  DatagramOptions datagrams;
  std::vector<fault::Fault> faults;  ///< of packets, in the hosts that put them
  std::uint64_t seed = 1;            ///< of engines and of these faults
};

/// Another traffic's messages, sent by the shipped transport engine: each host of the fabric has one (endpoint.h), and
/// the network carries its packets as datagrams, each a message of one packet. The other traffic's hosts are adapters
/// as before; messages between adapters of one host go through its memory, without the transport.
///
/// A receive for each message is posted at its destination when it is sent, by its tag. Messages of one adapter to
/// another are handed over in the order in which they were sent, as an MPI would match them. The sending end hears that
/// a message was sent when its send completes, and at the latest when it is delivered.
class TransportTraffic final : public Traffic {
 public:
  /// All but the setting stay the caller's and must outlive it. `parameters` are settled, with an MTU that the engine
  /// takes.
  TransportTraffic(Traffic& inner, const fabric::Fabric& fabric, const Parameters& parameters, Endpoints endpoints,
                   const TransportSetting& setting);
  ~TransportTraffic() override;

  void begin(Player& player) override;
  void due(std::uint32_t endpoint, Time now) override;
  Answer next(std::uint32_t adapter, Time now, Message& message) override;
  bool finite() const override { return inner_.finite(); }
  void sent(std::uint32_t adapter, std::uint32_t tag, Time now) override;
  bool watches_deliveries() const override { return true; }
  void delivered(std::uint32_t adapter, std::uint32_t tag, Time now, std::vector<std::uint32_t>& wake) override;
  bool watches_losses() const override { return true; }
  void lost(std::uint32_t adapter, std::uint32_t tag, Time now) override;
  bool done() const override { return inner_.done() && under_way_ == 0; }

  std::uint64_t messages_delivered() const { return record_.messages_delivered + record_.messages_inside; }
  /// After the run, which `run` is the record of.
  TransportRecord record(const Record& run) const;

 private:
  static constexpr std::uint32_t none = 0xffffffff;

  /// A message of the other traffic.
  struct Letter {
    std::uint32_t source = 0, destination = 0;  ///< adapters
    std::uint32_t tag = 0;
    std::uint64_t bytes = 0;
    Time created = 0;
    std::uint64_t order = 0;  ///< among those of this source and destination
    bool posted = false;      ///< its receive is
    bool told_sent = false;
    bool send_over = false;  ///< the engine's
    bool delivered = false;
    std::vector<std::byte> memory;  ///< that it is received into, where its bytes are looked at
  };
  /// A message of the network: a packet of an engine, or a letter inside a host.
  struct Datagram {
    std::uint32_t to = 0, rail = 0;  ///< endpoint
    std::uint32_t letter = none;
    std::uint64_t token = AdapterRail::no_token;
    std::vector<std::byte> bytes;
    bool sent = false, over = false;
  };
  /// The program behind an adapter.
  struct Program {
    bool asleep = false;        ///< it said that it has nothing until something is delivered
    Time at = 0;                ///< otherwise: when to ask it
    std::uint32_t held = none;  ///< a letter that the engine had no room for
    std::uint32_t under_way = 0;
    std::deque<std::uint32_t> inside;  ///< letters for the same host
  };
  /// Letters of one adapter to another.
  struct Pair {
    std::uint64_t sent = 0, delivered = 0;
    std::map<std::uint64_t, std::uint32_t> early;  ///< received before others; by order
  };
  template <class T>
  struct Slots {
    std::vector<T> all;
    std::vector<std::uint32_t> free;
    std::uint32_t take() {
      if (free.empty()) {
        all.emplace_back();
        return static_cast<std::uint32_t>(all.size() - 1);
      }
      const std::uint32_t index = free.back();
      free.pop_back();
      all[index] = T();
      return index;
    }
    void give(std::uint32_t index) { free.push_back(index); }
    T& operator[](std::uint32_t index) { return all[index]; }
  };

  void run(std::uint32_t endpoint, Time now);
  void want(std::uint32_t endpoint, Time at);
  bool ask_programs(std::uint32_t endpoint, Time now);
  bool ask_program(std::uint32_t adapter, Time now);
  void take_letter(std::uint32_t adapter, const Message& message, Time now);
  bool send(std::uint32_t letter, Time now);
  void settle(std::uint32_t endpoint, Time now);
  void received(std::uint32_t letter, Time now);
  void count_goodput(std::uint64_t bytes, Time now);
  void hand_over(std::uint32_t letter, Time now);
  void tell_sent(std::uint32_t letter, Time now);
  void wake(std::uint32_t adapter, Time now);
  void release(std::uint32_t letter);
  void release_datagram(std::uint32_t datagram);
  void fail(std::uint32_t endpoint, std::uint32_t peer, std::string outcome, Time now);
  void look_for_end();
  std::string name_of(std::uint32_t endpoint) const;
  std::uint32_t endpoint_of_adapter(std::uint32_t adapter) const { return endpoints_.rail_of[adapter].endpoint; }

  Traffic& inner_;
  const fabric::Fabric& fabric_;
  Endpoints endpoints_;
  std::uint32_t ahead_;
  std::uint64_t eager_bytes_;
  bool looks_at_bytes_;
  Contents contents_;
  std::vector<std::unique_ptr<Endpoint>> hosts_;
  std::vector<Time> wakes_;        ///< by endpoint: when its event is due; never: there is none
  std::vector<bool> takes_next_;   ///< by endpoint: whose turn it is, a packet's or the programs'
  std::vector<Time> comes_;        ///< by adapter: when the network asks for its next packet; never: when it is told to
  std::vector<Program> programs_;  ///< by adapter
  std::size_t asleep_ = 0;         ///< of them
  Slots<Letter> letters_;
  Slots<Datagram> datagrams_;
  std::unordered_map<std::uint64_t, Pair> pairs_;  ///< source << 32 | destination
  std::uint64_t under_way_ = 0;                    ///< letters
  std::uint64_t packet_bytes_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> given_;  ///< bytes, from adapter to adapter
  std::vector<std::uint32_t> woken_;
  Player* player_ = nullptr;
  bool over_ = false;
  Histogram latency_;
  TransportRecord record_;
};

}  // namespace holdfast::simulate
