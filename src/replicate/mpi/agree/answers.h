#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "replicate/engine/decisions.h"

namespace holdfast::replicate {

/// What the system tells the program: the leader's answers, found by the followers where they ask the same
/// (engine/answer_book.h). Each thread that asks has a book of its own.

/// Replaces `value` by the leader's answer about that subject; false where the leader does not ask here, and the value
/// is this replica's own. Inside Holdfast, in the thread's turn.
bool agree_on_answer(std::uint32_t subject, std::string& value);

/// The calling thread comes to a point at which replicas agree anyway: it begins a call of MPI, or repeats a decision.
void pass_point();
/// The leader's thread is about to wait inside MPI, where it hears no question: tells the followers how far it has
/// come, so that none waits for it that others wait for in turn.
void say_point();
/// Sends what waits for company.
void flush_answers();

/// From the leader: a part of the book with that name.
void receive_answers(std::uint64_t book, std::span<const Decision> decisions);
/// From a follower that finds no answer: whether there will be one.
void receive_answer_question(int replica, const Record& record);
/// From the leader: its thread sleeps, and has not asked this.
void receive_no_answer(const Record& record);
/// On the leader: tells those who ask what a thread was told that it sleeps, and waits for another thread.
void answer_for_sleepers();
}  // namespace holdfast::replicate
