#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

/// An input-queued router with virtual channels, simulated cycle by cycle, as textbooks describe it (W. Dally and B.
/// Towles, "Principles and Practices of Interconnection Networks", 2004, chapters 16, 17 and 23): input buffers a
/// channel, credits, virtual cut-through, round-robin allocators that hold an output until the tail has passed, output
/// queues behind a crossbar with speedup. A second opinion for tests: it knows nothing of fabrics, forwarding tables,
/// picoseconds or events, and its random numbers are its own.
namespace holdfast::simulate::cycles {

struct Configuration {
  int packet = 33;         ///< flits
  int input_buffer = 128;  ///< flits a channel
  int output_buffer = 78;  ///< flits
  int speedup = 1;         ///< flits that cross to one output in a cycle
  int latency = 6;         ///< cycles from a flit's arrival to when it may cross
  int wire = 0;            ///< cycles
  int channels = 1;        ///< virtual channels, by source host modulo this
  double load = 1;         ///< flits a cycle and host that are offered
};

/// The other end of a router's port.
struct End {
  int router = -1;  ///< -1: the host of that number; or nothing
  int port = -1;
};

class Network {
 public:
  /// `cables[r][p]` is the other end of port p of router r, `routes[r][h]` the port towards host h.
  Network(Configuration configuration, std::vector<std::vector<End>> cables, std::vector<std::vector<int>> routes,
          int hosts, std::uint64_t seed)
      : is_(configuration), cables_(std::move(cables)), routes_(std::move(routes)), random_(seed), hosts_(hosts) {
    for (std::size_t r = 0; r < cables_.size(); ++r) {
      routers_.emplace_back(cables_[r].size());
      for (std::size_t p = 0; p < cables_[r].size(); ++p) {
        routers_[r][p].inputs.resize(channels());
        routers_[r][p].credits.assign(channels(), is_.input_buffer);
        routers_[r][p].turn.assign(channels(), 0);
        if (cables_[r][p].router < 0 && cables_[r][p].port >= 0)
          hosts_[static_cast<std::size_t>(cables_[r][p].port)].at = {static_cast<int>(r), static_cast<int>(p)};
      }
    }
    for (Host& host : hosts_) {
      host.credits.assign(channels(), is_.input_buffer);
      host.queues.resize(channels());
    }
  }

  /// Flits a cycle and host that arrive, after a time to fill.
  double accepted(int warm_up, int measured) {
    for (int i = 0; i < warm_up; ++i) step();
    const std::uint64_t before = arrived_;
    for (int i = 0; i < measured; ++i) step();
    return static_cast<double>(arrived_ - before) / measured / static_cast<double>(hosts_.size());
  }
  /// Mean cycles from a packet's creation to its tail's arrival, over all so far.
  double latency() const { return static_cast<double>(waited_) / static_cast<double>(packets_); }

 private:
  struct Flit {
    int to;
    int channel;
    bool head, tail;
    long created;
    long ready;  ///< cycle from which it may cross
  };
  struct Input {
    std::deque<Flit> flits;
    bool granted = false;  ///< its head packet is crossing
  };
  struct Port {
    std::vector<Input> inputs;  ///< by channel
    std::vector<int> credits;   ///< for the buffer at the other end
    std::vector<std::size_t> turn;
    std::size_t channel_turn = 0;
    std::pair<int, int> winner{-1, -1};  ///< input port and channel that hold the crossbar's way to this output
    std::deque<Flit> queue;              ///< the output buffer
    int reserved = 0;                    ///< of it, flits of granted packets that have not left
  };
  struct Host {
    End at;
    std::vector<int> credits;
    std::vector<std::deque<Flit>> queues;
    std::deque<std::pair<int, long>> backlog;  ///< destinations and when they were drawn
    std::size_t turn = 0;
    int sending = -1;  ///< channel
  };
  struct Travelling {
    long due;
    int router, port;  ///< router -1: host `port`
    Flit flit;
  };
  struct Credit {
    long due;
    int router, port, channel;
  };

  std::size_t channels() const { return static_cast<std::size_t>(is_.channels); }

  void step() {
    ++cycle_;
    while (!credits_.empty() && credits_.front().due <= cycle_) {
      const Credit& credit = credits_.front();
      auto& counters = credit.router < 0 ? hosts_[static_cast<std::size_t>(credit.port)].credits
                                         : at(credit.router, credit.port).credits;
      ++counters[static_cast<std::size_t>(credit.channel)];
      credits_.pop_front();
    }
    while (!wires_.empty() && wires_.front().due <= cycle_) {
      land(wires_.front());
      wires_.pop_front();
    }
    for (std::size_t r = 0; r < routers_.size(); ++r)
      for (std::size_t p = 0; p < routers_[r].size(); ++p) leave(routers_[r][p], cables_[r][p]);
    for (int part = 0; part < is_.speedup; ++part)
      for (std::size_t r = 0; r < routers_.size(); ++r)
        for (std::size_t p = 0; p < routers_[r].size(); ++p) cross(static_cast<int>(r), p);
    for (std::size_t h = 0; h < hosts_.size(); ++h) inject(static_cast<int>(h));
  }

