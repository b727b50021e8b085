/* Counts the objects of MPI that are made and freed, by the program and by the library that stands before this one:
   loaded behind it, in front of MPI, whose functions the library calls by their names of the profiling interface. Where
   an object is left at MPI_Finalize the process says so and ends with 70. Predefined handles, which need not be freed,
   do not count, nor what MPI's libraries make for themselves. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5) /* which has these, and calls itself 3.1 */
#define HAS_SESSIONS
#endif

enum kind { comms, groups, types, windows, files, operations, handlers, infos, kinds };
static const char* const names[kinds] = {"communicators", "groups",     "datatypes",      "windows",
                                         "files",         "operations", "error handlers", "infos"};
static _Atomic long live[kinds];

static int is_own_type(MPI_Datatype type) {
  int combiner = MPI_COMBINER_NAMED;
#ifdef MPICH /* which does not answer for types of large counts otherwise */
  MPI_Count integers, addresses, counts, types_in;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types_in, &combiner);
#else
  int integers, addresses, types_in;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_get_envelope(type, &integers, &addresses, &types_in, &combiner);
#endif
  return combiner != MPI_COMBINER_NAMED;
}
static int is_own_group(MPI_Group group) {
  return group != MPI_GROUP_NULL && group != MPI_GROUP_EMPTY;
}
static int is_own_handler(MPI_Errhandler handler) {
  return handler != MPI_ERRHANDLER_NULL && handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN;
}

static int from_mpi(void* caller) {
  Dl_info about;
  if (!dladdr(caller, &about) || about.dli_fname == NULL) return 0;
  const char* slash = strrchr(about.dli_fname, '/');
  const char* name = slash == NULL ? about.dli_fname : slash + 1;
  return strncmp(name, "libmpi", 6) == 0 || strncmp(name, "libopen", 7) == 0 || strncmp(name, "mca_", 4) == 0;
}
#define COUNTS (!from_mpi(__builtin_return_address(0)))

/* MPI's own function of the name. */
#define NEXT(function) ((__typeof__(&PMPI_##function))dlsym(RTLD_NEXT, "PMPI_" #function))
#define MADE(kind, is_own, function, parameters, arguments)  \
  int PMPI_##function parameters {                           \
    const int code = NEXT(function) arguments;               \
    live[kind] += code == MPI_SUCCESS && (is_own) && COUNTS; \
    return code;                                             \
  }
#define FREED(kind, is_own, function, type)             \
  int PMPI_##function(type* handle) {                   \
    const int own = (is_own);                           \
    const int code = NEXT(function)(handle);            \
    live[kind] -= code == MPI_SUCCESS && own && COUNTS; \
    return code;                                        \
  }

#define COMM(function, parameters, arguments) MADE(comms, *made != MPI_COMM_NULL, function, parameters, arguments)
COMM(Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))
COMM(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made), (comm, info, made))
COMM(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made))
COMM(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made), (comm, type, key, info, made))
COMM(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), (comm, group, made))
COMM(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made), (comm, group, tag, made))
COMM(Cart_create, (MPI_Comm comm, int n, const int dims[], const int periods[], int reorder, MPI_Comm* made),
     (comm, n, dims, periods, reorder, made))
COMM(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm* made), (comm, remain, made))
COMM(Graph_create, (MPI_Comm comm, int n, const int index[], const int edges[], int reorder, MPI_Comm* made),
     (comm, n, index, edges, reorder, made))
COMM(Dist_graph_create,
     (MPI_Comm comm, int n, const int from[], const int degrees[], const int to[], const int weights[], MPI_Info info,
      int reorder, MPI_Comm* made),
     (comm, n, from, degrees, to, weights, info, reorder, made))
COMM(Dist_graph_create_adjacent,
     (MPI_Comm comm, int in, const int from[], const int in_weights[], int out, const int to[], const int out_weights[],
      MPI_Info info, int reorder, MPI_Comm* made),
     (comm, in, from, in_weights, out, to, out_weights, info, reorder, made))
COMM(Intercomm_create, (MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm* made),
     (local, leader, peer, remote, tag, made))
COMM(Intercomm_merge, (MPI_Comm inter, int high, MPI_Comm* made), (inter, high, made))
/* The handle is there when the request is complete; a call that succeeds makes one. */
MADE(comms, 1, Comm_idup, (MPI_Comm comm, MPI_Comm* made, MPI_Request* request), (comm, made, request))
#ifdef MPICH
MADE(comms, 1, Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request),
     (comm, info, made, request))
#endif
FREED(comms, 1, Comm_free, MPI_Comm)
FREED(comms, 1, Comm_disconnect, MPI_Comm)

#define GROUP(function, parameters, arguments) MADE(groups, is_own_group(*made), function, parameters, arguments)
GROUP(Comm_group, (MPI_Comm comm, MPI_Group* made), (comm, made))
GROUP(Comm_remote_group, (MPI_Comm comm, MPI_Group* made), (comm, made))
GROUP(Win_get_group, (MPI_Win window, MPI_Group* made), (window, made))
GROUP(File_get_group, (MPI_File file, MPI_Group* made), (file, made))
GROUP(Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group* made), (group, n, ranks, made))
GROUP(Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group* made), (group, n, ranks, made))
GROUP(Group_union, (MPI_Group one, MPI_Group other, MPI_Group* made), (one, other, made))
#ifdef HAS_SESSIONS
GROUP(Group_from_session_pset, (MPI_Session session, const char* name, MPI_Group* made), (session, name, made))
#endif
FREED(groups, is_own_group(*handle), Group_free, MPI_Group)

