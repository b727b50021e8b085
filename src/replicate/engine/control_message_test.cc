#include "replicate/engine/control_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <set>

#include "core/random/stream.h"
#include "replicate/engine/agreement.h"

namespace holdfast::replicate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr Process the_sender{1, 2};
constexpr Process the_receiver{1, 0};
constexpr Process stranger{0, 1};

struct alignas(64) Bytes {
  std::array<std::byte, sizeof(Record) + most_tail_bytes> all{};
  std::size_t length = 0;
  std::span<std::byte> span() { return {all.data(), length}; }
  void flip(std::size_t bit) { all[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8)); }
};

Bytes sealed(Record record, std::span<const std::byte> tail, std::uint32_t place) {
  ControlSeal::seal(record, tail, place);
  Bytes bytes;
  std::memcpy(bytes.all.data(), &record, sizeof record);
  if (!tail.empty()) std::memcpy(bytes.all.data() + sizeof record, tail.data(), tail.size());
  bytes.length = sizeof record + tail.size();
  return bytes;
}

Record digest_record() {
  Record record;
  record.kind = RecordKind::digest;
  record.set_id({{0x1122334455667788, 1, 7}, 40});
  record.bytes = 4000;
  record.digest = {0x0123456789abcdef, 0xfedcba9876543210};
  return record;
}

Bytes statement(std::uint32_t place) {
  StatementTail tail;
  const Statement said{Statement::Kind::acknowledge, {{3, 4}, 5, true}, {{6, 7}, 8, true}, true};
  const Record record = record_of({{9, 1, 2}, 3}, said, tail);
  return sealed(record, std::as_bytes(std::span(&tail, 1)), place);
}

class Reader : public testing::Test {
 protected:
  Flaw read(Bytes& bytes, Process from = the_sender) { return reader_.read(from, bytes.span(), message_); }
  Flaw read(const Record& record, std::span<const std::byte> tail = {}, Process from = the_sender) {
    sealed_ = sealed(record, tail, places_[from.rank * 3 + from.replica]++);
    return read(sealed_, from);
  }

  ReplicaMap map_ = ReplicaMap::uniform(2, 3).value();
  ControlReader reader_{map_, the_receiver, 100};
  Bytes sealed_;  ///< the last one that was sealed here: message_ points into it
  ControlMessage message_;
  std::array<std::uint32_t, 6> places_{};
};

TEST_F(Reader, TakesTheNumberOfASignalBehindABallot) {
  Record record = digest_record();
  record.kind = RecordKind::collective;
  record.set_id({{1, -1, -1}, 4});
  for (const int number : {1, 10, 64}) {
    const auto tail = static_cast<std::byte>(number);
    ASSERT_EQ(read(record, std::span(&tail, 1)), Flaw::none);
    EXPECT_EQ(message_.tail[0], tail);
  }
  for (const int number : {0, 65, 255}) {
    const auto tail = static_cast<std::byte>(number);
    EXPECT_EQ(read(record, std::span(&tail, 1)), Flaw::unsound);
  }
  const std::array<std::byte, 2> two{std::byte{10}, std::byte{10}};
  EXPECT_EQ(read(record, two), Flaw::unsound);
}

TEST_F(Reader, GivesWhatWasSealed) {
  ControlSeal seal;
  for (int n = 0; n < 3; ++n) {
    Record record = digest_record();
    seal.seal(record, {});
    Bytes bytes;
    bytes.length = sizeof record;
    std::memcpy(bytes.all.data(), &record, sizeof record);
    ASSERT_EQ(read(bytes), Flaw::none);
    EXPECT_EQ(message_.from, the_sender);
    EXPECT_EQ(message_.record.id(), digest_record().id());
    EXPECT_EQ(message_.record.digest, digest_record().digest);
    EXPECT_TRUE(message_.tail.empty());
  }
}

