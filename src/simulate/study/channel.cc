#include "simulate/study/channel.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/event/json.h"

namespace holdfast::simulate::study {

Channel::Channel(Channel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), read_(std::move(other.read_)) {}

Channel& Channel::operator=(Channel&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(read_, other.read_);
  return *this;
}

Channel::~Channel() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status Channel::send(const Json& message) const {
  const std::string text = event::json_line(message);
  std::string frame(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) frame[i] = static_cast<char>((text.size() >> (8 * i)) & 0xFF);
  frame += text;
  for (std::size_t sent = 0; sent < frame.size();) {
    const ssize_t count = ::send(descriptor_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {Code::io, "talking to a worker of the study", std::strerror(errno), "is the other end up?"};
    sent += static_cast<std::size_t>(count);
  }
  return {};
}

bool Channel::fill() {
  std::array<char, 65536> buffer;
  const ssize_t count = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  read_.append(buffer.data(), static_cast<std::size_t>(count));
  return true;
}

std::optional<Json> Channel::next() {
  if (read_.size() < 4) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(read_[i])) << (8 * i);
  if (length > longest_bytes) return Json(Json::value_t::discarded);
  if (read_.size() < 4 + length) return std::nullopt;
  Json message = event::parse_json(std::string_view(read_).substr(4, length));
  read_.erase(0, 4 + length);
  return message;
}

Result<Json> Channel::receive() {
  while (true) {
    if (auto message = next()) {
      if (message->is_discarded())
        return Status{Code::io, "reading from the study's coordinator", "that is no message", "is it one of ours?"};
      return std::move(*message);
    }
    if (!fill())
      return Status{Code::io, "reading from the study's coordinator", "the connection is closed", "did it end?"};
  }
}

Json to_message(std::size_t run, const Result<Finished>& finished) {
  if (finished.ok())
    return {{"run", run},
            {"outcome", finished.value().outcome},
            {"result", finished.value().result},
            {"cpu_s", finished.value().cpu_s}};
  const Status status = finished.status();
  return {{"run", run},
          {"code", static_cast<unsigned>(status.code())},
          {"doing", status.doing()},
          {"wrong", status.wrong()},
          {"remedy", status.remedy()}};
}

std::optional<Answer> read_answer(const Json& message) {
  const auto text = [&](const char* name) -> std::optional<std::string> {
    const auto found = message.find(name);
    if (found == message.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
  };
  if (!message.is_object()) return std::nullopt;
  const auto run = message.find("run");
  if (run == message.end() || !run->is_number_unsigned()) return std::nullopt;
  Answer answer;
  answer.run = run->get<std::size_t>();
  if (const auto waited = message.find("waited_ns"); waited != message.end() && waited->is_number_integer())
    answer.waited_ns = std::max<std::int64_t>(0, waited->get<std::int64_t>());
  const auto outcome = text("outcome");
  const auto result = message.find("result");
  const auto cpu = message.find("cpu_s");
  if (outcome && result != message.end() && result->is_object() && cpu != message.end() && cpu->is_number()) {
    answer.finished = Finished{*outcome, *result, cpu->get<double>()};
    return answer;
  }
  const auto code = message.find("code");
  const auto doing = text("doing"), wrong = text("wrong"), remedy = text("remedy");
  if (code == message.end() || !code->is_number_unsigned() || !doing || !wrong || !remedy) return std::nullopt;
  const auto number = code->get<std::uint64_t>();
  if (number == 0 || number > static_cast<std::uint64_t>(Code::internal)) return std::nullopt;
  answer.finished = Status{static_cast<Code>(number), *doing, *wrong, *remedy};
  return answer;
}

}  // namespace holdfast::simulate::study
