// Setting the world's error handler. Errors of calls that have no communicator are raised on the real MPI_COMM_WORLD,
// so that the handler goes there as well as to the replica's own world.
//
// Where the application leaves MPI_ERRORS_ARE_FATAL in place, errors go through a handler of ours: an error that one
// replica alone runs into, such as a truncated message after a flipped count, is a divergence and not the
// application's.
//
// MPICH raises the errors of a communicator that never had a handler on MPI_COMM_WORLD, so that it follows what is set
// there later; the standard (MPI 3.1, 8.3) has it inherit the handler that its parent had. Ours, which is set at the
// start, would stay there: so the world's is set on each of those, too.
#include "replicate/mpi/context/error_handlers.h"

#include <string>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/crash.h"
#include "replicate/mpi/context/implementation.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"

namespace holdfast::replicate {

namespace {

MPI_Errhandler fatal = MPI_ERRHANDLER_NULL;

/// Where status_of() wants what MPI says meanwhile: MPICH 5.0 returns success where a handler was called.
thread_local int* asked_error = nullptr;

void on_fatal_error(MPI_Comm*, int* code, ...) {
  if (asked_error) {
    *asked_error = *code;
    return;
  }
  ++depth;  // nothing comes back
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  real().Error_string(*code, text, &length);
  note_fatal_error(text);
  real().Abort(MPI_COMM_WORLD, *code);
}

}  // namespace

void watch_for_fatal_errors() {
  real().Comm_create_errhandler(on_fatal_error, &fatal);
  real().Comm_set_errhandler(runtime().world, fatal);
  real().Comm_set_errhandler(MPI_COMM_SELF, fatal);
}

int status_of(MPI_Request request, int* done, MPI_Status* status) {
  int error = MPI_SUCCESS;
  asked_error = &error;
  const int code = real().Request_get_status(request, done, status);
  asked_error = nullptr;
  return code != MPI_SUCCESS ? code : error;
}

void forget_fatal_errors() {
  if (fatal != MPI_ERRHANDLER_NULL) real().Errhandler_free(&fatal);
}

namespace {

using SetHandler = int (*)(MPI_Comm, MPI_Errhandler);

int set_handler(SetHandler set, MPI_Comm comm, MPI_Errhandler handler) {
  const int error = set(comm, handler);
  if (error != MPI_SUCCESS) return error;
  if (known(comm)) runtime().comms.find(comm).default_errors = false;
  if (comm != protection.world) return error;
  if (!is_open_mpi()) {
    runtime().comms.each([&](const Comm& other) {
      if (other.default_errors) set(other.handle, handler);
    });
  }
  return set(MPI_COMM_WORLD, handler);
}

}  // namespace

int hook::Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  return set_handler(real().Comm_set_errhandler, comm, errhandler);
}

int hook::Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  const int error = real().Comm_get_errhandler(comm, errhandler);
  if (error == MPI_SUCCESS && *errhandler == fatal && fatal != MPI_ERRHANDLER_NULL) {
    MPI_Errhandler reference = *errhandler;  // frees what the call has just counted
    real().Errhandler_free(&reference);
    *errhandler = MPI_ERRORS_ARE_FATAL;
  }
  return error;
}

#ifdef HOLDFAST_HAS_Errhandler_get  // MPI 1
int hook::Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return Comm_get_errhandler(comm, errhandler);
}

int hook::Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  return set_handler(real().Errhandler_set, comm, errhandler);
}
#endif

}  // namespace holdfast::replicate
