#pragma once

#include <cstdint>

#include "core/status/status.h"
#include "simulate/study/messages.h"
#include "simulate/study/study.h"

namespace holdfast::simulate::study {

/// A process of the job with a rank above 0: keeps one worker, which runs what rank 0 asks for, until told to end. A
/// worker that dies is reported and replaced; the rank lives on. Call it before messages.begin(), while this process
/// has one thread. `silence_ns`: a rank 0 that has said nothing for so long is taken for dead.
///
/// The messages: to rank 0 {"hello": DIGEST}, an answer (channel.h), {"died": RUN}, {"beat": true}, {"bye": true}; from
/// it
/// {"run": INDEX}, {"beat": true}, {"end": true}, which is answered by a bye, and {"leave": true, "all_alive": BOOL}.
///
/// Errors: unavailable (no MPI, rank 0 is gone), internal (30 workers died).
Status serve_rank(const Study& study, Messages& messages, std::int64_t silence_ns);

}  // namespace holdfast::simulate::study
