#include "core/fault/rules.h"

namespace holdfast::fault {
namespace {

constexpr std::uint32_t set_of(std::initializer_list<Word> listed) {
  std::uint32_t bits = 0;
  for (const Word word : listed) bits |= static_cast<std::uint32_t>(word);
  return bits;
}

constexpr std::array<WordName, 16> word_names = {{{"rank", Word::rank},
                                                  {"replica", Word::replica},
                                                  {"peer", Word::peer},
                                                  {"rail", Word::rail},
                                                  {"port", Word::port},
                                                  {"link", Word::link},
                                                  {"switch", Word::switch_name},
                                                  {"hca", Word::hca},
                                                  {"any", Word::any},
                                                  {"rate", Word::rate},
                                                  {"mean", Word::mean},
                                                  {"message", Word::message},
                                                  {"time", Word::time},
                                                  {"share", Word::share},
                                                  {"bit", Word::bit},
                                                  {"for", Word::lasts}}};

constexpr std::uint32_t moments = set_of({Word::rate, Word::mean, Word::message, Word::time, Word::share});
constexpr std::uint32_t on_message =
    set_of({Word::rank, Word::replica, Word::peer, Word::rail, Word::link, Word::switch_name, Word::hca, Word::any,
            Word::rate, Word::mean, Word::message, Word::time});
constexpr std::uint32_t on_process =
    set_of({Word::rank, Word::replica, Word::any, Word::mean, Word::message, Word::time});
constexpr std::uint32_t on_part = set_of({Word::any, Word::mean, Word::time, Word::share, Word::lasts});
constexpr std::uint32_t bit = set_of({Word::bit});

constexpr std::array<Rule, 15> all_rules = {{
    {Kind::flip, "flip", on_message | bit, true, "flip rank 1 replica 2 message 40 bit 7"},
    {Kind::drop, "drop", on_message, true, "drop rail 0 rate 1/100"},
    {Kind::duplicate, "duplicate", on_message, true, "duplicate rate 1/1000"},
    {Kind::reorder, "reorder", on_message, true, "reorder rail 1 rate 1/50"},
    {Kind::delay, "delay", on_message, true, "delay 5ms rate 1/100"},
    {Kind::corrupt_header, "corrupt-header", on_message | bit, true, "corrupt-header rail 0 message 3"},
    {Kind::kill_rail, "kill-rail", on_process | set_of({Word::rail}), true, "kill-rail rail 1 time 3s"},
    {Kind::narrow_rail, "narrow-rail", on_process | set_of({Word::rail}), false, "narrow-rail 700 rail 1 time 3s"},
    {Kind::kill_process, "kill-process", on_process, true, "kill-process rank 3 replica 1 time 3s"},
    {Kind::fail_link, "fail-link", on_part | set_of({Word::link}), false, "fail-link share 1%"},
    {Kind::fail_switch, "fail-switch", on_part | set_of({Word::switch_name}), false, "fail-switch switch spine-3"},
    {Kind::fail_port, "fail-port", on_part | set_of({Word::switch_name, Word::hca, Word::port}), false,
     "fail-port switch leaf-1 port 7"},
    {Kind::fail_hca, "fail-hca", on_part | set_of({Word::hca}), false, "fail-hca hca node-12 time 3s"},
    {Kind::noisy_link, "noisy-link", set_of({Word::link, Word::time, Word::lasts}), false,
     "noisy-link 1/1000000000 link leaf-1/7 time 2ms for 1ms"},
    {Kind::slow_link, "slow-link", set_of({Word::link, Word::time, Word::lasts}), false,
     "slow-link 1/4 link leaf-1/7 time 2ms for 1ms"},
}};

}  // namespace

std::span<const WordName> words() {
  return word_names;
}
std::span<const Rule> rules() {
  return all_rules;
}
const Rule& rule_of(Kind kind) {
  return all_rules[static_cast<std::size_t>(kind)];
}
bool tells_when(Word word) {
  return (static_cast<std::uint32_t>(word) & moments) != 0;
}

}  // namespace holdfast::fault