TEST_F(Reader, GivesTheStatementThatWasSealed) {
  Bytes bytes = statement(0);
  ASSERT_EQ(read(bytes), Flaw::none);
  const Statement said = statement_in(message_);
  EXPECT_EQ(said.kind, Statement::Kind::acknowledge);
  EXPECT_EQ(said.own, (Ballot{{3, 4}, 5, true}));
  EXPECT_EQ(said.below, (Ballot{{6, 7}, 8, true}));
  EXPECT_TRUE(said.own_may_be_cut);
}

TEST_F(Reader, TakesAnswerQuestionsAndWhatIsAnsweredInTheTeamAlone) {
  Record question;
  question.kind = RecordKind::ask_answer;
  question.flags = asked_unequally;
  EXPECT_EQ(read(question), Flaw::none);
  EXPECT_EQ(message_.record.flags, asked_unequally);
  question.flags = 2 * asked_unequally;
  EXPECT_EQ(read(question), Flaw::unsound);
  Record answer;
  answer.kind = RecordKind::no_answer;
  EXPECT_EQ(read(answer), Flaw::none);
  EXPECT_EQ(read(answer, {}, stranger), Flaw::unsound);
}

TEST_F(Reader, PutsEverySingleBitRight) {
  for (std::size_t bit = 0; bit < (sizeof(Record) + sizeof(StatementTail)) * 8; ++bit) {
    const auto place = static_cast<std::uint32_t>(bit);
    const Bytes whole = statement(place);
    Bytes struck = whole;
    struck.flip(bit);
    ASSERT_EQ(read(struck), Flaw::repaired) << bit;
    EXPECT_EQ(struck.all, whole.all) << bit;
    EXPECT_THAT(reader_.what_was_wrong(), HasSubstr("bit " + std::to_string(bit) + " "));
  }
}

TEST_F(Reader, FindsTwoToFourFlipsAndRepairsNone) {
  random::Stream draw(7);
  for (std::uint32_t n = 0; n < 3000; ++n) {
    ControlReader reader(map_, the_receiver, 100);
    Bytes struck = statement(0);
    const std::size_t bits = struck.length * 8;
    std::set<std::size_t> flipped;
    while (flipped.size() < 2 + n % 3) flipped.insert(draw.below(bits));
    for (const std::size_t bit : flipped) struck.flip(bit);
    ASSERT_EQ(reader.read(the_sender, struck.span(), message_), Flaw::damaged) << n;
    EXPECT_THAT(reader.what_was_wrong(), HasSubstr("more than one bit"));
  }
}

TEST_F(Reader, FindsWhatIsMissingAndWhatComesAgain) {
  Bytes first = sealed(digest_record(), {}, 0);
  Bytes second = sealed(digest_record(), {}, 1);
  EXPECT_EQ(read(second), Flaw::missing);
  EXPECT_THAT(reader_.what_was_wrong(), HasSubstr("came while 1 before it had not"));
  EXPECT_EQ(read(first), Flaw::none);
  EXPECT_EQ(read(first), Flaw::stale);
  EXPECT_EQ(read(second), Flaw::none);
  Bytes far = sealed(digest_record(), {}, 700);
  EXPECT_EQ(read(far), Flaw::missing);
}

TEST_F(Reader, CountsEachSenderByItself) {
  EXPECT_EQ(read(digest_record()), Flaw::none);
  EXPECT_EQ(read(digest_record(), {}, stranger), Flaw::none);
  EXPECT_EQ(read(digest_record()), Flaw::none);
}

TEST_F(Reader, RefusesOtherLengths) {
  Bytes bytes = sealed(digest_record(), {}, 0);
  for (const std::size_t length : {std::size_t{0}, std::size_t{3}, sizeof(Record) - 1}) {
    bytes.length = length;
    EXPECT_EQ(read(bytes), Flaw::damaged);
  }
  std::array<std::byte, sizeof(Record) + most_tail_bytes + 1> longer{};
  EXPECT_EQ(reader_.read(the_sender, longer, message_), Flaw::damaged);
}

