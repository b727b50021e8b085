#include "core/fault/fault.h"

#include <cctype>

#include "core/fault/rules.h"
#include "core/time/duration.h"

namespace holdfast::fault {
namespace {

bool needs_quotes(std::string_view name) {
  if (name.empty()) return true;
  for (const char letter : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                       std::string_view("_-.:/[]").find(letter) != std::string_view::npos;
    if (!plain) return true;
  }
  return false;
}

std::string quoted(std::string_view name) {
  return '"' + std::string(name) + '"';
}
std::string as_name(std::string_view name) {
  return needs_quotes(name) ? quoted(name) : std::string(name);
}

std::string number_clause(std::string_view word, const std::optional<std::uint32_t>& number) {
  return number ? " " + std::string(word) + " " + std::to_string(*number) : "";
}

std::string name_clause(std::string_view word, std::string_view name) {
  return name.empty() ? "" : " " + std::string(word) + " " + as_name(name);
}

std::string link_clause(const Link& link) {
  return " link " + (link.b.empty() ? as_name(link.a) : quoted(link.a) + " " + quoted(link.b));
}

std::string place_clauses(const Place& place) {
  return number_clause("rank", place.rank) + number_clause("replica", place.replica) +
         number_clause("peer", place.peer) + number_clause("rail", place.rail) +
         (place.link ? link_clause(*place.link) : "") + name_clause("switch", place.switch_name) +
         name_clause("hca", place.hca) + number_clause("port", place.port);
}

// The denominator is 100 times a power of ten, so the percentage is a finite decimal.
std::string percent(const Ratio& part) {
  const std::uint64_t scale = part.denominator / 100;
  std::string text = std::to_string(part.numerator / scale);
  if (const std::uint64_t rest = part.numerator % scale; rest != 0) {
    text += "." + std::to_string(scale + rest).substr(1);  // the leading 1 keeps the zeros in front
  }
  return text + "%";
}

struct WhenText {
  std::string operator()(const AtOnce&) const { return ""; }
  std::string operator()(const Rate& rate) const {
    return " rate " + std::to_string(rate.chance.numerator) + "/" + std::to_string(rate.chance.denominator);
  }
  std::string operator()(const Mean& mean) const { return " mean " + time::format_duration(mean.interval_ns); }
  std::string operator()(const Message& message) const { return " message " + std::to_string(message.number); }
  std::string operator()(const Time& moment) const { return " time " + time::format_duration(moment.after_ns); }
  std::string operator()(const Share& share) const { return " share " + percent(share.part); }
};

}  // namespace

bool strikes_packets(Kind kind) {
  switch (kind) {
    case Kind::flip:
    case Kind::drop:
    case Kind::duplicate:
    case Kind::reorder:
    case Kind::delay:
    case Kind::corrupt_header:
    case Kind::kill_rail:
    case Kind::narrow_rail:
      return true;
    default:
      return false;
  }
}

std::string_view name(Kind kind) {
  return rule_of(kind).name;
}

std::string format(const Fault& fault) {
  std::string text(name(fault.kind));
  if (fault.kind == Kind::delay) text += " " + time::format_duration(fault.delay_ns);
  if (fault.kind == Kind::narrow_rail) text += " " + std::to_string(fault.longest_bytes);
  if (fault.kind == Kind::noisy_link)
    text += " " + std::to_string(fault.bit_errors.numerator) + "/" + std::to_string(fault.bit_errors.denominator);
  if (fault.kind == Kind::slow_link)
    text += " " + std::to_string(fault.rate_left.numerator) + "/" + std::to_string(fault.rate_left.denominator);
  text += place_clauses(fault.place) + std::visit(WhenText{}, fault.when);
  if (fault.lasts_ns > 0) text += " for " + time::format_duration(fault.lasts_ns);
  if (fault.bit) text += " bit " + std::to_string(*fault.bit);
  return text;
}

}  // namespace holdfast::fault
