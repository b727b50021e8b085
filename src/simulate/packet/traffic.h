#pragma once

#include <cstdint>
#include <vector>

#include "simulate/kernel/time.h"
#include "simulate/packet/record.h"

namespace holdfast::simulate {

/// What hosts send, and when: the engine asks each host's next message when its send engine is free. Hosts are numbered
/// from 0 in the order of Hosts (hosts.h). One object serves one run, from one thread.
class Traffic {
 public:
  /// A message. `created` is when the application had it ready, at or before now: its latency counts from there.
  struct Message {
    std::uint32_t destination = 0;
    std::uint32_t tag = 0;  ///< handed back by sent() and delivered()
    std::uint64_t bytes = 0;
    Time created = 0;
  };
  enum class Answer : std::uint8_t {
    send,   ///< `message` is set
    later,  ///< ask again at `message.created`, later than now
    none,   ///< nothing until delivered() names this host
  };

  virtual ~Traffic() = default;

  /// What a traffic may ask of the network that plays it, from begin() on, inside a call of its own.
  class Player {
   public:
    virtual ~Player() = default;
    /// next() of this host is called again at this moment, which is not before now, if it answered none or later.
    virtual void ask(std::uint32_t host, Time at) = 0;
    /// due(what) is called at this moment, which is not before now.
    virtual void call_at(Time at, std::uint32_t what) = 0;
    /// The run is over.
    virtual void end(Ending how) = 0;
    /// Nothing is played from this moment on; never: it has no limit.
    virtual Time limit() const = 0;
  };
  /// Before the first next(). `player` lives until the run is over.
  virtual void begin(Player& player) { (void)player; }
  virtual void due(std::uint32_t what, Time now) { (void)what, (void)now; }

  /// The next message of a host that has handed over all before it.
  virtual Answer next(std::uint32_t host, Time now, Message& message) = 0;
  /// Asks the memory for what next() will read of this host; it will be called soon.
  virtual void prefetch(std::uint32_t host) const { (void)host; }

  /// True when the pattern ends by itself, so that a run of it has a completion time.
  virtual bool finite() const = 0;

  /// The adapter has taken the whole message. Called before next().
  virtual void sent(std::uint32_t host, std::uint32_t tag, Time now) { (void)host, (void)tag, (void)now; }
  /// True when delivered() is to be called.
  virtual bool watches_deliveries() const { return false; }
  /// The message's last byte is in the destination's memory. Adds the hosts to ask again to `wake`.
  virtual void delivered(std::uint32_t destination, std::uint32_t tag, Time now, std::vector<std::uint32_t>& wake) {
    (void)destination, (void)tag, (void)now, (void)wake;
  }
  /// True when lost() is to be called.
  virtual bool watches_losses() const { return false; }
  /// A message of unreliable connections that will not be delivered: it had no path, or a packet of it was dropped.
  /// It may not be sent() yet. Nothing may be asked of the player here.
  virtual void lost(std::uint32_t host, std::uint32_t tag, Time now) { (void)host, (void)tag, (void)now; }
  /// False while a finite pattern waits for something: then an end of all activity is no completion.
  virtual bool done() const { return true; }
  /// Messages that a finite pattern will send in all; 0: not known.
  virtual std::uint64_t messages() const { return 0; }
  /// Packets of them with this payload, for progress bars; 0: not known.
  virtual std::uint64_t packets(std::uint32_t mtu) const { return (void)mtu, 0; }
};

}  // namespace holdfast::simulate