TEST_F(Reader, RefusesSendersThatThereAreNot) {
  for (const Process nobody : {Process{-1, 0}, Process{2, 0}, Process{0, 3}, Process{0, -1}}) {
    Bytes bytes = sealed(digest_record(), {}, 0);
    EXPECT_EQ(read(bytes, nobody), Flaw::damaged);
  }
}

TEST_F(Reader, RefusesWhatNoneCanSay) {
  const auto wrong = [&](auto change, Process from = the_sender) {
    Record record = digest_record();
    change(record);
    EXPECT_EQ(read(record, {}, from), Flaw::unsound) << reader_.what_was_wrong();
  };
  wrong([](Record& r) { r.kind = RecordKind::none; });
  wrong([](Record& r) { r.kind = static_cast<RecordKind>(18); });
  wrong([](Record& r) { r.kind = static_cast<RecordKind>(255); });
  wrong([](Record& r) { r.flags = 2; });
  wrong([](Record& r) { r.source = -1; });
  wrong([](Record& r) { r.source = 2; });
  wrong([](Record& r) { r.kind = RecordKind::payload, r.extra = 32768; });
  wrong([](Record& r) { r.kind = RecordKind::payload, r.bytes = std::uint64_t{1} << 45; });
  wrong([](Record& r) { r.kind = RecordKind::correction, r.bytes = ~std::uint64_t{0}; });
  wrong([](Record& r) { r.kind = RecordKind::contested, r.extra = 32768; });
  wrong([](Record& r) { r.kind = RecordKind::parted, r.source = 3; });
  wrong([](Record& r) { r.kind = RecordKind::parted, r.source = -1; });
  wrong([](Record& r) { r.kind = RecordKind::collective, r.flags = 100; });
  wrong([](Record& r) { r.kind = RecordKind::state, r.flags = 100; });
  wrong([](Record& r) { r.kind = RecordKind::succession, r.flags = 4; });
  wrong([](Record& r) { r.kind = RecordKind::again, r.flags = 2; });
  wrong([](Record& r) { r.kind = RecordKind::again, r.flags = 1, r.extra = 4; });
  wrong([](Record& r) { r.kind = RecordKind::statement; });  // without what follows it
  wrong([](Record& r) { r.kind = RecordKind::decision; });
  // What replicas of one rank say to each other, from another rank and from itself.
  wrong([](Record& r) { r.kind = RecordKind::finished; }, stranger);
  wrong([](Record& r) { r.kind = RecordKind::collective; }, stranger);
  EXPECT_THAT(reader_.what_was_wrong(), StartsWith("a control message (collective) from rank 0 replica 1 to rank 1 "));
  wrong([](Record& r) { r.kind = RecordKind::finished; }, the_receiver);
}

TEST_F(Reader, HoldsDecisionsToTheirKinds) {
  Record record;
  record.kind = RecordKind::decision;
  std::array<Decision, 2> decisions{};
  decisions[1].kind = Decision::Kind::turn;
  EXPECT_EQ(read(record, std::as_bytes(std::span(decisions))), Flaw::unsound) << "no times zero";
  decisions[0].words[0] = 1;
  EXPECT_EQ(read(record, std::as_bytes(std::span(decisions))), Flaw::none);
  decisions[1].kind = static_cast<Decision::Kind>(8);
  EXPECT_EQ(read(record, std::as_bytes(std::span(decisions))), Flaw::unsound);
  EXPECT_EQ(read(record, std::as_bytes(std::span(decisions)).first(33)), Flaw::unsound);
  EXPECT_EQ(read(digest_record(), std::as_bytes(std::span(decisions))), Flaw::unsound);
}

TEST_F(Reader, RefusesAStatementOfNoKind) {
  StatementTail tail;
  Record record = record_of({{9, 1, 2}, 3}, {}, tail);
  record.flags = 4;
  EXPECT_EQ(read(record, std::as_bytes(std::span(&tail, 1))), Flaw::unsound);
  record.flags = 0x800;
  EXPECT_EQ(read(record, std::as_bytes(std::span(&tail, 1))), Flaw::unsound);
}

}  // namespace
}  // namespace holdfast::replicate
