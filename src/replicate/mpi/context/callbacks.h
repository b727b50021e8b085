#pragma once

#include <mpi.h>

#include "replicate/mpi/intercept/guard.h"

namespace holdfast::replicate {

/// MPI calls the application's functions (operations, error handlers, attribute and request callbacks) while this
/// library's depth guard is held. What they call in turn is the application's own: it is protected, and sees the
/// replica's world as MPI_COMM_WORLD. So MPI is given functions of ours, which call the application's in such a scope.
class ApplicationScope {
 public:
  ApplicationScope() : kept_(depth) { depth = 0; }
  ~ApplicationScope() { depth = kept_; }
  ApplicationScope(const ApplicationScope&) = delete;
  ApplicationScope& operator=(const ApplicationScope&) = delete;

 private:
  int kept_;
};

/// MPI_COMM_WORLD for this replica's own world: what the application knows it as. Anything else unchanged.
inline MPI_Comm as_application_knows(MPI_Comm comm) {
  return active() && comm == protection.world ? MPI_COMM_WORLD : comm;
}

/// Whether a generalised request of the application stands behind the handle.
bool is_own_request(MPI_Request request);

/// Whether the present registration of callbacks comes from the MPI library's Fortran part: what it passes takes its
/// arguments by reference.
bool from_fortran();

/// Functions that MPI calls in Fortran's way, every argument by reference.
using FortranCopy = void(void*, void*, void*, void*, void*, void*, void*);
using FortranDelete = void(void*, void*, void*, void*, void*);
using FortranHandler = void(void*, void*);
/// What stands for them with MPI; `on_communicator`: the first argument is a communicator. Null for null.
FortranCopy* in_application_scope(FortranCopy* function, bool on_communicator);
FortranDelete* in_application_scope(FortranDelete* function, bool on_communicator);
FortranHandler* in_application_scope(FortranHandler* function, bool on_communicator);

#ifdef MPICH
/// The application's function behind a caller of ours that MPI was given; any other function unchanged. For bindings
/// that call the application's functions in their own way (cplusplus.cc). Handlers of communicators and windows have
/// the same type.
MPI_User_function* application_function(MPI_User_function* function);
MPI_Comm_errhandler_function* application_function(MPI_Comm_errhandler_function* function);
MPI_File_errhandler_function* application_function(MPI_File_errhandler_function* function);
/// A keyval's function, with the state that it is called with; those of all objects have the same type.
template <class Function>
struct AttributeFunction {
  Function* function;
  void* extra_state;
};
AttributeFunction<MPI_Comm_copy_attr_function> application_function(MPI_Comm_copy_attr_function* function,
                                                                    void* extra_state);
AttributeFunction<MPI_Comm_delete_attr_function> application_function(MPI_Comm_delete_attr_function* function,
                                                                      void* extra_state);
#else
/// What Open MPI's C++ part has MPI call for each of its operations, with the application's function as another
/// argument than C has. In scope by itself.
extern "C" __attribute__((visibility("default"))) void ompi_mpi_cxx_op_intercept(void* in, void* inout, int* length,
                                                                                 MPI_Datatype* type,
                                                                                 MPI_User_function* function);
#endif

/// Deletes the attributes of a communicator that the application has freed and MPI still has, as MPI_Comm_free would:
/// MPI's code where a callback refuses. Those of keyvals that were freed, and under Open MPI Fortran's, stay until
/// MPI's own communicator goes.
int delete_attributes_of(MPI_Comm comm);

/// The attributes that the application has set on MPI_COMM_SELF and MPI_COMM_WORLD are deleted at MPI_Finalize, while
/// MPI still works (MPI 3.1, section 8.7.1), the last one first.
void delete_attributes_at_the_end();

}  // namespace holdfast::replicate
