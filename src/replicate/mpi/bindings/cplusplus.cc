// The C++ bindings of MPI 2, which MPI 3.0 removed and both libraries still have. They register the program's
// functions, which take objects, together with functions of their own by which MPI is to call them. The latter are
// stood in front of here: what they call is the application's (callbacks.h), and knows the replica's own world as
// MPI_COMM_WORLD.
#include <dlfcn.h>
#include <mpi.h>

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "real_functions.h"
#include "replicate/mpi/context/callbacks.h"

namespace holdfast::replicate {
namespace {

/// The function of that name of the MPI library, or of its C++ part.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

#ifdef MPICH

// MPICH has one function for all handlers and one for all operations; each keyval has its own two. In front of the
// application's functions MPI has callers of ours, which take C's arguments: the C++ part must be given the former.
using CallHandler = void(int kind, void* handle, int* code, MPI_Comm_errhandler_function* function);
using CallOperation = void(const void* in, void* inout, int length, MPI_Datatype type, MPI_User_function* function);
using CopyProxy = int(MPI_Comm_copy_attr_function* function, int handle, int keyval, void* extra_state, int kind,
                      void* value, void** copy, int* flag);
using DeleteProxy = int(MPI_Comm_delete_attr_function* function, int handle, int keyval, int kind, void* value,
                        void* extra_state);

enum HandlerKind { on_communicator, on_file, on_window };

std::atomic<CallHandler*> library_handlers;
std::atomic<CallOperation*> library_operations;

struct Proxies {
  CopyProxy* copy;
  DeleteProxy* del;
};
std::mutex proxies_lock;  // keyvals are made before and after a wrapper's turn
std::unordered_map<int, Proxies>& all_proxies() {
  static auto* all = new std::unordered_map<int, Proxies>();
  return *all;
}

Proxies proxies_of(int keyval) {
  const std::lock_guard lock(proxies_lock);
  return all_proxies().at(keyval);
}

void call_handler(int kind, void* handle, int* code, MPI_Comm_errhandler_function* function) {
  CallHandler* library = library_handlers;
  const ApplicationScope scope;
  if (kind == on_file) {
    auto* handler = application_function(reinterpret_cast<MPI_File_errhandler_function*>(function));
    return library(kind, handle, code, reinterpret_cast<MPI_Comm_errhandler_function*>(handler));
  }
  function = application_function(function);
  if (kind != on_communicator) return library(kind, handle, code, function);
  MPI_Comm known = as_application_knows(*static_cast<MPI_Comm*>(handle));
  library(kind, &known, code, function);
}

void call_operation(const void* in, void* inout, int length, MPI_Datatype type, MPI_User_function* function) {
  CallOperation* library = library_operations;
  const ApplicationScope scope;
  library(in, inout, length, type, application_function(function));
}

int copy_attribute(MPI_Comm_copy_attr_function* function, int handle, int keyval, void* extra_state, int kind,
                   void* value, void** copy, int* flag) {
  const auto own = application_function(function, extra_state);
  const ApplicationScope scope;
  return proxies_of(keyval).copy(own.function, as_application_knows(handle), keyval, own.extra_state, kind, value, copy,
                                 flag);
}

int delete_attribute(MPI_Comm_delete_attr_function* function, int handle, int keyval, int kind, void* value,
                     void* extra_state) {
  const auto own = application_function(function, extra_state);
  const ApplicationScope scope;
  return proxies_of(keyval).del(own.function, as_application_knows(handle), keyval, kind, value, own.extra_state);
}

#endif

}  // namespace

#ifdef OPEN_MPI
void ompi_mpi_cxx_op_intercept(void* in, void* inout, int* length, MPI_Datatype* type, MPI_User_function* function) {
  const ApplicationScope scope;
  next<decltype(ompi_mpi_cxx_op_intercept)>("ompi_mpi_cxx_op_intercept")(in, inout, length, type, function);
}
#endif

}  // namespace holdfast::replicate

using namespace holdfast::replicate;

