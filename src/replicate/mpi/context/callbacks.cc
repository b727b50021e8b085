#include "replicate/mpi/context/callbacks.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <deque>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/context/failure.h"
#include "replicate/mpi/context/implementation.h"
#include "replicate/mpi/intercept/handle.h"

// Functions of the MPI library that mpi.h names where a callback is expected: null in a program without MPI.
#ifdef OPEN_MPI
#pragma weak OMPI_C_MPI_COMM_NULL_COPY_FN
#pragma weak OMPI_C_MPI_COMM_DUP_FN
#pragma weak OMPI_C_MPI_COMM_NULL_DELETE_FN
#pragma weak OMPI_C_MPI_TYPE_NULL_COPY_FN
#pragma weak OMPI_C_MPI_TYPE_DUP_FN
#pragma weak OMPI_C_MPI_TYPE_NULL_DELETE_FN
#pragma weak OMPI_C_MPI_WIN_NULL_COPY_FN
#pragma weak OMPI_C_MPI_WIN_DUP_FN
#pragma weak OMPI_C_MPI_WIN_NULL_DELETE_FN
#elif defined(MPICH)
#pragma weak MPIR_Dup_fn
#endif

namespace holdfast::replicate {

namespace {

/// Functions that MPI calls without an argument of the application's: there is a function of ours for each, found by
/// its number (caller()). As many as a program has different functions, not calls that register one.
constexpr std::size_t most_functions = 256;

/// `Function` is the type of the application's, `Ours` a class with a static call(Function*, arguments...).
template <class Function, class Ours>
struct Numbered;

template <class Ours, class Result, class... Arguments>
struct Numbered<Result(Arguments...), Ours> {
  using Function = Result(Arguments...);
  static inline std::array<Function*, most_functions> functions{};

  template <std::size_t number>
  static Result call(Arguments... arguments) {
    return Ours::call(functions[number], arguments...);
  }
  template <std::size_t... numbers>
  static constexpr std::array<Function*, most_functions> all(std::index_sequence<numbers...>) {
    return {&call<numbers>...};
  }
  static const std::array<Function*, most_functions>& callers() {
    static constexpr auto table = all(std::make_index_sequence<most_functions>());
    return table;
  }
};

/// Error handlers are variadic; only the first two arguments are standard (MPI 3.1, section 8.3).
template <class Ours, class Handle>
struct Numbered<void(Handle*, int*, ...), Ours> {
  using Function = void(Handle*, int*, ...);
  static inline std::array<Function*, most_functions> functions{};

