#include "replicate/mpi/agree/agreeing_thread.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"

namespace holdfast::replicate {

namespace {
[[gnu::tls_model("initial-exec")]] constinit thread_local bool agreeing = false;
}  // namespace

bool agreed_clocks() {
  return agreeing && depth == 0 && active() && runtime().verifying && runtime().options.clocks;
}

bool agreeing_thread() {
  return agreeing;
}

void agree_on_this_thread() {
  agreeing = true;
  runtime().agreeing_thread = static_cast<int>(::syscall(SYS_gettid));
}

}  // namespace holdfast::replicate
