#include "core/fault/grammar.h"

#include <charconv>
#include <limits>
#include <optional>
#include <string>

#include "core/fault/rules.h"
#include "core/fault/tokens.h"
#include "core/status/hint.h"
#include "core/time/duration.h"

namespace holdfast::fault {
namespace {

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_part(const Ratio& ratio) {
  return ratio.numerator > 0 && ratio.numerator <= ratio.denominator;
}

std::optional<Ratio> read_ratio(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> numerator = whole(text.substr(0, slash));
  const std::optional<std::uint64_t> denominator = whole(text.substr(slash + 1));
  if (!numerator || !denominator) return std::nullopt;
  const Ratio ratio{*numerator, *denominator};
  return is_part(ratio) ? std::optional(ratio) : std::nullopt;
}

constexpr std::size_t most_decimals_of_a_percentage = 12;

// "0.25%" is 25 of 10000. Zeros at the end of the fraction are dropped, so that equal shares are equal ratios.
std::optional<Ratio> read_percentage(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  const std::size_t point = text.find('.');
  std::string digits(text.substr(0, point));
  std::string fraction(point == std::string_view::npos ? std::string_view() : text.substr(point + 1));
  while (fraction.ends_with('0')) fraction.pop_back();
  if (digits.empty() || fraction.size() > most_decimals_of_a_percentage) return std::nullopt;
  const std::optional<std::uint64_t> numerator = whole(digits + fraction);
  std::uint64_t denominator = 100;
  for (std::size_t i = 0; i < fraction.size(); ++i) denominator *= 10;
  if (!numerator) return std::nullopt;
  const Ratio ratio{*numerator, denominator};
  return is_part(ratio) ? std::optional(ratio) : std::nullopt;
}

std::optional<Word> find_word(std::string_view text) {
  for (const WordName& each : words()) {
    if (each.name == text) return each.word;
  }
  return std::nullopt;
}

const Rule* find_rule(std::string_view text) {
  for (const Rule& rule : rules()) {
    if (rule.name == text) return &rule;
  }
  return nullptr;
}

std::string takes(const Rule& rule) {
  std::string list;
  for (const WordName& each : words()) {
    if ((rule.takes & static_cast<std::uint32_t>(each.word)) == 0) continue;
    list += (list.empty() ? "" : ", ") + std::string(each.name);
  }
  return std::string(rule.name) + " takes " + list;
}

class Parser {
 public:
  Parser(const std::vector<Token>& tokens, std::string_view name) : token_(tokens.data()), name_(name) {}

  Result<std::vector<Fault>> run() {
    std::vector<Fault> faults;
    while (token_->kind != Token::Kind::end) {
      if (token_->kind == Token::Kind::separator) {
        ++token_;
        continue;
      }
      fault_ = {};
      said_ = 0;
      if (Status status = read_fault(); !status) return status;
      faults.push_back(std::move(fault_));
    }
    return faults;
  }

 private:
  Status refuse(const Token& token, std::string wrong, std::string remedy) const {
    return {Code::bad_input, reading(name_, token.at), std::move(wrong), std::move(remedy)};
  }

  bool at_fault_end() const { return token_->kind == Token::Kind::separator || token_->kind == Token::Kind::end; }

  Status read_fault() {
    const Token& first = *token_;
    rule_ = first.kind == Token::Kind::word ? find_rule(first.text) : nullptr;
    if (rule_ != nullptr) {
      ++token_;
    } else if (first.kind == Token::Kind::word && find_word(first.text)) {
      rule_ = &rule_of(Kind::flip);  // the short form
    } else {
      return unknown_kind(first);
    }
    fault_.kind = rule_->kind;
    if (fault_.kind == Kind::delay) {
      if (Status status = read_delay(); !status) return status;
    }
    if (fault_.kind == Kind::narrow_rail) {
      const Result<std::uint64_t> bytes = read_number(1, std::numeric_limits<std::int32_t>::max());
      if (!bytes) return bytes.status();
      fault_.longest_bytes = bytes.value();
    }
    if (fault_.kind == Kind::noisy_link) {
      constexpr std::string_view expected = "the part of all bits that are damaged, as 1/1000000000, below 1/1";
      if (Status status = read_part(fault_.bit_errors, expected); !status) return status;
    }
    if (fault_.kind == Kind::slow_link) {
      constexpr std::string_view expected = "the part of its rate that the link has left, as 1/4, below 1/1";
      if (Status status = read_part(fault_.rate_left, expected); !status) return status;
    }
    while (!at_fault_end()) {
      if (Status status = read_clause(); !status) return status;
    }
    return check_whole(first);
  }

