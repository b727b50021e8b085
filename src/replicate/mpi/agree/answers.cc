#include "replicate/mpi/agree/answers.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

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
#include "replicate/process/asleep.h"
#include "replicate/process/real_clock.h"
#include "replicate/process/threads.h"

namespace holdfast::replicate {

namespace {

/// A follower waits to hear what the leader was told, or that it has gone on.
struct OpenQuestion {
  int replica = -1;
  std::uint64_t number = 0;
  bool unequal = false;  ///< about what threads have asked unequally often before
};

/// Since when a thread has slept, and what processor time it had used by then.
struct Sleep {
  std::int64_t since_ns = 0;
  std::int64_t used_ns = 0;
};

/// What one thread asks; of several without a name, those whose last call was on one channel.
struct Book {
  AnswerWriter writer;
  AnswerBook answers;
  std::uint64_t point = 0;  ///< to which its thread has come
  pid_t thread = 0;         ///< the one with points of its own
  std::vector<OpenQuestion> asked;
  std::uint64_t asked_point = 0;
  Sleep sleep;
  std::uint64_t questions = 0;                ///< of this replica's, as a follower
  std::uint64_t unanswered = 0;               ///< the last of them to which the leader has said that there is no answer
  std::unordered_set<std::uint32_t> unequal;  ///< subjects that threads have asked unequally often
};

/// The books, and what is counted over all of them.
struct AllBooks {
  std::unordered_map<std::uint64_t, Book> by_name;
  std::uint64_t unsent = 0;       ///< books with answers that are not sent
  std::uint64_t questions = 0;    ///< open ones
  std::int64_t next_look_ns = 0;  ///< at threads that sleep
};
AllBooks all_books;
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
  static Book& first = all_books.by_name[first_book];
  return name == first_book ? first : all_books.by_name[name];
}

pid_t calling_thread() {
  if (asking.thread == 0) asking.thread = static_cast<pid_t>(::syscall(SYS_gettid));
  return asking.thread;
}

void come_to_point(Book& book) {
  if (!has_points()) return;
  book.point = asking.points;
  book.thread = calling_thread();
}

void send(std::uint64_t name, Book& book) {
  if (book.writer.queued() == 0) return;
  --all_books.unsent;
  runtime().engine->decisions().tell_answers(name, book.writer.take());
}

void write(std::uint64_t name, Book& book, std::uint32_t subject, const std::string& value) {
  if (book.writer.queued() == 0) ++all_books.unsent;
  book.writer.answer(book.point, subject, value);
  if (many_threads() || !pace.may_wait(monotonic_now_ns()) || book.writer.queued() >= Decisions::per_message)
    send(name, book);
  let_followers_catch_up();
}

void say_passed(std::uint64_t name, Book& book) {
  all_books.questions -= book.asked.size();
  book.asked.clear();
  const bool sent_all = book.writer.queued() == 0;
  book.writer.passed(std::max(book.point, book.answers.leader_at()));
  if (sent_all && book.writer.queued() > 0) ++all_books.unsent;
  send(name, book);
}

/// Asks the leader whether it has gone on; again now and then, because the one that was asked may be gone.
class Question {
 public:
  explicit Question(std::uint64_t number, bool unequal) : number_(number), unequal_(unequal) {}

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
    record.extra = number_;
    if (unequal_) record.flags = asked_unequally;
    state.control.send(state.team_physical_rank(state.leading), record);
  }

