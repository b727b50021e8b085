#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::replicate {

/// This process's connection to `holdfast run` (launch/supervise/membership_server.h), whose end is how others hear of
/// its death, and what it is told through it: which replicas were taken out. A thread of its own reads it, which calls
/// neither MPI nor the program; when this process's own replica was taken out, the thread ends the process.

/// Connects and says who this is, once; nothing without a membership in the run directory. False when there is one that
/// cannot be reached. A child of the program does not attend.
bool begin_liveness();
bool liveness_is_watched();
/// The same for the program itself and nobody else: before its first instruction.
void begin_liveness_of_program();

/// Whether everybody is past MPI_Init, so that a death is survived; true as well when `holdfast run` is heard no more.
/// Any thread.
bool told_started();

void say_starting();
void say_ready();
void say_finishing();
void say_finished();
void say_exit(int status);
/// That replica of this process's rank has gone another way than this one.
void say_diverged(int replica);
/// The job must end: the incident file says why.
void say_failed();

/// How many replicas were taken out so far, and the n-th of them, in the order that all processes are told. Any thread.
std::size_t departures();
int departed(std::size_t n);

/// Tells `holdfast run` that this process waits, for long, for that replica of that rank (replica -1: any; rank -1: its
/// own world), and asks whether those for whom it waits compute.
void say_waits(int rank, int replica);
/// What was answered last since say_waits(): true where they do; nothing yet, or nobody answers: false. Any thread.
bool told_working();

enum class Ending : std::uint8_t { unknown, finalize, leave };
/// Whether everybody is finishing, and may then wait for all in MPI_Finalize. Any thread.
Ending told_ending();

}  // namespace holdfast::replicate