  Port& at(int router, int port) { return routers_[static_cast<std::size_t>(router)][static_cast<std::size_t>(port)]; }

  void land(const Travelling& arrival) {
    if (arrival.router >= 0) {
      Flit flit = arrival.flit;
      flit.ready = cycle_ + is_.latency;
      at(arrival.router, arrival.port).inputs[static_cast<std::size_t>(flit.channel)].flits.push_back(flit);
      return;
    }
    ++arrived_;
    const End from = hosts_[static_cast<std::size_t>(arrival.port)].at;
    credits_.push_back({cycle_ + is_.wire, from.router, from.port, arrival.flit.channel});
    if (!arrival.flit.tail) return;
    ++packets_;
    waited_ += cycle_ - arrival.flit.created;
  }

  /// One flit to this output; at first the allocation of a packet.
  void cross(int r, std::size_t p) {
    Port& out = routers_[static_cast<std::size_t>(r)][p];
    if (out.winner.first < 0 && !allocate(r, p)) return;
    auto [in, channel] = out.winner;
    Input& input = at(r, in).inputs[static_cast<std::size_t>(channel)];
    if (input.flits.empty() || input.flits.front().ready > cycle_) return;
    const Flit flit = input.flits.front();
    input.flits.pop_front();
    out.queue.push_back(flit);
    const End sender = cables_[static_cast<std::size_t>(r)][static_cast<std::size_t>(in)];
    credits_.push_back({cycle_ + is_.wire, sender.router, sender.port, channel});
    if (!flit.tail) return;
    input.granted = false;
    out.winner = {-1, -1};
  }

  bool allocate(int r, std::size_t p) {
    auto& ports = routers_[static_cast<std::size_t>(r)];
    Port& out = ports[p];
    if (out.reserved + is_.packet > is_.output_buffer) return false;
    for (std::size_t step = 1; step <= channels(); ++step) {
      const std::size_t channel = (out.channel_turn + step) % channels();
      if (out.credits[channel] < is_.packet) continue;
      for (std::size_t next = 1; next <= ports.size(); ++next) {
        const std::size_t in = (out.turn[channel] + next) % ports.size();
        Input& input = ports[in].inputs[channel];
        if (input.granted || input.flits.empty() || input.flits.front().ready > cycle_) continue;
        if (routes_[static_cast<std::size_t>(r)][static_cast<std::size_t>(input.flits.front().to)] !=
            static_cast<int>(p))
          continue;
        input.granted = true;
        out.winner = {static_cast<int>(in), static_cast<int>(channel)};
        out.turn[channel] = in;
        out.channel_turn = channel;
        out.credits[channel] -= is_.packet;
        out.reserved += is_.packet;
        return true;
      }
    }
    return false;
  }

  void leave(Port& out, End end) {
    if (out.queue.empty()) return;
    wires_.push_back({cycle_ + 1 + is_.wire, end.router, end.port, out.queue.front()});
    out.queue.pop_front();
    --out.reserved;
  }

  void inject(int h) {
    Host& host = hosts_[static_cast<std::size_t>(h)];
    if (std::uniform_real_distribution<>(0, 1)(random_) < is_.load / is_.packet ||
        (is_.load >= 1 && host.backlog.empty())) {
      const int to = std::uniform_int_distribution<>(0, static_cast<int>(hosts_.size()) - 2)(random_);
      host.backlog.push_back({to >= h ? to + 1 : to, cycle_});
    }
    const auto channel = static_cast<std::size_t>(h % is_.channels);
    auto& queue = host.queues[channel];
    while (!host.backlog.empty() && static_cast<int>(queue.size()) + is_.packet <= is_.input_buffer) {
      const auto [to, created] = host.backlog.front();
      host.backlog.pop_front();
      for (int k = 0; k < is_.packet; ++k)
        queue.push_back({to, static_cast<int>(channel), k == 0, k + 1 == is_.packet, created, 0});
    }
    if (host.sending < 0) {
      if (queue.empty() || host.credits[channel] < is_.packet) return;
      host.credits[channel] -= is_.packet;
      host.sending = static_cast<int>(channel);
    }
    const Flit flit = queue.front();
    queue.pop_front();
    wires_.push_back({cycle_ + 1 + is_.wire, host.at.router, host.at.port, flit});
    if (flit.tail) host.sending = -1;
  }

  Configuration is_;
  std::vector<std::vector<End>> cables_;
  std::vector<std::vector<int>> routes_;
  std::vector<std::vector<Port>> routers_;
  std::mt19937_64 random_;
  std::vector<Host> hosts_;
  std::deque<Travelling> wires_;  // in the order of `due`: every wire is as long
  std::deque<Credit> credits_;
  long cycle_ = 0;
  std::uint64_t arrived_ = 0;
  std::uint64_t packets_ = 0;
  long waited_ = 0;
};

}  // namespace holdfast::simulate::cycles
