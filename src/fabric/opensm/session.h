#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

/// Routing by the real OpenSM on a fabric that the real ibsim simulates.
namespace holdfast::fabric::opensm {

/// The routing engines of OpenSM 3.3.23, as its option -R spells them.
std::span<const std::string_view> engines();

struct Request {
  std::string engine;  ///< one of engines()
  std::vector<NodeId>
      roots;  ///< for updn, dnup and ftree; empty: choose_roots() for updn and dnup, OpenSM's own for ftree
  /// Virtual lanes that OpenSM may use, 1 to 8: the ports of ibsim have 8. Its dfsssp takes what the ports have; when
  /// that is more, wait() calls it a refusal.
  std::uint8_t lanes = 8;
  /// Whether OpenSM writes SL to VL tables (its option qos): a MAD for every pair of ports of a switch. Without, lane =
  /// service level, as the tables would say. None: where the engine needs it (torus-2QoS has tables of its own, nue
  /// keeps to one lane otherwise).
  std::optional<bool> lane_maps;
  /// For one sweep: CPU time of OpenSM, so that a busy machine changes no verdict; and ten times that on the clock.
  std::int64_t time_limit_ns = 600'000'000'000;
  std::string torus_config;  ///< torus-2QoS.conf for that engine; empty: torus_config_of()
  NodeId home = none;        ///< the adapter that OpenSM runs on; none: the first with a working cable
  std::string keep_folder;   ///< when not empty: the session's files stay, under this name
};

enum class Verdict : std::uint8_t {
  routed,     ///< the switches have their tables
  refused,    ///< the engine said that it cannot route this fabric
  timed_out,  ///< no end within the time limit
  crashed,    ///< OpenSM ended
};
std::string_view name(Verdict verdict);

struct Outcome {
  Verdict verdict = Verdict::crashed;
  std::string reason;     ///< unless routed: OpenSM's own words, or ours
  Forwarding forwarding;  ///< empty unless routed
  std::uint32_t lanes_needed =
      0;  ///< what the engine said it needs, before it spreads paths over all lanes; 0: nothing
  std::int64_t routing_cpu_ns = 0;   ///< the engine alone, CPU time
  std::int64_t routing_wall_ns = 0;  ///< the same on the clock
  std::int64_t sweep_wall_ns = 0;    ///< from the start or the failure to tables in all switches
  std::uint64_t memory_bytes = 0;    ///< largest resident size of OpenSM
};

/// One ibsim with one OpenSM on it. Everything that it starts and writes is gone when it is destroyed or this process
/// ends in whatever way (keeper.h). Sessions are independent: as many as wanted at once, each used by one thread.
class Session {
 public:
  /// Shows the fabric's working links to OpenSM; LIDs are kept, or assigned here when there are none. Returns when
  /// ibsim is up and OpenSM has been started. Errors: bad_input (an engine that OpenSM does not have, a fabric without
  /// a switch or an adapter, with more LIDs than a subnet has, or torus-2QoS on what is no torus or mesh), unavailable
  /// (a program is not installed), io.
  static Result<Session> start(const Fabric& fabric, const Request& request);

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Waits until the switches have their tables, or it is known that they will not. Call it once after start() and once
  /// after each change; after anything but `routed` the session is of no further use. Errors: io, internal.
  Result<Outcome> wait();

  /// Takes links down, or up again, in the running ibsim, and has OpenSM sweep; then wait() for the reroute. The fabric
  /// given to start() is not touched. Error: bad_input for a link that was down at the start.
  Status set_links(std::span<const LinkId> links, bool up);

  /// The network as OpenSM sees it now.
  const Fabric& fabric() const;

  /// The session's folder, for tests.
  const std::string& folder() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// start() and wait().
Result<Outcome> route(const Fabric& fabric, const Request& request);

}  // namespace holdfast::fabric::opensm
