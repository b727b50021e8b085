#include "simulate/study/provenance.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <span>

#include "core/event/json.h"
#include "core/input/text_file.h"
#include "core/integrity/xxh3.h"
#include "fabric/opensm/programs.h"

namespace holdfast::simulate::study {
namespace {

/// A database may name any file; none that describes a fabric is larger.
constexpr std::uintmax_t most_file_bytes = std::uintmax_t{1} << 30;

/// A member that is text; empty when there is none.
std::string member_text(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string input_of(const Json& parameters, const char* name) {
  const auto inputs = parameters.find("inputs");
  return inputs == parameters.end() ? "" : member_text(*inputs, name);
}

std::string another_program(const std::string& was, const std::string& is) {
  return was.empty() ? "computed before versions were kept" : "computed by " + was + ", which is " + is + " now";
}

std::string another_file(const std::string& was, const std::string& path) {
  return was.empty() ? "the contents of " + path + " were not kept" : path + " has other contents now";
}

}  // namespace

std::string computed_by(std::string_view kind) {
  return fmt::format("{} {}", kind,
                     kind == "collectives"  ? collectives_computation
                     : kind == "prediction" ? prediction_computation
                                            : throughput_computation);
}

std::string digest_text(std::string_view bytes) {
  const integrity::Digest digest = integrity::xxh3_128(std::as_bytes(std::span(bytes)));
  return fmt::format("xxh3-128:{:016x}{:016x}", digest.high, digest.low);
}

const std::string& opensm_digest() {
  static const std::string digest = [] {
    const auto program = input::read_file(fabric::opensm::find_program("opensm"));
    return program.ok() ? digest_text(program.value()) : std::string("absent");
  }();
  return digest;
}

std::string identity(const Json& parameters) {
  Json bare = parameters;
  bare.erase("inputs");
  bare.erase("computed_by");
  return event::json_line(bare);
}

std::string Staleness::digest_of_file(const std::string& path) {
  const auto [place, is_new] = digests_.try_emplace(path);
  std::error_code none;
  if (!is_new || !std::filesystem::is_regular_file(path, none)) return place->second;
  if (std::filesystem::file_size(path, none) > most_file_bytes) return place->second;
  if (const auto text = input::read_file(path); text.ok()) place->second = digest_text(text.value());
  return place->second;
}

std::string Staleness::of(const Json& parameters) {
  if (const std::string was = member_text(parameters, "computed_by"); was != today_)
    return another_program(was, today_);
  const std::string was = input_of(parameters, "fabric");
  if (was.empty()) return "";
  const std::string path = member_text(parameters, "fabric"), is = digest_of_file(path);
  return is.empty() || is == was ? "" : another_file(was, path);
}

std::string difference(const Json& run, const Json& point) {
  const std::string was = member_text(run, "computed_by"), is = member_text(point, "computed_by");
  if (was != is) return another_program(was, is);
  if (const std::string digest = input_of(run, "fabric"); digest != input_of(point, "fabric"))
    return another_file(digest, member_text(point, "fabric"));
  return input_of(run, "opensm") != input_of(point, "opensm") ? "routed by another OpenSM" : "";
}

}  // namespace holdfast::simulate::study
