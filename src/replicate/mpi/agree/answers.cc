#include "replicate/mpi/agree/answers.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "replicate/engine/answer_book.h"
#include "replicate/engine/clock_pace.h"
#include "replicate/engine/mix.h"
#include "replicate/mpi/agree/agreeing_thread.h"
#include "replicate/mpi/agree/catch_up.h"
#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/agree/watch.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/process/real_clock.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

/// What one thread asks; of several without a name, those whose last call was on one channel.
struct Book {
  AnswerWriter writer;
  AnswerBook answers;
  std::uint64_t point = 0;  ///< to which its thread has come
  bool asked = false;       ///< a follower waits to hear that it has gone on from there
  std::uint64_t asked_point = 0;
};
std::unordered_map<std::uint64_t, Book> books;
std::uint64_t books_with_answers = 0;  ///< that are not sent
std::uint64_t open_questions = 0;
ClockPace pace;

constexpr std::uint64_t first_book = 1;

std::uint64_t own_book() {
  return agreeing_thread() ? first_book : asking.order;
}

/// Whether the calling thread's book is its own. A thread without a name shares one with all whose last call was on the
/// same channel, in no order of theirs; so that book has no points, and its answers are told apart by the calls that
/// the asker had made.
bool has_points() {
  return agreeing_thread() || threads_in_order();
}

std::uint32_t subject_of_thread(std::uint32_t subject) {
  return has_points() ? subject : static_cast<std::uint32_t>(mix(asking.channels, subject));
}

Book& book_of(std::uint64_t name) {
  static Book& first = books[first_book];
  return name == first_book ? first : books[name];
}

void come_to_point(Book& book) {
  if (has_points()) book.point = asking.points;
}

void send(std::uint64_t name, Book& book) {
  if (book.writer.queued() == 0) return;
  --books_with_answers;
  runtime().engine->decisions().tell_answers(name, book.writer.take());
}

void write(std::uint64_t name, Book& book, std::uint32_t subject, const std::string& value) {
  if (book.writer.queued() == 0) ++books_with_answers;
  book.writer.answer(book.point, subject, value);
  if (many_threads() || !pace.may_wait(monotonic_now_ns()) || book.writer.queued() >= Decisions::per_message)
    send(name, book);
  let_followers_catch_up();
}

void say_passed(std::uint64_t name, Book& book) {
  if (book.asked) --open_questions;
  book.asked = false;
  const bool sent_all = book.writer.queued() == 0;
  book.writer.passed(std::max(book.point, book.answers.leader_at()));
  if (sent_all && book.writer.queued() > 0) ++books_with_answers;
  send(name, book);
}

/// Asks the leader whether it has gone on; again now and then, because the one that was asked may be gone.
class Question {
 public:
  void look(std::uint64_t book, std::uint64_t point) {
    constexpr std::int64_t first_after_ns = 200'000;
    constexpr std::int64_t again_after_ns = 100'000'000;
    if (++looks_ % 16 != 0) return;
    const std::int64_t now = monotonic_now_ns();
    if (next_ns_ == 0) next_ns_ = now + first_after_ns;
    if (now < next_ns_) return;
    next_ns_ = now + again_after_ns;
    Runtime& state = runtime();
    if (state.leader()) return;
    Record record;
    record.kind = RecordKind::ask_answer;
    record.communicator = book;
    record.ordinal = point;
    state.control.send(state.team_physical_rank(state.leading), record);
  }

 private:
  unsigned looks_ = 0;
  std::int64_t next_ns_ = 0;
};

bool succession_is_open() {
  return runtime().engine && runtime().engine->decisions().succession_is_open();
}

/// Not before it is known what all have heard of the leader before: what is told is numbered on from there.
bool decides_answers() {
  return runtime().leader() && !succession_is_open();
}

}  // namespace

bool agree_on_answer(std::uint32_t subject, std::string& value) {
  ++runtime().counters[Count::clock_reads];
  const std::uint64_t name = own_book();
  Book& book = book_of(name);
  come_to_point(book);
  subject = subject_of_thread(subject);
  AnswerBook::Reply reply = AnswerBook::Reply::waiting;
  Question question;
  bool decides = false;
  (void)answer_overdue();
  const auto told = [&] {
    const auto what = has_points() ? Awaited::What::answer : Awaited::What::decision;
    set_awaited({what, runtime().rank, runtime().leading});
    reply = book.answers.find(book.point, subject, value);
    decides = decides_answers();
    if (reply != AnswerBook::Reply::waiting || decides) return true;
    if (has_points()) question.look(name, book.point);
    return answer_overdue();
  };
  if (!told()) wait_until(told);
  if (reply == AnswerBook::Reply::ready) return true;
  if (decides && reply == AnswerBook::Reply::waiting) {  // else one that led before had gone on without asking
    write(name, book, subject, value);
    return true;
  }
  ++runtime().counters[Count::answers_apart];
  return false;
}

void pass_point() {
  ++asking.points;
  if (!runtime().verifying || !decides_answers() || !has_points()) return;
  const std::uint64_t name = own_book();
  Book& book = book_of(name);
  come_to_point(book);
  if (open_questions > 0 && book.asked && book.point > book.asked_point) say_passed(name, book);
}

void say_point() {
  if (!runtime().verifying || !runtime().options.clocks || !runtime().leader() || !has_points()) return;
  wait_until([] {
    set_awaited({Awaited::What::decision, runtime().rank, -1});
    return !succession_is_open();
  });
  if (!runtime().leader()) return;
  const std::uint64_t name = own_book();
  Book& book = book_of(name);
  come_to_point(book);
  say_passed(name, book);
}

void flush_answers() {
  if (pace.open()) pace.other_call(monotonic_now_ns());
  if (books_with_answers == 0) return;
  for (auto& [name, book] : books) send(name, book);
}

void receive_answers(std::uint64_t name, std::span<const Decision> decisions) {
  if (!book_of(name).answers.receive(decisions))
    fail(Incident::diverged, "rank " + std::to_string(runtime().rank) + " replica " +
                                 std::to_string(runtime().replica) +
                                 " was told answers of the system that have no meaning");
}

void receive_answer_question(const Record& record) {
  if (!decides_answers()) return;  // it asks again
  Book& book = book_of(record.communicator);
  if (book.point > record.ordinal) return say_passed(record.communicator, book);
  if (!book.asked) ++open_questions;
  book.asked = true;
  book.asked_point = std::max(book.asked_point, record.ordinal);
}
}  // namespace holdfast::replicate
