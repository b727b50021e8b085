#include "replicate/world/plan.h"

#include <algorithm>
#include <map>

#include "core/random/stream.h"
#include "replicate/engine/ordering.h"

namespace holdfast::replicate {

namespace {

/// The receives of one rank in one round. Its messages come on a communicator of the round's own. So that every order
/// of matching serves every receive: of a channel at most as many receives name it as messages are left for it if all
/// wildcards of the round took theirs from it; what is left is received by wildcards that take anything, at the end.
void draw_receives(random::Stream& draw, const std::vector<PlannedMessage>& messages, int rank, int round,
                   std::size_t& receives, std::vector<Step>& posts, std::vector<Step>& drains) {
  std::map<std::pair<int, std::int32_t>, std::size_t> channels;
  std::size_t total = 0;
  for (const PlannedMessage& message : messages) {
    if (message.to != rank || message.round != round) continue;
    ++channels[{message.from, message.tag}];
    ++total;
  }
  const bool wild = draw.chance(2, 3);
  std::size_t wildcards = wild && total > 0 ? draw.below(total / 2 + 1) : 0;
  std::size_t named = 0;
  for (const auto& [channel, count] : channels) {
    if (count <= wildcards) continue;
    std::size_t of_it = count - wildcards;
    if (wild) of_it = draw.below(of_it + 1);
    named += of_it;
    for (std::size_t i = 0; i < of_it; ++i)
      posts.push_back({Step::Kind::post, 0, channel.first, channel.second, round});
  }
  wildcards = std::min(wildcards, total - named);
  for (std::size_t i = 0; i < wildcards; ++i) posts.push_back({Step::Kind::post, 0, any_source, any_tag, round});
  for (std::size_t i = posts.size(); i > 1; --i) std::swap(posts[i - 1], posts[draw.below(i)]);
  for (std::size_t i = named + wildcards; i < total; ++i)
    drains.push_back({Step::Kind::post, 0, any_source, any_tag, round});
  for (Step& step : posts) step.which = receives++;
  for (Step& step : drains) step.which = receives++;
}

std::vector<Step> draw_program(random::Stream draw, const std::vector<PlannedMessage>& messages, int rank, int rounds) {
  std::vector<Step> program;
  std::size_t receives = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Step> posts;
    std::vector<Step> drains;
    draw_receives(draw, messages, rank, round, receives, posts, drains);
    std::vector<Step> sends;
    for (std::size_t i = 0; i < messages.size(); ++i)
      if (messages[i].from == rank && messages[i].round == round) sends.push_back({Step::Kind::send, i, 0, 0, round});
    // Sends wait for nothing, and come before the round's first wait, so that no two ranks wait for each other.
    const std::size_t late = draw.below(posts.size() + 1);
    std::size_t p = 0;
    std::size_t s = 0;
    std::vector<std::size_t> open;
    while (s < sends.size() || p + late < posts.size()) {
      const bool post = s == sends.size() || (p + late < posts.size() && draw.chance(1, 2));
      if (post) open.push_back(posts[p].which);
      program.push_back(post ? posts[p++] : sends[s++]);
    }
    posts.insert(posts.end(), drains.begin(), drains.end());
    while (p < posts.size() || !open.empty()) {
      if (p < posts.size() && (open.empty() || draw.chance(1, 2))) {
        open.push_back(posts[p].which);
        program.push_back(posts[p++]);
        continue;
      }
      const std::size_t which = draw.below(open.size());
      program.push_back({Step::Kind::wait, open[which], 0, 0, round});
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  return program;
}

void draw_faults(random::Stream draw, Plan& plan) {
  if (plan.messages.empty() || draw.chance(1, 4)) return;
  if (draw.chance(1, 3)) {  // a sender that stays corrupt
    const auto rank = static_cast<int>(draw.below(plan.degrees.size()));
    const auto replica =
        static_cast<int>(draw.below(static_cast<std::uint64_t>(plan.degrees[static_cast<std::size_t>(rank)])));
    for (std::size_t i = 0; i < plan.messages.size(); ++i)
      if (plan.messages[i].from == rank) plan.faults.push_back({PlannedFault::Kind::memory, i, replica, 1});
    if (draw.chance(2, 3)) return;
  }
  const std::size_t count = 1 + draw.below(4);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t message = draw.below(plan.messages.size());
    const int degree = plan.degrees[static_cast<std::size_t>(plan.messages[message].from)];
    const std::size_t together = 1 + draw.below(2);
    const bool alike = draw.chance(1, 3);
    for (std::size_t i = 0; i < together; ++i) {
      PlannedFault fault{PlannedFault::Kind::memory, message,
                         static_cast<int>(draw.below(static_cast<std::uint64_t>(degree))),
                         alike ? 1 : 1 + draw.below(1000)};
      if (draw.chance(1, 8)) fault.kind = PlannedFault::Kind::wire;
      const bool again = std::any_of(plan.faults.begin(), plan.faults.end(), [&](const PlannedFault& other) {
        return other.message == fault.message && other.replica == fault.replica;
      });
      if (!again) plan.faults.push_back(fault);
    }
  }
}

/// Puts the results of one rank into its program: each is offered, and taken at once or later.
void draw_results(random::Stream draw, Plan& plan, int rank) {
  std::vector<Step>& program = plan.programs[static_cast<std::size_t>(rank)];
  const std::size_t count = draw.chance(1, 2) ? draw.below(5) : 0;
  std::size_t at = 0;
  for (std::size_t n = 0; n < count; ++n) {
    PlannedResult result{rank, draw.chance(1, 2) ? 2 + draw.below(5) : 1, draw.below(40)};
    at += draw.below(program.size() - at + 1);
    program.insert(program.begin() + static_cast<std::ptrdiff_t>(at),
                   {Step::Kind::offer, plan.results.size(), 0, 0, 0});
    const std::size_t later = draw.chance(1, 2) ? at + 1 : at + 1 + draw.below(program.size() - at);
    program.insert(program.begin() + static_cast<std::ptrdiff_t>(later),
                   {Step::Kind::take, plan.results.size(), 0, 0, 0});
    plan.results.push_back(result);
  }
}

void draw_wrong_blocks(random::Stream draw, Plan& plan) {
  if (draw.chance(1, 3)) return;
  for (std::size_t n = 0; n < plan.results.size(); ++n) {
    const auto degree = static_cast<std::uint64_t>(plan.degrees[static_cast<std::size_t>(plan.results[n].rank)]);
    if (plan.results[n].bytes() == 0 || draw.chance(1, 2)) continue;
    for (std::size_t wrong = 1 + draw.below(3); wrong > 0; --wrong) {
      const auto replica = static_cast<int>(draw.below(degree));
      plan.wrong_blocks.push_back({n, replica, draw.below(plan.results[n].blocks), 1 + draw.below(2)});
    }
  }
}

}  // namespace

int Plan::degree() const {
  return *std::max_element(degrees.begin(), degrees.end());
}

bool Plan::partial() const {
  return *std::min_element(degrees.begin(), degrees.end()) != degree();
}

int Plan::giver(const PlannedMessage& message, int receiver_replica) const {
  return receiver_replica % degrees[static_cast<std::size_t>(message.from)];
}

Plan draw_plan(std::uint64_t seed) {
  const random::Stream root = random::Stream(seed).child("replicate").child("world");
  random::Stream draw = root.child("shape");
  Plan plan;
  plan.seed = seed;
  const std::size_t ranks = 2 + draw.below(3);
  plan.degrees.assign(ranks, static_cast<int>(2 + draw.below(5)));
  if (draw.chance(1, 4))
    for (int& degree : plan.degrees) degree = static_cast<int>(1 + draw.below(4));
  if (plan.degree() == 1) plan.degrees.front() = 3;
  const std::uint64_t protocol = draw.below(4);
  plan.protocol = protocol < 2   ? Protocol::msg_plus_hash
                  : protocol < 3 ? Protocol::msg_plus_vote
                                 : Protocol::all_to_all;
  // Where ranks have different numbers, and where a job is to go on after a death, digests go to all.
  if (plan.partial() && plan.protocol == Protocol::msg_plus_hash) plan.protocol = Protocol::msg_plus_vote;
  if (plan.protocol != Protocol::msg_plus_hash && !plan.partial() && plan.degree() > 2 && draw.chance(1, 3))
    plan.dies = static_cast<int>(draw.below(static_cast<std::uint64_t>(plan.degree())));
  const int rounds = static_cast<int>(1 + draw.below(3));
  const std::size_t count = draw.below(24);
  for (std::size_t i = 0; i < count; ++i) {
    PlannedMessage message;
    message.from = static_cast<int>(draw.below(ranks));
    message.to = static_cast<int>(draw.below(ranks));
    message.round = static_cast<int>(draw.below(static_cast<std::uint64_t>(rounds)));
    message.tag = static_cast<std::int32_t>(draw.below(3));
    message.bytes = draw.chance(1, 8) ? 0 : 1 + draw.below(300);
    plan.messages.push_back(message);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank)
    plan.programs.push_back(
        draw_program(root.child("program").child(rank), plan.messages, static_cast<int>(rank), rounds));
  draw_faults(root.child("faults"), plan);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    draw_results(root.child("results").child(rank), plan, static_cast<int>(rank));
  draw_wrong_blocks(root.child("wrong blocks"), plan);
  random::Stream records = root.child("records");
  if (records.chance(1, 4)) plan.flipped_records = static_cast<std::uint32_t>(1 + records.below(200000));
  plan.broken_record = records.chance(1, 12);
  plan.eager = records.chance(1, 2);
  return plan;
}

std::vector<std::byte> contents(const Plan& plan, std::size_t message, std::uint64_t value) {
  random::Stream draw = random::Stream(plan.seed).child("contents").child(message);
  std::vector<std::byte> bytes(plan.messages[message].bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw.below(256));
  if (value == 0 || bytes.empty()) return bytes;
  random::Stream wrong = draw.child("wrong").child(value);
  bytes[wrong.below(bytes.size())] ^= static_cast<std::byte>(1 + wrong.below(255));
  return bytes;
}

std::vector<std::byte> result_contents(const Plan& plan, std::size_t result, int replica) {
  const PlannedResult& planned = plan.results[result];
  random::Stream draw = random::Stream(plan.seed).child("result").child(result);
  std::vector<std::byte> bytes(planned.bytes());
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw.below(256));
  for (const WrongBlock& wrong : plan.wrong_blocks)
    if (wrong.result == result && wrong.replica == replica)
      bytes[wrong.block * planned.block_bytes] =
          static_cast<std::byte>(wrong.value) ^ bytes[wrong.block * planned.block_bytes];
  return bytes;
}

