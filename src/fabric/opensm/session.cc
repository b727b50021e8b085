#include "fabric/opensm/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <utility>

#include "core/status/hint.h"
#include "core/time/clock.h"
#include "fabric/formats/ibsim_net.h"
#include "fabric/formats/node_name.h"
#include "fabric/formats/opensm_config.h"
#include "fabric/opensm/configuration.h"
#include "fabric/opensm/keeper.h"
#include "fabric/opensm/log.h"
#include "fabric/opensm/programs.h"
#include "fabric/opensm/scratch.h"
#include "fabric/opensm/snapshot.h"

namespace holdfast::fabric::opensm {
namespace {

constexpr std::string_view engine_names[] = {"minhop", "updn",       "dnup", "ftree",  "lash",
                                             "dor",    "torus-2QoS", "nue",  "dfsssp", "sssp"};
constexpr std::string_view verdict_names[] = {"routed", "refused", "timed out", "crashed"};
constexpr Lid top_unicast_lid = 0xBFFF;
constexpr std::int64_t start_limit_ns = 120'000'000'000;
constexpr std::int64_t longest_limit_ns = 1'000'000'000'000'000;  // 11 days: ten times that is still a time
constexpr std::string_view prompt = "sim> ";

/// A descriptor of this process, closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_ = -1;
};

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Status(Code::io, "making a pipe", std::strerror(errno));
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

Status bad_request(const std::string& wrong, const std::string& remedy) {
  return {Code::bad_input, "starting OpenSM", wrong, remedy};
}

Status check_request(const Fabric& fabric, const Request& request) {
  if (std::find(std::begin(engine_names), std::end(engine_names), request.engine) == std::end(engine_names))
    return bad_request("it has no routing engine '" + request.engine + "'",
                       did_you_mean(request.engine, engine_names, "see opensm --help"));
  if (fabric.switch_count() == 0 || fabric.adapter_count() == 0)
    return bad_request("the fabric has no switch or no adapter", "OpenSM runs on an adapter and routes switches");
  if (Status status = check_one_subnet(fabric); !status.ok()) return status;
  if (fabric.top_lid() > top_unicast_lid)
    return bad_request("the fabric has LID " + std::to_string(fabric.top_lid()) + ", a subnet's end at 49151",
                       "use an engine of ours");
  if (const auto lmc = lmc_of_all(fabric); !lmc.ok()) return lmc.status();
  if (request.lanes < 1 || request.lanes > 8)
    return bad_request("it was given " + std::to_string(request.lanes) + " lanes", "give 1 to 8: ibsim's ports have 8");
  return {};
}

bool can_be_home(const Fabric& fabric, NodeId node) {
  return !fabric.is_switch(node) && fabric.node(node).port_count > 0 && fabric.peer(fabric.port_of(node, 1)) != none;
}

/// The adapter that OpenSM runs on: the one asked for, else the first with a working cable.
NodeId home_of(const Fabric& fabric, NodeId asked) {
  if (asked < fabric.nodes().size() && can_be_home(fabric, asked)) return asked;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node)
    if (can_be_home(fabric, node)) return node;
  return none;
}

