#pragma once

#include <sys/types.h>

#include <string>

#include "simulate/study/channel.h"
#include "simulate/study/study.h"

namespace holdfast::simulate::study {

/// A process that runs what it is told, in that order: {"run": INDEX} brings an answer (read_answer()), the end of the
/// channel ends it.
struct Worker {
  Channel channel{-1};
  pid_t process = -1;
};

/// Forks one, so call it while this process has one thread. The worker keeps nothing but its end of the channel, leaves
/// the terminal's signals to this process, and dies with it. Error (io): no more processes or descriptors.
Result<Worker> start_worker(const Study& study);

/// Kills it and waits for its end. Nothing when there is none.
void end_worker(Worker& worker);

/// Two processes agree on a study when they agree on this: a digest of all keys.
std::string digest_of(const Study& study);

}  // namespace holdfast::simulate::study