 private:
  std::uint64_t number_;
  bool unequal_;
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
  Question question(++book.questions, book.unequal.contains(subject));
  bool decides = false;
  (void)answer_overdue();
  const auto told = [&] {
    const auto what = has_points() ? Awaited::What::answer : Awaited::What::decision;
    set_awaited({what, runtime().rank, runtime().leading});
    reply = book.answers.find(book.point, subject, value);
    decides = decides_answers();
    if (reply == AnswerBook::Reply::waiting && book.unanswered == book.questions) reply = AnswerBook::Reply::absent;
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
  book.unequal.insert(subject);
  return false;
}

void pass_point() {
  ++asking.points;
  if (!runtime().verifying || !decides_answers() || !has_points()) return;
  const std::uint64_t name = own_book();
  Book& book = book_of(name);
  come_to_point(book);
  if (all_books.questions > 0 && !book.asked.empty() && book.point > book.asked_point) say_passed(name, book);
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
  if (all_books.unsent == 0) return;
  for (auto& [name, book] : all_books.by_name) send(name, book);
}

void receive_answers(std::uint64_t name, std::span<const Decision> decisions) {
  if (!book_of(name).answers.receive(decisions))
    fail(Incident::diverged, "rank " + std::to_string(runtime().rank) + " replica " +
                                 std::to_string(runtime().replica) +
                                 " was told answers of the system that have no meaning");
}

void receive_answer_question(int replica, const Record& record) {
  if (!decides_answers()) return;  // it asks again
  Book& book = book_of(record.communicator);
  if (book.point > record.ordinal) return say_passed(record.communicator, book);
  book.asked_point = std::max(book.asked_point, record.ordinal);
  const OpenQuestion question{replica, record.extra, record.flags == asked_unequally};
  const auto same = std::find_if(book.asked.begin(), book.asked.end(),
                                 [replica](const OpenQuestion& each) { return each.replica == replica; });
  if (same != book.asked.end()) {
    *same = question;
    return;
  }
  book.asked.push_back(question);
  ++all_books.questions;
}

void receive_no_answer(const Record& record) {
  book_of(record.communicator).unanswered = record.extra;
}

namespace {

/// The thread whose book it is, of those with points of their own; 0 where that is not known.
pid_t thread_of(std::uint64_t name, const Book& book) {
  return book.thread == 0 && name == first_book ? runtime().agreeing_thread : book.thread;
}

/// How long the book's thread has slept while no other thread ran, but for the one that looks; -1 where it does not.
std::int64_t slept_ns(std::uint64_t name, Book& book, std::int64_t now) {
  const pid_t thread = thread_of(name, book);
  if (thread == 0 || thread == calling_thread() || !waits_for_thread(thread) || !others_sleep()) {
    book.sleep = {};
    return -1;
  }
  const std::int64_t used = processor_time_ns(thread);
  if (book.sleep.since_ns == 0 || used != book.sleep.used_ns) book.sleep = {now, used};
  return now - book.sleep.since_ns;
}

void send_no_answer(std::uint64_t name, const Book& book, const OpenQuestion& question) {
  Record record;
  record.kind = RecordKind::no_answer;
  record.communicator = name;
  record.ordinal = book.point;
  record.extra = question.number;
  runtime().control.send(runtime().team_physical_rank(question.replica), record);
}

}  // namespace

void answer_for_sleepers() {
  constexpr std::int64_t between_looks_ns = 1'000'000;
  constexpr std::int64_t long_ns = 500'000'000;
  if (all_books.questions == 0 || !many_threads()) return;
  const std::int64_t now = monotonic_now_ns();
  if (now < all_books.next_look_ns || !decides_answers()) return;
  all_books.next_look_ns = now + between_looks_ns;
  for (auto& [name, book] : all_books.by_name) {
    if (book.asked.empty()) continue;
    const std::int64_t slept = slept_ns(name, book, now);
    const auto answered =
        std::remove_if(book.asked.begin(), book.asked.end(), [&, &name = name, &book = book](const OpenQuestion& each) {
          if (slept < (each.unequal ? between_looks_ns : long_ns)) return false;
          send_no_answer(name, book, each);
          return true;
        });
    all_books.questions -= static_cast<std::uint64_t>(book.asked.end() - answered);
    book.asked.erase(answered, book.asked.end());
  }
}

}  // namespace holdfast::replicate