/// CPU time of a process so far, to a hundredth of a second; 0 when it is gone. proc(5): fields 14 and 15 of stat.
std::int64_t cpu_time_ns(pid_t process) {
  auto text = read_file("/proc/" + std::to_string(process) + "/stat");
  const std::size_t name_end = text.ok() ? text.value().rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.value().substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::int64_t user_ticks = 0;
  std::int64_t system_ticks = 0;
  fields >> user_ticks >> system_ticks;
  return (user_ticks + system_ticks) * (1'000'000'000 / sysconf(_SC_CLK_TCK));
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

}  // namespace

std::span<const std::string_view> engines() {
  return engine_names;
}

std::string_view name(Verdict verdict) {
  return verdict_names[static_cast<std::size_t>(verdict)];
}

struct Session::State {
  Fabric fabric;
  Request request;
  Programs programs;
  Keeper keeper;
  Descriptor console;         // to ibsim
  Descriptor console_answer;  // from ibsim
  Descriptor events;          // from the plugin in OpenSM
  pid_t opensm = -1;
  std::int64_t sweep_start_ns = 0;
  std::int64_t sweep_start_cpu_ns = 0;  // of OpenSM
  std::string answer_rest;              // read, no prompt yet
  std::string event_rest;               // read, no line end yet

  Status prepare_files();
  Status start_ibsim();
  Status start_opensm();
  Status wait_for_prompt(std::int64_t deadline_ns);
  void drain_console();
  Result<bool> read_events(std::int64_t deadline_ns);
  Result<Outcome> finish(const std::string& event);
  Outcome unrouted(Verdict verdict, const std::string& reason) const;
  std::string log_text() const;
  std::string path(const std::string& file) const { return keeper.folder() + "/" + file; }
};

namespace {

/// torus-2QoS.conf: what the request has, otherwise what the fabric's shape says.
Result<std::string> torus_text(const Fabric& fabric, const Request& request) {
  if (!request.torus_config.empty()) return request.torus_config;
  const auto config = torus_config_of(fabric);
  if (!config.ok()) return config.status();
  return write_torus_config(fabric, config.value());
}

}  // namespace

Status Session::State::prepare_files() {
  const auto lmc = lmc_of_all(fabric);
  if (!lmc.ok()) return lmc.status();
  Status status = write_file(path("fabric.net"), write_ibsim_net(fabric));
  if (status.ok()) status = write_file(path("opensm.conf"), configuration(request, keeper.folder(), lmc.value()));
  if (status.ok()) status = write_file(path("guid2lid"), lid_table(fabric));
  if (status.ok() && !request.roots.empty())
    status = write_file(path("roots"), write_root_guids(fabric, request.roots));
  if (status.ok() && request.engine == "torus-2QoS") {
    auto text = torus_text(fabric, request);
    status = text.ok() ? write_file(path("torus-2QoS.conf"), text.value()) : text.status();
  }
  return status;
}

Status Session::State::start_ibsim() {
  auto input = make_pipe();
  auto output = make_pipe();
  if (!input.ok()) return input.status();
  if (!output.ok()) return output.status();
  std::size_t ports = fabric.ports().size() + fabric.nodes().size();
  Program program;
  program.words = {programs.ibsim,
                   "-s",
                   "-N",
                   std::to_string(fabric.nodes().size() + 16),
                   "-S",
                   std::to_string(fabric.switch_count() + 16),
                   "-P",
                   std::to_string(ports + 64),
                   "-L",
                   "49152",
                   "-M",
                   "16",
                   path("fabric.net")};
  program.environment = {"IBSIM_SOCKNAME=" + keeper.folder().substr(keeper.folder().rfind('/') + 1), "LANG=C"};
  program.input = input.value().reading.number();
  program.output = program.errors = output.value().writing.number();
  auto started = keeper.start(program);
  if (!started.ok()) return started.status();
  console = std::move(input.value().writing);
  console_answer = std::move(output.value().reading);
  fcntl(console_answer.number(), F_SETFL, O_NONBLOCK);
  output.value().writing = Descriptor();
  return wait_for_prompt(time::steady_now_ns() + start_limit_ns);
}

Status Session::State::start_opensm() {
  auto pipe = make_pipe();
  if (!pipe.ok()) return pipe.status();
  Program program;
  program.words = {programs.opensm, "-F", path("opensm.conf")};
  program.environment = {"IBSIM_SOCKNAME=" + keeper.folder().substr(keeper.folder().rfind('/') + 1),
                         "SIM_HOST=" + node_id(fabric.node(home_of(fabric, request.home))),
                         "LD_PRELOAD=" + programs.umad2sim,
                         "LD_LIBRARY_PATH=" + folder_of(programs.tap),
                         "OSM_CACHE_DIR=" + keeper.folder() + "/",
                         "OSM_TMP_DIR=" + keeper.folder() + "/",
                         "HOLDFAST_TAP_FD=3",
                         "HOLDFAST_TAP_FOLDER=" + keeper.folder(),
                         "LANG=C"};
  program.third = pipe.value().writing.number();
  sweep_start_ns = time::steady_now_ns();
  auto started = keeper.start(program);
  if (!started.ok()) return started.status();
  opensm = started.value();
  events = std::move(pipe.value().reading);
  fcntl(events.number(), F_SETFL, O_NONBLOCK);
  return {};
}

/// Takes what ibsim has printed, so that it never waits for us.
void Session::State::drain_console() {
  std::array<char, 16384> buffer;
  ssize_t size = 0;
  while ((size = read(console_answer.number(), buffer.data(), buffer.size())) > 0) {
    answer_rest.append(buffer.data(), static_cast<std::size_t>(size));
    if (answer_rest.size() > 65536) answer_rest.erase(0, answer_rest.size() - 1024);
  }
}

Status Session::State::wait_for_prompt(std::int64_t deadline_ns) {
  const std::string doing = "waiting for ibsim";
  for (;;) {
    drain_console();
    if (const std::size_t found = answer_rest.find(prompt); found != std::string::npos) {
      answer_rest.erase(0, found + prompt.size());
      return {};
    }
    pollfd waiting = {console_answer.number(), POLLIN, 0};
    const std::int64_t left_ms = (deadline_ns - time::steady_now_ns()) / 1'000'000;
    if (left_ms <= 0) return {Code::unavailable, doing, "no answer", "see whether the machine is overloaded"};
    if (poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(left_ms, 1000))) < 0 && errno != EINTR)
      return {Code::io, doing, std::strerror(errno)};
    if ((waiting.revents & POLLHUP) != 0 && (waiting.revents & POLLIN) == 0) {
      drain_console();
      return {Code::unavailable, doing, "it ended: " + last_line(answer_rest), "see that ibsim-utils is whole"};
    }
  }
}