#define EXPORTED extern "C" __attribute__((visibility("default")))

#ifdef MPICH

EXPORTED void MPII_Errhandler_set_cxx(MPI_Errhandler handler, CallHandler* function);
void MPII_Errhandler_set_cxx(MPI_Errhandler handler, CallHandler* function) {
  library_handlers = function;
  next<void(MPI_Errhandler, CallHandler*)>("MPII_Errhandler_set_cxx")(handler, call_handler);
}

EXPORTED void MPII_Op_set_cxx(MPI_Op operation, CallOperation* function);
void MPII_Op_set_cxx(MPI_Op operation, CallOperation* function) {
  library_operations = function;
  next<void(MPI_Op, CallOperation*)>("MPII_Op_set_cxx")(operation, call_operation);
}

EXPORTED void MPII_Keyval_set_proxy(int keyval, CopyProxy* copy, DeleteProxy* del);
void MPII_Keyval_set_proxy(int keyval, CopyProxy* copy, DeleteProxy* del) {
  {
    const std::lock_guard lock(proxies_lock);
    all_proxies()[keyval] = {copy, del};
  }
  next<void(int, CopyProxy*, DeleteProxy*)>("MPII_Keyval_set_proxy")(keyval, copy_attribute, delete_attribute);
}

#else

// Open MPI is given these with each object, so that a function of the same name in front of it is called instead.
#define HANDLER(name, Handle, known)                                                     \
  EXPORTED void name(Handle* handle, int* code, const char* message, void* function);    \
  void name(Handle* handle, int* code, const char* message, void* function) {            \
    Handle own = known(*handle);                                                         \
    const ApplicationScope scope;                                                        \
    next<void(Handle*, int*, const char*, void*)>(#name)(&own, code, message, function); \
  }
#define COPY(name, Handle)                                                                             \
  EXPORTED int name(Handle handle, int keyval, void* extra_state, void* value, void* copy, int* flag); \
  int name(Handle handle, int keyval, void* extra_state, void* value, void* copy, int* flag) {         \
    const ApplicationScope scope;                                                                      \
    return next<decltype(name)>(#name)(handle, keyval, extra_state, value, copy, flag);                \
  }
#define DELETE(name, Handle, known)                                                \
  EXPORTED int name(Handle handle, int keyval, void* value, void* extra_state);    \
  int name(Handle handle, int keyval, void* value, void* extra_state) {            \
    const ApplicationScope scope;                                                  \
    return next<decltype(name)>(#name)(known(handle), keyval, value, extra_state); \
  }

HANDLER(ompi_mpi_cxx_comm_errhandler_invoke, MPI_Comm, as_application_knows)
HANDLER(ompi_mpi_cxx_win_errhandler_invoke, MPI_Win, )
HANDLER(ompi_mpi_cxx_file_errhandler_invoke, MPI_File, )
COPY(ompi_mpi_cxx_type_copy_attr_intercept, MPI_Datatype)
COPY(ompi_mpi_cxx_win_copy_attr_intercept, MPI_Win)
DELETE(ompi_mpi_cxx_comm_delete_attr_intercept, MPI_Comm, as_application_knows)
DELETE(ompi_mpi_cxx_type_delete_attr_intercept, MPI_Datatype, )
DELETE(ompi_mpi_cxx_win_delete_attr_intercept, MPI_Win, )

EXPORTED int ompi_mpi_cxx_comm_copy_attr_intercept(MPI_Comm comm, int keyval, void* extra_state, void* value,
                                                   void* copy, int* flag, MPI_Comm target);
int ompi_mpi_cxx_comm_copy_attr_intercept(MPI_Comm comm, int keyval, void* extra_state, void* value, void* copy,
                                          int* flag, MPI_Comm target) {
  const ApplicationScope scope;
  return next<decltype(ompi_mpi_cxx_comm_copy_attr_intercept)>("ompi_mpi_cxx_comm_copy_attr_intercept")(
      as_application_knows(comm), keyval, extra_state, value, copy, flag, target);
}

#endif