std::string Plan::describe() const {
  static constexpr const char* protocols[] = {"msg-plus-hash", "msg-plus-vote", "all-to-all"};
  std::string text = "seed " + std::to_string(seed) + ": degrees";
  for (const int one : degrees) text += " " + std::to_string(one);
  text += ", " + std::string(protocols[static_cast<std::size_t>(protocol)]) + ", " + std::to_string(messages.size()) +
          " messages\n";
  for (const PlannedFault& fault : faults) {
    const PlannedMessage& message = messages[fault.message];
    text += "  message " + std::to_string(fault.message) + " from " + std::to_string(message.from) + " to " +
            std::to_string(message.to) + " tag " + std::to_string(message.tag) + ": replica " +
            std::to_string(fault.replica) +
            (fault.kind == PlannedFault::Kind::wire ? " on the wire" : " value " + std::to_string(fault.value)) + "\n";
  }
  for (const WrongBlock& wrong : wrong_blocks)
    text += "  result " + std::to_string(wrong.result) + " of rank " + std::to_string(results[wrong.result].rank) +
            ", block " + std::to_string(wrong.block) + " of " + std::to_string(results[wrong.result].blocks) +
            ": replica " + std::to_string(wrong.replica) + " value " + std::to_string(wrong.value) + "\n";
  if (flipped_records > 0) text += "  control messages flipped: " + std::to_string(flipped_records) + " per million\n";
  if (broken_record) text += "  one control message is broken\n";
  if (dies >= 0) text += "  replica " + std::to_string(dies) + " dies\n";
  return text;
}

}  // namespace holdfast::replicate