/// Waits for bytes from the plugin: false when OpenSM has ended, true when there are some or the deadline has passed.
Result<bool> Session::State::read_events(std::int64_t deadline_ns) {
  std::array<char, 4096> buffer;
  std::array<pollfd, 2> waiting = {{{events.number(), POLLIN, 0}, {console_answer.number(), POLLIN, 0}}};
  const std::int64_t left_ms = std::max<std::int64_t>(0, (deadline_ns - time::steady_now_ns()) / 1'000'000 + 1);
  if (poll(waiting.data(), waiting.size(), static_cast<int>(std::min<std::int64_t>(left_ms, 1000))) < 0 &&
      errno != EINTR)
    return Status(Code::io, "waiting for OpenSM", std::strerror(errno));
  drain_console();
  if (waiting[1].revents == POLLHUP) return false;  // ibsim is gone
  const ssize_t size = read(events.number(), buffer.data(), buffer.size());
  if (size == 0) return false;
  if (size > 0) event_rest.append(buffer.data(), static_cast<std::size_t>(size));
  return true;
}

std::string Session::State::log_text() const {
  auto text = read_file(path("opensm.log"));
  return text.ok() ? std::move(text).value() : std::string();
}

Outcome Session::State::unrouted(Verdict verdict, const std::string& reason) const {
  Outcome outcome;
  outcome.verdict = verdict;
  outcome.reason = reason;
  outcome.sweep_wall_ns = time::steady_now_ns() - sweep_start_ns;
  return outcome;
}

