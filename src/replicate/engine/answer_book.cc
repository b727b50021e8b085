#include "replicate/engine/answer_book.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace holdfast::replicate {

namespace {

constexpr std::size_t in_first = 16;  // words[0] is the length
constexpr std::size_t in_more = 24;

Decision piece(Decision::Kind kind, std::uint32_t subject, std::string_view bytes, std::size_t from_word) {
  Decision decision{kind, subject, {}};
  if (!bytes.empty()) std::memcpy(decision.words.data() + from_word, bytes.data(), bytes.size());
  return decision;
}

}  // namespace

void AnswerWriter::passed(std::uint64_t point) {
  if (point == point_) return;
  point_ = point;
  queued_.push_back({Decision::Kind::point, 0, {point, 0, 0}});
}

void AnswerWriter::answer(std::uint64_t point, std::uint32_t subject, std::string_view value) {
  passed(point);
  value = value.substr(0, AnswerBook::longest_answer);
  queued_.push_back(piece(Decision::Kind::answer, subject, value.substr(0, in_first), 1));
  queued_.back().words[0] = value.size();
  for (std::size_t at = in_first; at < value.size(); at += in_more)
    queued_.push_back(piece(Decision::Kind::more, subject, value.substr(at, in_more), 0));
}

std::vector<Decision> AnswerWriter::take() {
  return std::exchange(queued_, {});
}

bool AnswerBook::receive(std::span<const Decision> decisions) {
  for (const Decision& decision : decisions) {
    if ((decision.kind == Decision::Kind::more) == complete()) return false;
    if (decision.kind == Decision::Kind::point) {
      answered_at_ = decision.words[0];
      leader_at_ = std::max(leader_at_, answered_at_);
      continue;
    }
    const auto* bytes = reinterpret_cast<const char*>(decision.words.data());
    std::size_t room = in_more;
    if (decision.kind == Decision::Kind::answer) {
      if (decision.words[0] > longest_answer) return false;
      missing_ = static_cast<std::size_t>(decision.words[0]);
      bytes += sizeof(decision.words[0]);
      room = in_first;
      answers_.push_back({answered_at_, decision.detail, {}});
    } else if (decision.kind != Decision::Kind::more) {
      return false;
    }
    const std::size_t here = std::min(missing_, room);
    answers_.back().value.append(bytes, here);
    missing_ -= here;
  }
  return true;
}

AnswerBook::Reply AnswerBook::find(std::uint64_t point, std::uint32_t subject, std::string& value) {
  while (!answers_.empty() && answers_.front().point < point && (answers_.size() > 1 || complete()))
    answers_.pop_front();
  for (auto answer = answers_.begin(); answer != answers_.end() && answer->point == point; ++answer) {
    if (answer->subject != subject) continue;
    if (!complete() && answer + 1 == answers_.end()) return Reply::waiting;
    value = std::move(answer->value);
    answers_.erase(answer);
    return Reply::ready;
  }
  return leader_at_ > point ? Reply::absent : Reply::waiting;
}

}  // namespace holdfast::replicate