  Status unknown_kind(const Token& token) const {
    std::vector<std::string_view> names;
    for (const Rule& rule : rules()) names.push_back(rule.name);
    for (const WordName& each : words()) names.push_back(each.name);
    return refuse(token, "unknown fault '" + std::string(token.text) + "'",
                  did_you_mean(token.text, names, "say what happens first, as in " + std::string(rules()[0].example)));
  }

  Status unknown_word(const Token& token) const {
    std::vector<std::string_view> names;
    for (const WordName& each : words()) names.push_back(each.name);
    return refuse(token, "unknown word '" + std::string(token.text) + "'",
                  did_you_mean(token.text, names, takes(*rule_)));
  }

  Status read_clause() {
    const Token& token = *token_;
    const std::optional<Word> word = token.kind == Token::Kind::word ? find_word(token.text) : std::nullopt;
    if (!word) return unknown_word(token);
    const auto bit = static_cast<std::uint32_t>(*word);
    if ((rule_->takes & bit) == 0) {
      return refuse(token, "'" + std::string(token.text) + "' does not go with " + std::string(rule_->name),
                    takes(*rule_));
    }
    if ((said_ & bit) != 0) return refuse(token, "'" + std::string(token.text) + "' stands twice", "remove one");
    if (tells_when(*word) && says_when()) {
      return refuse(token, "there is a second moment for one fault", "write two faults with ';' between them");
    }
    said_ |= bit;
    ++token_;
    return read_argument(*word);
  }

  Status read_argument(Word word) {
    Place& place = fault_.place;
    switch (word) {
      case Word::rank:
        return read_index(place.rank);
      case Word::replica:
        return read_index(place.replica);
      case Word::peer:
        return read_index(place.peer);
      case Word::rail:
        return read_index(place.rail);
      case Word::port:
        return read_index(place.port);
      case Word::link:
        return read_link();
      case Word::switch_name:
        return read_name(place.switch_name);
      case Word::hca:
        return read_name(place.hca);
      case Word::any:
        return {};
      case Word::rate:
        return read_rate();
      case Word::mean:
        return read_mean();
      case Word::message:
        return read_message();
      case Word::time:
        return read_time();
      case Word::share:
        return read_share();
      case Word::bit:
        return read_bit();
      case Word::lasts:
        return read_lasts();
    }
    return {};
  }

  std::string found() const {
    return at_fault_end() ? "the fault ends here" : "there is '" + std::string(token_->text) + "'";
  }

  // The text of an unquoted argument, which is consumed; an error that says what should stand there when it is missing.
  Result<std::string_view> argument(std::string_view expected) {
    if (token_->kind != Token::Kind::word) return refuse(*token_, found(), "write " + std::string(expected));
    return (token_++)->text;
  }

  // Refuses the argument that was just consumed.
  Status refuse_last(std::string_view expected) const {
    const Token& last = token_[-1];
    return refuse(last, "there is '" + std::string(last.text) + "'", "write " + std::string(expected));
  }

  Result<std::uint64_t> read_number(std::uint64_t least, std::uint64_t most) {
    const std::string expected = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    const Result<std::string_view> text = argument(expected);
    if (!text) return text.status();
    const std::optional<std::uint64_t> number = whole(text.value());
    if (!number || *number < least || *number > most) return refuse_last(expected);
    return *number;
  }

  Status read_index(std::optional<std::uint32_t>& index) {
    const Result<std::uint64_t> number = read_number(0, std::numeric_limits<std::int32_t>::max());
    if (number) index = static_cast<std::uint32_t>(number.value());
    return number.status();
  }

  Status read_name(std::string& name) {
    if (at_fault_end() || token_->text.empty()) return refuse(*token_, found(), "write a name");
    name = (token_++)->text;
    return {};
  }

  // A second name is taken only in quotes: an unquoted word starts the next clause.
  Status read_link() {
    Link link;
    if (Status status = read_name(link.a); !status) return status;
    const bool pair = token_[-1].kind == Token::Kind::quoted && token_->kind == Token::Kind::quoted;
    if (pair) {
      if (Status status = read_name(link.b); !status) return status;
    }
    fault_.place.link = std::move(link);
    return {};
  }