  template <std::size_t number>
  static void call(Handle* handle, int* code, ...) {
    Ours::call(functions[number], handle, code);
  }
  template <std::size_t... numbers>
  static constexpr std::array<Function*, most_functions> all(std::index_sequence<numbers...>) {
    return {&call<numbers>...};
  }
  static const std::array<Function*, most_functions>& callers() {
    static constexpr auto table = all(std::make_index_sequence<most_functions>());
    return table;
  }
};

/// Ours for the application's function.
template <class Numbers>
typename Numbers::Function* caller(typename Numbers::Function* function) {
  for (std::size_t i = 0; i < most_functions; ++i) {
    if (Numbers::functions[i] == nullptr) Numbers::functions[i] = function;
    if (Numbers::functions[i] == function) return Numbers::callers()[i];
  }
  fail_unsupported("more than " + std::to_string(most_functions) + " different functions for MPI to call back",
                   "run this program without replication");
}

struct Plain {
  template <class Function, class... Arguments>
  static auto call(Function* function, Arguments... arguments) {
    const ApplicationScope scope;
    return function(arguments...);
  }
};

struct OnCommunicator {
  static void call(MPI_Comm_errhandler_function* function, MPI_Comm* comm, int* code) {
    MPI_Comm known = as_application_knows(*comm);
    const ApplicationScope scope;
    function(&known, code);
  }
};

#ifdef HOLDFAST_STANDARD_ABI
using FortranHandle = int;
#else
using FortranHandle = MPI_Fint;
#endif

FortranHandle fortran_handle(MPI_Comm comm) {
#if defined(OPEN_MPI)
  return real().Comm_c2f(comm);
#elif defined(MPICH)
  return comm;  // one and the same
#else
  return real().Comm_toint(comm);
#endif
}

/// Fortran's handle of a communicator that MPI passes to a callback: MPI_COMM_WORLD for the replica's own world.
struct OnFortranCommunicator {
  template <class Function, class... Rest>
  static void call(Function* function, void* comm, Rest... rest) {
    FortranHandle known = *static_cast<FortranHandle*>(comm);
    if (active() && known == fortran_handle(protection.world)) known = fortran_handle(MPI_COMM_WORLD);
    const ApplicationScope scope;
    function(&known, rest...);
  }
};

template <class Function>
Function* fortran_caller(Function* function, bool on_communicator) {
  if (!function) return nullptr;
  return on_communicator ? caller<Numbered<Function, OnFortranCommunicator>>(function)
                         : caller<Numbered<Function, Plain>>(function);
}

/// A function under another type; it is called under its own.
template <class To, class From>
To recast(From function) {
  return reinterpret_cast<To>(reinterpret_cast<void (*)()>(function));
}

/// What a keyval was made with; lives until the process ends, as attributes may outlive their keyval's handle.
template <class Copy, class Delete>
struct Keyval {
  Copy* copy;
  Delete* del;
  void* extra_state;
};

template <class Copy, class Delete>
Keyval<Copy, Delete>* new_keyval(Copy* copy, Delete* del, void* extra_state) {
  static std::deque<Keyval<Copy, Delete>> all;
  return &all.emplace_back(Keyval<Copy, Delete>{copy, del, extra_state});
}

inline MPI_Comm known_as(MPI_Comm comm) {
  return as_application_knows(comm);
}
template <class Handle>
Handle known_as(Handle handle) {
  return handle;
}

template <class Copy, class Delete, class Handle>
int copy_attribute(Handle handle, int number, void* state, void* value, void* copy_value, int* flag) {
  const auto* keyval = static_cast<const Keyval<Copy, Delete>*>(state);
  const ApplicationScope scope;
  return keyval->copy(known_as(handle), number, keyval->extra_state, value, copy_value, flag);
}

template <class Copy, class Delete, class Handle>
int delete_attribute(Handle handle, int number, void* value, void* state) {
  const auto* keyval = static_cast<const Keyval<Copy, Delete>*>(state);
  const ApplicationScope scope;
  return keyval->del(known_as(handle), number, value, keyval->extra_state);
}

/// `null_copy`, `dup`, `null_delete`: MPI's own functions for this kind of object, which it may know by their address.
template <class Handle, class Copy, class Delete, class Create>
int create_keyval(Create create, Copy* copy, Delete* del, int* number, void* extra_state, Copy* null_copy, Copy* dup,
                  Delete* null_delete) {
  if (from_fortran()) {
    constexpr bool on_communicator = std::is_same_v<Copy, MPI_Comm_copy_attr_function>;
    auto* own_copy = in_application_scope(recast<FortranCopy*>(copy), on_communicator);
    auto* own_delete = in_application_scope(recast<FortranDelete*>(del), on_communicator);
    return create(recast<Copy*>(own_copy), recast<Delete*>(own_delete), number, extra_state);
  }
  const bool own_copy = copy != nullptr && copy != null_copy && copy != dup;
  const bool own_delete = del != nullptr && del != null_delete;
  if (!own_copy && !own_delete) return create(copy, del, number, extra_state);
  auto* keyval = new_keyval(copy, del, extra_state);
  return create(own_copy ? copy_attribute<Copy, Delete, Handle> : copy,
                own_delete ? delete_attribute<Copy, Delete, Handle> : del, number, keyval);
}

struct OwnRequest {
  MPI_Grequest_query_function* query;
  MPI_Grequest_free_function* free;
  MPI_Grequest_cancel_function* cancel;
  void* extra_state;
  MPI_Request handle;
};

std::unordered_set<std::uint64_t>& own_requests() {
  static auto* handles = new std::unordered_set<std::uint64_t>();
  return *handles;
}

int query_own(void* state, MPI_Status* status) {
  const auto* request = static_cast<OwnRequest*>(state);
  const ApplicationScope scope;
  return request->query(request->extra_state, status);
}

int free_own(void* state) {
  auto* request = static_cast<OwnRequest*>(state);
  own_requests().erase(handle_key(request->handle));
  const ApplicationScope scope;
  const int code = request->free ? request->free(request->extra_state) : MPI_SUCCESS;
  delete request;
  return code;
}

int cancel_own(void* state, int complete) {
  const auto* request = static_cast<OwnRequest*>(state);
  const ApplicationScope scope;
  return request->cancel(request->extra_state, complete);
}

std::vector<int> comm_keyvals;  // that the application has made

struct Attribute {
  bool on_self;
  int keyval;
};
std::vector<Attribute> attributes;  // in the order of setting

void note_attribute(MPI_Comm comm, int keyval, bool set) {
  const bool on_self = comm == MPI_COMM_SELF;
  if (!on_self && comm != protection.world) return;
  std::erase_if(attributes, [&](const Attribute& a) { return a.on_self == on_self && a.keyval == keyval; });
  if (set) attributes.push_back({on_self, keyval});
}

void delete_attributes(bool on_self) {
  const MPI_Comm comm = on_self ? MPI_COMM_SELF : protection.world;
  real().Comm_set_errhandler(comm, MPI_ERRORS_RETURN);  // the keyval may be gone
  while (true) {
    const auto last =
        std::find_if(attributes.rbegin(), attributes.rend(), [&](const Attribute& a) { return a.on_self == on_self; });
    if (last == attributes.rend()) return;
    int keyval = last->keyval;
    attributes.erase(std::next(last).base());  // a callback may set or delete others
    real().Comm_delete_attr(comm, keyval);
  }
}

}  // namespace

#ifdef MPICH
namespace {

template <class Numbers>
typename Numbers::Function* behind(typename Numbers::Function* function) {
  const auto& callers = Numbers::callers();
  const auto found = std::find(callers.begin(), callers.end(), function);
  return found == callers.end() ? function : Numbers::functions[static_cast<std::size_t>(found - callers.begin())];
}

using AttributeState = Keyval<MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function>;

}  // namespace

MPI_User_function* application_function(MPI_User_function* function) {
  return behind<Numbered<MPI_User_function, Plain>>(function);
}
MPI_Comm_errhandler_function* application_function(MPI_Comm_errhandler_function* function) {
  return behind<Numbered<MPI_Win_errhandler_function, Plain>>(
      behind<Numbered<MPI_Comm_errhandler_function, OnCommunicator>>(function));
}
MPI_File_errhandler_function* application_function(MPI_File_errhandler_function* function) {
  return behind<Numbered<MPI_File_errhandler_function, Plain>>(function);
}
AttributeFunction<MPI_Comm_copy_attr_function> application_function(MPI_Comm_copy_attr_function* function,
                                                                    void* extra_state) {
  if (function != copy_attribute<MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function, MPI_Comm>)
    return {function, extra_state};
  const auto* keyval = static_cast<const AttributeState*>(extra_state);
  return {keyval->copy, keyval->extra_state};
}
AttributeFunction<MPI_Comm_delete_attr_function> application_function(MPI_Comm_delete_attr_function* function,
                                                                      void* extra_state) {
  if (function != delete_attribute<MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function, MPI_Comm>)
    return {function, extra_state};
  const auto* keyval = static_cast<const AttributeState*>(extra_state);
  return {keyval->del, keyval->extra_state};
}
#endif

bool from_fortran() {
  Dl_info info{};
  return dladdr(calling_address, &info) != 0 && info.dli_fname &&
         (std::strstr(info.dli_fname, "libmpichfort") || std::strstr(info.dli_fname, "libmpi_mpifh") ||
          std::strstr(info.dli_fname, "libmpi_usempif08"));
}

FortranCopy* in_application_scope(FortranCopy* function, bool on_communicator) {
  return fortran_caller(function, on_communicator);
}
FortranDelete* in_application_scope(FortranDelete* function, bool on_communicator) {
  return fortran_caller(function, on_communicator);
}
FortranHandler* in_application_scope(FortranHandler* function, bool on_communicator) {
  return fortran_caller(function, on_communicator);
}

bool is_own_request(MPI_Request request) {
  return own_requests().contains(handle_key(request));
}

int delete_attributes_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  real().Comm_get_errhandler(comm, &handler);
  real().Comm_set_errhandler(comm, MPI_ERRORS_RETURN);  // keyvals may be gone
  int code = MPI_SUCCESS;
  for (auto keyval = comm_keyvals.rbegin(); keyval != comm_keyvals.rend() && code == MPI_SUCCESS; ++keyval) {
    int of_keyval = *keyval;
    void* value = nullptr;
    int set = 0;
    if (real().Comm_get_attr(comm, of_keyval, &value, &set) == MPI_SUCCESS && set)
      code = real().Comm_delete_attr(comm, of_keyval);
  }
  real().Comm_set_errhandler(comm, handler);
  real().Errhandler_free(&handler);
  if (code != MPI_SUCCESS) real().Comm_call_errhandler(comm, code);
  return code;
}