#define TYPE(function, parameters, arguments) MADE(types, is_own_type(*made), function, parameters, arguments)
TYPE(Type_dup, (MPI_Datatype type, MPI_Datatype* made), (type, made))
#ifdef MPICH
TYPE(Type_contiguous_c, (MPI_Count n, MPI_Datatype type, MPI_Datatype* made), (n, type, made))
#endif
TYPE(Type_contiguous, (int n, MPI_Datatype type, MPI_Datatype* made), (n, type, made))
TYPE(Type_vector, (int n, int length, int stride, MPI_Datatype type, MPI_Datatype* made),
     (n, length, stride, type, made))
TYPE(Type_create_hvector, (int n, int length, MPI_Aint stride, MPI_Datatype type, MPI_Datatype* made),
     (n, length, stride, type, made))
TYPE(Type_indexed, (int n, const int lengths[], const int at[], MPI_Datatype type, MPI_Datatype* made),
     (n, lengths, at, type, made))
TYPE(Type_create_hindexed, (int n, const int lengths[], const MPI_Aint at[], MPI_Datatype type, MPI_Datatype* made),
     (n, lengths, at, type, made))
TYPE(Type_create_indexed_block, (int n, int length, const int at[], MPI_Datatype type, MPI_Datatype* made),
     (n, length, at, type, made))
TYPE(Type_create_hindexed_block, (int n, int length, const MPI_Aint at[], MPI_Datatype type, MPI_Datatype* made),
     (n, length, at, type, made))
TYPE(Type_create_struct, (int n, const int lengths[], const MPI_Aint at[], const MPI_Datatype of[], MPI_Datatype* made),
     (n, lengths, at, of, made))
TYPE(Type_create_subarray,
     (int n, const int sizes[], const int parts[], const int starts[], int order, MPI_Datatype type,
      MPI_Datatype* made),
     (n, sizes, parts, starts, order, type, made))
TYPE(Type_create_resized, (MPI_Datatype type, MPI_Aint lower, MPI_Aint extent, MPI_Datatype* made),
     (type, lower, extent, made))
FREED(types, is_own_type(*handle), Type_free, MPI_Datatype)
int PMPI_Type_get_contents(MPI_Datatype type, int integers, int addresses, int n, int integer[], MPI_Aint address[],
                           MPI_Datatype of[]) {
  const int code = NEXT(Type_get_contents)(type, integers, addresses, n, integer, address, of);
  int integers_in, addresses_in, types_in = 0, combiner;
  PMPI_Type_get_envelope(type, &integers_in, &addresses_in, &types_in, &combiner);
  for (int i = 0; code == MPI_SUCCESS && COUNTS && i < types_in; ++i) live[types] += is_own_type(of[i]);
  return code;
}
int PMPI_File_get_view(MPI_File file, MPI_Offset* at, MPI_Datatype* etype, MPI_Datatype* filetype,
                       char* representation) {
  const int code = NEXT(File_get_view)(file, at, etype, filetype, representation);
  if (code == MPI_SUCCESS && COUNTS) live[types] += is_own_type(*etype) + is_own_type(*filetype);
  return code;
}

#define WINDOW(function, parameters, arguments) MADE(windows, 1, function, parameters, arguments)
WINDOW(Win_create, (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* made),
       (base, size, unit, info, comm, made))
WINDOW(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made),
       (size, unit, info, comm, base, made))
WINDOW(Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made),
       (size, unit, info, comm, base, made))
WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* made), (info, comm, made))
FREED(windows, 1, Win_free, MPI_Win)

MADE(files, 1, File_open, (MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* made),
     (comm, name, mode, info, made))
FREED(files, 1, File_close, MPI_File)

MADE(operations, 1, Op_create, (MPI_User_function * function, int commutes, MPI_Op* made), (function, commutes, made))
FREED(operations, 1, Op_free, MPI_Op)

#define HANDLER(function, parameters, arguments) MADE(handlers, is_own_handler(*made), function, parameters, arguments)
HANDLER(Comm_create_errhandler, (MPI_Comm_errhandler_function * function, MPI_Errhandler* made), (function, made))
HANDLER(Win_create_errhandler, (MPI_Win_errhandler_function * function, MPI_Errhandler* made), (function, made))
HANDLER(File_create_errhandler, (MPI_File_errhandler_function * function, MPI_Errhandler* made), (function, made))
HANDLER(Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler* made), (comm, made))
HANDLER(Win_get_errhandler, (MPI_Win window, MPI_Errhandler* made), (window, made))
HANDLER(File_get_errhandler, (MPI_File file, MPI_Errhandler* made), (file, made))
FREED(handlers, is_own_handler(*handle), Errhandler_free, MPI_Errhandler)

#define INFO(function, parameters, arguments) MADE(infos, *made != MPI_INFO_NULL, function, parameters, arguments)
INFO(Info_create, (MPI_Info * made), (made))
INFO(Info_dup, (MPI_Info info, MPI_Info* made), (info, made))
INFO(Comm_get_info, (MPI_Comm comm, MPI_Info* made), (comm, made))
INFO(Win_get_info, (MPI_Win window, MPI_Info* made), (window, made))
#ifdef HAS_SESSIONS
INFO(Session_get_info, (MPI_Session session, MPI_Info* made), (session, made))
INFO(Session_get_pset_info, (MPI_Session session, const char* name, MPI_Info* made), (session, name, made))
#endif
INFO(File_get_info, (MPI_File file, MPI_Info* made), (file, made))
FREED(infos, 1, Info_free, MPI_Info)

int PMPI_Finalize(void) {
  int left = 0;
  for (int kind = 0; kind < kinds; ++kind) {
    if (live[kind] == 0) continue;
    left = 1;
    fprintf(stderr, "live_objects: %ld %s left at MPI_Finalize\n", live[kind], names[kind]);
  }
  const int code = NEXT(Finalize)();
  if (left) _exit(70);
  return code;
}
