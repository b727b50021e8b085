#pragma once

#include <cstdint>
#include <vector>

#include "simulate/kernel/time.h"

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
  /// False while a finite pattern waits for something: then an end of all activity is no completion.
  virtual bool done() const { return true; }
  /// Messages that a finite pattern will send in all; 0: not known.
  virtual std::uint64_t messages() const { return 0; }
  /// Packets of them with this payload, for progress bars; 0: not known.
  virtual std::uint64_t packets(std::uint32_t mtu) const { return (void)mtu, 0; }
};

}  // namespace holdfast::simulate
