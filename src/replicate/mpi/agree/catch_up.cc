#include "replicate/mpi/agree/catch_up.h"

#include "replicate/mpi/agree/control_channel.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/context/runtime.h"

namespace holdfast::replicate {

namespace {

/// A program that waits by reading a clock reads it far faster than followers that share the cores repeat it, and each
/// message that MPI has not sent yet holds a request, of which MPICH has a limited number.
constexpr std::size_t most_unsent = 4096;

}  // namespace

void let_followers_catch_up() {
  MpiControlChannel& control = runtime().control;
  if (control.unsent() < most_unsent) return;
  wait_until([&] {
    set_awaited({Awaited::What::team, runtime().rank, -1});
    return control.unsent() < most_unsent / 2;
  });
}

}  // namespace holdfast::replicate