/// Takes one line from the plugin; the outcome's reason is "-" while there is none yet.
Result<Outcome> Session::State::finish(const std::string& event) {
  if (event.starts_with("refused")) return unrouted(Verdict::refused, refusal_in(log_text(), request.engine));
  if (!event.starts_with("routed ")) return unrouted(Verdict::timed_out, "-");
  const std::int64_t now = time::steady_now_ns();
  auto bytes = read_file(event.substr(7));
  if (!bytes.ok()) return bytes.status();
  unlink(event.substr(7).c_str());
  auto snapshot = read_snapshot(bytes.value(), fabric);
  if (!snapshot.ok()) return snapshot.status();
  const std::uint8_t lanes = snapshot.value().forwarding.lanes_used;
  if (lanes > request.lanes)
    return unrouted(Verdict::refused, request.engine + " uses " + std::to_string(lanes) + " VLs of " +
                                          std::to_string(request.lanes) + ": it takes all that the ports have");
  Outcome outcome;
  outcome.verdict = Verdict::routed;
  outcome.forwarding = std::move(snapshot.value().forwarding);
  outcome.routing_cpu_ns = snapshot.value().routing_cpu_ns;
  outcome.routing_wall_ns = snapshot.value().routing_wall_ns;
  outcome.memory_bytes = snapshot.value().memory_bytes;
  outcome.sweep_wall_ns = now - sweep_start_ns;
  outcome.lanes_needed = lanes_needed_in(log_text());
  return outcome;
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() {
  if (state_ != nullptr) state_->keeper.close(!state_->request.keep_folder.empty());
}

Result<Session> Session::start(const Fabric& fabric, const Request& request) {
  if (Status status = check_request(fabric, request); !status.ok()) return status;
  auto state = std::make_unique<State>();
  state->fabric = fabric;
  state->request = request;
  if (state->fabric.top_lid() == 0) state->fabric.assign_lids();
  if (home_of(fabric, request.home) == none)
    return bad_request("no adapter's first port has a working cable", "connect one");
  if (request.roots.empty()) state->request.roots = roots_for(request.engine, state->fabric);
  auto programs = find_programs();
  if (!programs.ok()) return programs.status();
  state->programs = std::move(programs.value());
  remove_left_folders();
  auto keeper = Keeper::open(request.keep_folder.empty() ? unused_folder() : request.keep_folder);
  if (!keeper.ok()) return keeper.status();
  state->keeper = std::move(keeper.value());
  Status status = state->prepare_files();
  if (status.ok()) status = state->start_ibsim();
  if (status.ok()) status = state->start_opensm();
  if (!status.ok()) return status;
  return Session(std::move(state));
}

Result<Outcome> Session::wait() {
  const std::int64_t limit_ns = state_->request.time_limit_ns;
  const std::int64_t deadline_ns = state_->sweep_start_ns + 10 * std::min(limit_ns, longest_limit_ns);
  for (;;) {
    auto alive = state_->read_events(deadline_ns);
    if (!alive.ok()) return alive.status();
    while (state_->event_rest.find('\n') != std::string::npos) {
      const std::size_t end = state_->event_rest.find('\n');
      const std::string event = state_->event_rest.substr(0, end);
      state_->event_rest.erase(0, end + 1);
      auto outcome = state_->finish(event);
      if (!outcome.ok() || outcome.value().reason != "-") return outcome;
    }
    if (!alive.value()) return state_->unrouted(Verdict::crashed, "OpenSM ended: " + last_line(state_->log_text()));
    if (time::steady_now_ns() >= deadline_ns || cpu_time_ns(state_->opensm) - state_->sweep_start_cpu_ns >= limit_ns)
      return state_->unrouted(Verdict::timed_out, "no tables within the time limit");
  }
}

Status Session::set_links(std::span<const LinkId> links, bool up) {
  State& state = *state_;
  for (const LinkId link : links) {
    const PortId port = state.fabric.link(link).a;
    const Node& node = state.fabric.node(state.fabric.port(port).node);
    const std::string command = std::string(up ? "ReLink" : "Unlink") + " \"" + node_id(node) + "\"[" +
                                std::to_string(state.fabric.number_of(port)) + "]\n";
    if (write(state.console.number(), command.data(), command.size()) != static_cast<ssize_t>(command.size()))
      return {Code::io, "speaking to ibsim", std::strerror(errno)};
    Status status = state.wait_for_prompt(time::steady_now_ns() + start_limit_ns);
    if (!status.ok()) return status;
    state.fabric.set_link_up(link, up);
  }
  state.sweep_start_ns = time::steady_now_ns();
  state.sweep_start_cpu_ns = cpu_time_ns(state.opensm);
  state.keeper.signal(state.opensm, SIGHUP);
  return {};
}

const Fabric& Session::fabric() const {
  return state_->fabric;
}

const std::string& Session::folder() const {
  return state_->keeper.folder();
}

Result<Outcome> route(const Fabric& fabric, const Request& request) {
  auto session = Session::start(fabric, request);
  if (!session.ok()) return session.status();
  return session.value().wait();
}

}  // namespace holdfast::fabric::opensm