void delete_attributes_at_the_end() {
  delete_attributes(true);
  delete_attributes(false);
}

int hook::Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
#ifdef OPEN_MPI
  const auto* cplusplus = reinterpret_cast<void*>(ompi_mpi_cxx_op_intercept);
  if (reinterpret_cast<void*>(user_fn) == cplusplus) return real().Op_create(user_fn, commute, op);
#endif
  return real().Op_create(user_fn ? caller<Numbered<MPI_User_function, Plain>>(user_fn) : user_fn, commute, op);
}

int hook::Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
  auto* ours = function ? caller<Numbered<MPI_Comm_errhandler_function, OnCommunicator>>(function) : function;
  return real().Comm_create_errhandler(ours, errhandler);
}
#ifdef HOLDFAST_HAS_Errhandler_create
int hook::Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
  return Comm_create_errhandler(function, errhandler);
}
#endif
int hook::Win_create_errhandler(MPI_Win_errhandler_function* function, MPI_Errhandler* errhandler) {
  auto* ours = function ? caller<Numbered<MPI_Win_errhandler_function, Plain>>(function) : function;
  return real().Win_create_errhandler(ours, errhandler);
}
int hook::File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler) {
  auto* ours = function ? caller<Numbered<MPI_File_errhandler_function, Plain>>(function) : function;
  return real().File_create_errhandler(ours, errhandler);
}

