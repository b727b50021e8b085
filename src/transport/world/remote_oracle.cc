#include "transport/world/remote_oracle.h"

#include <string>

namespace holdfast::transport {

using Kind = RemoteOperation::Kind;
using End = Oracle::End;

void RemoteOracle::complain(std::size_t index, const char* what) {
  oracle_.complain("remote operation " + std::to_string(index) + " " + what);
}

void RemoteOracle::posted(std::size_t index) {
  State& state = states_[index];
  state.posted = true;
  state.from_life = life(plan_.remote[index].from);
  state.to_life = life(plan_.remote[index].to);
}

void RemoteOracle::refused(std::size_t index) {
  states_[index].posted = false;
}

void RemoteOracle::ended(std::size_t index, End end) {
  if (index >= states_.size() || !states_[index].posted)
    return oracle_.complain("a remote operation that nobody made has ended");
  State& state = states_[index];
  if (state.end != End::open) complain(index, "has ended twice");
  state.end = end;
  if (end == End::good) ++good_;
}

void RemoteOracle::fetched(std::size_t index, std::uint64_t value) {
  states_[index].fetched = value;
}

void RemoteOracle::applied(std::uint64_t index, std::uint64_t old) {
  if (index >= states_.size()) return oracle_.complain("an atomic operation came that nobody made");
  states_[index].old = old;
  if (++states_[index].applied > 1) complain(index, "was done twice");
}

void RemoteOracle::announced(std::uint64_t index) {
  if (index >= states_.size()) return oracle_.complain("a write was announced that nobody made");
  if (++states_[index].announced > 1) complain(index, "was announced twice");
  if (!plan_.remote[index].announced) complain(index, "was announced, and not to be");
}

void RemoteOracle::restarted(unsigned node) {
  if (node >= lives_.size()) lives_.resize(node + 1, 0);
  ++lives_[node];
}

bool RemoteOracle::same_target(std::size_t index) const {
  return states_[index].to_life == life(plan_.remote[index].to);
}

bool RemoteOracle::ended_all(unsigned node) const {
  for (std::size_t index = 0; index < states_.size(); ++index) {
    const State& state = states_[index];
    if (plan_.remote[index].from == node && state.posted && lives(index) && state.end == End::open) return false;
  }
  return true;
}

void RemoteOracle::judge() {
  for (std::size_t index = 0; index < states_.size(); ++index) {
    if (states_[index].posted) judge(index);
  }
}

void RemoteOracle::judge(std::size_t index) {
  const RemoteOperation& operation = plan_.remote[index];
  const State& state = states_[index];
  if (lives(index) && state.end == End::open) complain(index, "never ended");
  if (operation.forbidden) {
    if (state.end == End::good) complain(index, "was done, on memory that is not there");
    return;
  }
  if (state.end == End::failed && !plan_.errors_allowed) complain(index, "failed though a rail worked all the time");
  if (state.end != End::good) return;
  if (operation.kind == Kind::atomic && state.applied != 1) complain(index, "ended well and was not done");
  if (state.fetched && *state.fetched != state.old) complain(index, "gave another value than there was");
  if (operation.kind == Kind::write && operation.announced && same_target(index) && state.announced != 1) {
    complain(index, "ended well, and the target was not told");
  }
}

}  // namespace holdfast::transport