  // A number and its unit may be two words, "3 s".
  Result<std::int64_t> read_duration(std::int64_t least) {
    const std::string expected = std::string("a duration such as 10ms") + (least > 0 ? ", above zero" : "");
    const Result<std::string_view> text = argument(expected);
    if (!text) return text.status();
    Result<std::int64_t> duration = time::parse_duration(text.value());
    if (!duration && token_->kind == Token::Kind::word) {
      duration = time::parse_duration(std::string(text.value()) + " " + std::string(token_->text));
      if (duration) ++token_;
    }
    if (!duration || duration.value() < least) return refuse_last(expected);
    return duration;
  }

  Status read_delay() {
    const Result<std::int64_t> amount = read_duration(1);
    if (amount) fault_.delay_ns = amount.value();
    return amount.status();
  }

  Status read_part(Ratio& part, std::string_view expected) {
    const Result<std::string_view> text = argument(expected);
    if (!text) return text.status();
    const std::optional<Ratio> ratio = read_ratio(text.value());
    if (!ratio || ratio->numerator == ratio->denominator) return refuse_last(expected);
    part = *ratio;
    return {};
  }

  Status read_lasts() {
    const Result<std::int64_t> span = read_duration(1);
    if (span) fault_.lasts_ns = span.value();
    return span.status();
  }

  Status read_rate() {
    constexpr std::string_view expected = "a ratio such as 1/1000, above 0 and at most 1/1";
    const Result<std::string_view> text = argument(expected);
    if (!text) return text.status();
    const std::optional<Ratio> ratio = read_ratio(text.value());
    if (!ratio) return refuse_last(expected);
    fault_.when = Rate{*ratio};
    return {};
  }

  Status read_mean() {
    const Result<std::int64_t> interval = read_duration(1);
    if (interval) fault_.when = Mean{interval.value()};
    return interval.status();
  }

  Status read_message() {
    const Result<std::uint64_t> number = read_number(1, std::numeric_limits<std::int64_t>::max());
    if (number) fault_.when = Message{number.value()};
    return number.status();
  }

  Status read_time() {
    const Result<std::int64_t> after = read_duration(0);
    if (after) fault_.when = Time{after.value()};
    return after.status();
  }

  Status read_share() {
    constexpr std::string_view expected = "a percentage such as 0.5%, above 0% and at most 100%";
    const Result<std::string_view> text = argument(expected);
    if (!text) return text.status();
    const std::optional<Ratio> part = read_percentage(text.value());
    if (!part) return refuse_last(expected);
    fault_.when = Share{*part};
    return {};
  }

  Status read_bit() {
    const Result<std::uint64_t> number = read_number(0, std::numeric_limits<std::int64_t>::max());
    if (number) fault_.bit = number.value();
    return number.status();
  }

  bool says_when() const { return !std::holds_alternative<AtOnce>(fault_.when); }
  bool said(Word word) const { return (said_ & static_cast<std::uint32_t>(word)) != 0; }

  // What only the whole fault shows.
  Status check_whole(const Token& first) const {
    const std::string as_in = "write it as in '" + std::string(rule_->example) + "'";
    if (rule_->says_when && !says_when()) return refuse(first, "the fault does not say when", as_in);
    if (said(Word::any) && !(fault_.place == Place{}))
      return refuse(first, "'any' stands beside a place", "remove one");
    if (!rule_->says_when && !says_when() && fault_.place == Place{}) {
      return refuse(first, "the fault says neither where nor when", as_in);
    }
    if (std::holds_alternative<Share>(fault_.when) && !(fault_.place == Place{})) {
      return refuse(first, "a share is of all things of the kind, but there is a place", "remove one");
    }
    if ((fault_.kind == Kind::noisy_link || fault_.kind == Kind::slow_link) && !fault_.place.link)
      return refuse(first, "the fault names no link", as_in);
    if (fault_.kind == Kind::fail_port && !(fault_.place == Place{}) &&
        (!said(Word::port) || said(Word::switch_name) == said(Word::hca))) {
      return refuse(first, "a port is of one switch or of one hca, and has a number", as_in);
    }
    return {};
  }

  const Token* token_;
  std::string_view name_;
  const Rule* rule_ = nullptr;
  Fault fault_;
  std::uint32_t said_ = 0;
};

}  // namespace

Result<std::vector<Fault>> parse(std::string_view text, std::string_view name) {
  const Result<std::vector<Token>> tokens = split(text, name);
  if (!tokens) return tokens.status();
  return Parser(tokens.value(), name).run();
}

}  // namespace holdfast::fault