int hook::Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* del, int* keyval,
                             void* extra_state) {
  const int code = create_keyval<MPI_Comm>(real().Comm_create_keyval, copy, del, keyval, extra_state,
                                           MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN);
  if (code == MPI_SUCCESS) comm_keyvals.push_back(*keyval);
  return code;
}
int hook::Type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* del, int* keyval,
                             void* extra_state) {
  return create_keyval<MPI_Datatype>(real().Type_create_keyval, copy, del, keyval, extra_state, MPI_TYPE_NULL_COPY_FN,
                                     MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN);
}
int hook::Win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* del, int* keyval,
                            void* extra_state) {
  return create_keyval<MPI_Win>(real().Win_create_keyval, copy, del, keyval, extra_state, MPI_WIN_NULL_COPY_FN,
                                MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN);
}
int hook::Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* del, int* keyval, void* extra_state) {
  return Comm_create_keyval(copy, del, keyval, extra_state);
}

int hook::Comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val) {
  const int code = real().Comm_set_attr(comm, comm_keyval, attribute_val);
  if (code == MPI_SUCCESS) note_attribute(comm, comm_keyval, true);
  return code;
}
int hook::Attr_put(MPI_Comm comm, int keyval, void* attribute_val) {
  return Comm_set_attr(comm, keyval, attribute_val);
}
int hook::Comm_delete_attr(MPI_Comm comm, int comm_keyval) {
  const int code = real().Comm_delete_attr(comm, comm_keyval);
  if (code == MPI_SUCCESS) note_attribute(comm, comm_keyval, false);
  return code;
}
int hook::Attr_delete(MPI_Comm comm, int keyval) {
  return Comm_delete_attr(comm, keyval);
}

int hook::Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                         MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request) {
  if (from_fortran()) {
    // Called with (state, status, error), (state, error), (state, complete, error), all by reference.
    using Three = void(void*, void*, void*);
    auto* query = caller<Numbered<Three, Plain>>(recast<Three*>(query_fn));
    auto* release = caller<Numbered<FortranHandler, Plain>>(recast<FortranHandler*>(free_fn));
    auto* cancel = caller<Numbered<Three, Plain>>(recast<Three*>(cancel_fn));
    const int started =
        real().Grequest_start(recast<MPI_Grequest_query_function*>(query), recast<MPI_Grequest_free_function*>(release),
                              recast<MPI_Grequest_cancel_function*>(cancel), extra_state, request);
    if (started == MPI_SUCCESS) own_requests().insert(handle_key(*request));
    return started;
  }
  auto* own = new OwnRequest{query_fn, free_fn, cancel_fn, extra_state, MPI_REQUEST_NULL};
  const int code = real().Grequest_start(query_own, free_own, cancel_own, own, request);
  if (code != MPI_SUCCESS) {
    delete own;
    return code;
  }
  own->handle = *request;
  own_requests().insert(handle_key(*request));
  return code;
}

#ifdef HOLDFAST_HAS_Op_create_c
int hook::Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  return real().Op_create_c(user_fn ? caller<Numbered<MPI_User_function_c, Plain>>(user_fn) : user_fn, commute, op);
}
#endif
#ifdef HOLDFAST_HAS_Session_init
int hook::Session_create_errhandler(MPI_Session_errhandler_function* function, MPI_Errhandler* errhandler) {
  return real().Session_create_errhandler(function, errhandler);
}
#endif

}  // namespace holdfast::replicate
