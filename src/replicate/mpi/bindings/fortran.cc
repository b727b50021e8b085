// Fortran procedures of MPI that do their work without a C function that could be stood in front of: those that
// register callbacks (in Open MPI), and those that set and get attributes (in both). All others come by way of MPI's C
// functions, and are protected there. Exported under every name by which a program, or the library's other bindings,
// call them.
#include <dlfcn.h>
#include <mpi.h>

#include "real_functions.h"
#include "replicate/mpi/context/callbacks.h"
#include "replicate/mpi/context/implementation.h"
#include "replicate/mpi/intercept/attributes.h"
#include "replicate/mpi/intercept/guard.h"

#ifndef HOLDFAST_STANDARD_ABI  // which has nothing for Fortran

namespace holdfast::replicate {
namespace {

/// The library's own procedure of that name.
template <class Procedure>
Procedure* next(const char* name) {
  return reinterpret_cast<Procedure*>(dlsym(RTLD_NEXT, name));
}

MPI_Fint handle(MPI_Comm comm) {
#ifdef OPEN_MPI
  return real().Comm_c2f(comm);
#else
  return comm;
#endif
}

/// What Fortran's MPI_COMM_WORLD stands for; anything else unchanged.
MPI_Fint world_of(const MPI_Fint* comm) {
  return *comm == handle(MPI_COMM_WORLD) ? handle(protection.world) : *comm;
}

using Keyval = void(FortranCopy*, FortranDelete*, MPI_Fint*, void*, MPI_Fint*);
using Handler = void(FortranHandler*, MPI_Fint*, MPI_Fint*);
using Attribute = void(MPI_Fint*, MPI_Fint*, void*, MPI_Fint*);
using Question = void(MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*);

void create_keyval(const char* name, bool on_communicator, FortranCopy* copy, FortranDelete* del, MPI_Fint* keyval,
                   void* extra_state, MPI_Fint* error) {
#ifdef OPEN_MPI
  if (!passing_through()) {
    copy = in_application_scope(copy, on_communicator);
    del = in_application_scope(del, on_communicator);
  }
#else
  static_cast<void>(on_communicator);  // its C function has a hook
#endif
  next<Keyval>(name)(copy, del, keyval, extra_state, error);
}

void create_handler(const char* name, bool on_communicator, FortranHandler* function, MPI_Fint* handler,
                    MPI_Fint* error) {
#ifdef OPEN_MPI
  if (!passing_through()) function = in_application_scope(function, on_communicator);
#else
  static_cast<void>(on_communicator);
#endif
  next<Handler>(name)(function, handler, error);
}

void set_attribute(const char* name, MPI_Fint* comm, MPI_Fint* keyval, void* value, MPI_Fint* error) {
  MPI_Fint own = passing_through() ? *comm : world_of(comm);
  const Depth guard;
  next<Attribute>(name)(&own, keyval, value, error);
}

void get_attribute(const char* name, MPI_Fint* comm, MPI_Fint* keyval, void* value, MPI_Fint* flag, MPI_Fint* error) {
  MPI_Fint own = passing_through() || attached_by_mpi(*keyval) ? *comm : world_of(comm);
  const Depth guard;
  next<Question>(name)(&own, keyval, value, flag, error);
}

}  // namespace
}  // namespace holdfast::replicate

using namespace holdfast::replicate;

#pragma GCC diagnostic ignored "-Wpedantic"  // ## before an absent variable argument

#define EXPORTED extern "C" __attribute__((visibility("default")))

#define KEYVAL(name, on_communicator)                                                                              \
  EXPORTED void name(FortranCopy* copy, FortranDelete* del, MPI_Fint* keyval, void* extra_state, MPI_Fint* error); \
  void name(FortranCopy* copy, FortranDelete* del, MPI_Fint* keyval, void* extra_state, MPI_Fint* error) {         \
    create_keyval(#name, on_communicator, copy, del, keyval, extra_state, error);                                  \
  }
#define HANDLER(name, on_communicator)                                              \
  EXPORTED void name(FortranHandler* function, MPI_Fint* handler, MPI_Fint* error); \
  void name(FortranHandler* function, MPI_Fint* handler, MPI_Fint* error) {         \
    create_handler(#name, on_communicator, function, handler, error);               \
  }
#define SET(name)                                                                     \
  EXPORTED void name(MPI_Fint* comm, MPI_Fint* keyval, void* value, MPI_Fint* error); \
  void name(MPI_Fint* comm, MPI_Fint* keyval, void* value, MPI_Fint* error) {         \
    set_attribute(#name, comm, keyval, value, error);                                 \
  }
#define GET(name)                                                                                     \
  EXPORTED void name(MPI_Fint* comm, MPI_Fint* keyval, void* value, MPI_Fint* flag, MPI_Fint* error); \
  void name(MPI_Fint* comm, MPI_Fint* keyval, void* value, MPI_Fint* flag, MPI_Fint* error) {         \
    get_attribute(#name, comm, keyval, value, flag, error);                                           \
  }

#ifdef OPEN_MPI
#define NAMES(define, stem, ...) \
  define(mpi_##stem##_, ##__VA_ARGS__) define(pmpi_##stem##_, ##__VA_ARGS__) define(ompi_##stem##_f, ##__VA_ARGS__)
#else
#define NAMES(define, stem, ...)                                                                                      \
  define(mpi_##stem##_, ##__VA_ARGS__) define(pmpi_##stem##_, ##__VA_ARGS__) define(mpi_##stem##_f08_, ##__VA_ARGS__) \
      define(pmpir_##stem##_f08_, ##__VA_ARGS__)
#endif

NAMES(KEYVAL, comm_create_keyval, true)
NAMES(KEYVAL, type_create_keyval, false)
NAMES(KEYVAL, win_create_keyval, false)
NAMES(KEYVAL, keyval_create, true)
NAMES(HANDLER, comm_create_errhandler, true)
NAMES(HANDLER, win_create_errhandler, false)
NAMES(HANDLER, file_create_errhandler, false)
NAMES(HANDLER, errhandler_create, true)
NAMES(SET, comm_set_attr)
NAMES(SET, attr_put)
NAMES(GET, comm_get_attr)
NAMES(GET, attr_get)

#endif
