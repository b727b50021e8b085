// One-sided communication (MPI 3.1, chapter 11). The windows are MPI's own, in each replica's world; window.h says what
// is compared when, and docs/design/one-sided.md what that detects.
#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/collective/collective.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/implementation.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/mpi/onesided/window.h"
#include "replicate/mpi/onesided/window_backing.h"
#include "replicate/mpi/pointtopoint/cross_world_send.h"
#include "replicate/mpi/pointtopoint/send.h"
#include "replicate/mpi/verify/type_contents.h"

namespace holdfast::replicate {

namespace {

/// Registers a window that a call made.
template <class Make>
int make(Function function, MPI_Comm comm, MPI_Win* win, bool shared, MPI_Aint bytes, Make call) {
  make_window_backing();
  if (!known(comm) || !runtime().verifying) return call();
  require_equal_degrees(function);
  note_call(function, runtime().comms.find(comm), -1, 0, 0);
  let_copies_end();
  const int code = call_that_waits(call);
  if (code != MPI_SUCCESS) return code;
  void* base = nullptr;
  int found = 0;
  real().Win_get_attr(*win, MPI_WIN_BASE, &base, &found);
  windows().add(*win, comm, found ? base : nullptr, bytes, shared);
  return code;
}

/// The window behind a handle where the library has work to do: null when MPI is to be called as it is.
Window* protected_window(MPI_Win win) {
  return runtime().verifying ? windows().find(win) : nullptr;
}

/// Notes a call on a window. Of several threads, each is to work on windows of its own: answers are ordered by window.
void note_window_call(Function function, int target, const Window& window) {
  note_call(function, runtime().comms.find(runtime().world), target, 0, 0);
  if (asked_by_channel()) asking.order = window.id();
}

/// The window and target of an access; null where MPI is to be called as it is, and judges the arguments.
Window* accessed(Function function, MPI_Win win, int target, std::initializer_list<int> counts,
                 std::initializer_list<MPI_Datatype> types, MPI_Aint displacement) {
  Window* window = protected_window(win);
  if (!window || target < 0 || target >= window->peers() || !window->accessible(target)) return nullptr;
  if (displacement < 0) return nullptr;
  for (const int count : counts) {
    if (count < 0) return nullptr;
  }
  for (const MPI_Datatype type : types) {
    if (type == MPI_DATATYPE_NULL) return nullptr;
  }
  window->user().come(function);
  note_window_call(function, target, *window);
  return window;
}

/// A datatype for a call that is made later: the application may free its own meanwhile.
MPI_Datatype keep(MPI_Datatype type, std::vector<MPI_Datatype>& kept) {
  if (predefined(type)) return type;
  MPI_Datatype own = MPI_DATATYPE_NULL;
  real().Type_dup(type, &own);
  kept.push_back(own);
  return own;
}

std::uint64_t elements(int count) {
  return static_cast<std::uint64_t>(count);
}

/// Whether MPI_Compare_and_swap takes elements of the type (MPI 3.1, section 11.3.4). MPICH checks that at the call, so
/// the call goes there; Open MPI takes any.
bool swappable(MPI_Datatype type) {
  if (is_open_mpi()) return true;
  const MPI_Datatype numbers[] = {MPI_FLOAT,           MPI_DOUBLE,           MPI_LONG_DOUBLE,
                                  MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX};
  return predefined(type) && std::find(std::begin(numbers), std::end(numbers), type) == std::end(numbers);
}

/// What goes out, as MPI reads it when the access is made. Long doubles go without what pads them, so that what is
/// exposed at the target stays alike in all replicas.
class Origin {
 public:
  Origin(const void* buffer, int count, MPI_Datatype type) : buffer_(buffer), count_(count), type_(type) {
    const auto& padding = count > 0 && buffer ? type_facts(type).padding : nullptr;
    if (padding && padding->has_padding()) copy_ = std::make_shared<std::vector<std::byte>>();
  }
  /// Where it is; valid as long as this object or a copy of it.
  const void* address() const {
    return copy_ ? copy_without_padding(buffer_, elements(count_), type_, *copy_) : buffer_;
  }

 private:
  const void* buffer_;
  int count_;
  MPI_Datatype type_;
  std::shared_ptr<std::vector<std::byte>> copy_;
};

/// Describes what goes out, and lets the injector at it.
void goes_out(Window& window, Window::Access& access, const void* buffer, int count, MPI_Datatype type) {
  Region region = Region::keep(buffer, elements(count), type);
  if (region.bytes() == 0) return;
  inject(region, window.virtual_rank(access.target));
  access.out.push_back(std::move(region));
}

void comes_in(Window::Access& access, void* buffer, int count, MPI_Datatype type) {
  Region region = Region::keep(buffer, elements(count), type);
  if (region.bytes() > 0) access.in.push_back(std::move(region));
}

/// An atomic access: at once and in its turn in a passive epoch; else with the others, when the epoch ends.
int atomic(Function function, Window& window, Window::Access access) {
  if (window.passive(access.target)) return window.perform_now(function, std::move(access), true);
  access.racing = true;
  window.queue(std::move(access));
  return MPI_SUCCESS;
}

/// A request that is over already.
int completed_request(MPI_Request* request) {
  return real().Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, request);
}

/// A synchronising call of the application on a window.
class WindowCall {
 public:
  WindowCall(Function function, int target, Window& window) : inside_(function, window.user()) {
    note_window_call(function, target, window);
  }

 private:
  OneThread::Call inside_;
};

}  // namespace

int hook::Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return make(Function::Win_create, comm, win, false, size,
              [&] { return real().Win_create(base, size, disp_unit, info, comm, win); });
}
int hook::Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
  return make(Function::Win_allocate, comm, win, false, size,
              [&] { return real().Win_allocate(size, disp_unit, info, comm, baseptr, win); });
}
int hook::Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
  return make(Function::Win_allocate_shared, comm, win, true, size,
              [&] { return real().Win_allocate_shared(size, disp_unit, info, comm, baseptr, win); });
}
int hook::Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return make(Function::Win_create_dynamic, comm, win, false, 0,
              [&] { return real().Win_create_dynamic(info, comm, win); });
}
#ifdef HOLDFAST_HAS_Win_create_c
int hook::Win_create_c(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  return make(Function::Win_create_c, comm, win, false, size,
              [&] { return real().Win_create_c(base, size, disp_unit, info, comm, win); });
}
int hook::Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
  return make(Function::Win_allocate_c, comm, win, false, size,
              [&] { return real().Win_allocate_c(size, disp_unit, info, comm, baseptr, win); });
}
int hook::Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                                MPI_Win* win) {
  return make(Function::Win_allocate_shared_c, comm, win, true, size,
              [&] { return real().Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win); });
}
#endif

int hook::Win_free(MPI_Win* win) {
  Window* window = protected_window(*win);
  if (!window) return real().Win_free(win);
  { const WindowCall inside(Function::Win_free, -1, *window); }
  const MPI_Win freed = *win;
  window->meet();
  window->close();
  windows().remove(freed);
  return call_that_waits([&] { return real().Win_free(win); });
}

int hook::Put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  Window* window = accessed(Function::Put, win, target_rank, {origin_count, target_count},
                            {origin_datatype, target_datatype}, target_disp);
  if (!window) {
    return real().Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                      target_datatype, win);
  }
  Window::Access access{.target = target_rank, .displacement = target_disp};
  goes_out(*window, access, origin_addr, origin_count, origin_datatype);
  const MPI_Datatype from = keep(origin_datatype, access.types);
  const MPI_Datatype to = keep(target_datatype, access.types);
  access.call = [=, origin = Origin(origin_addr, origin_count, from)] {
    return real().Put(origin.address(), origin_count, from, target_rank, target_disp, target_count, to, win);
  };
  window->queue(std::move(access));
  return MPI_SUCCESS;
}

int hook::Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
              int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  Window* window = accessed(Function::Get, win, target_rank, {origin_count, target_count},
                            {origin_datatype, target_datatype}, target_disp);
  if (!window) {
    return real().Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                      target_datatype, win);
  }
  Window::Access access{.target = target_rank, .displacement = target_disp};
  comes_in(access, origin_addr, origin_count, origin_datatype);
  const MPI_Datatype to = keep(origin_datatype, access.types);
  const MPI_Datatype from = keep(target_datatype, access.types);
  access.call = [=] {
    return real().Get(origin_addr, origin_count, to, target_rank, target_disp, target_count, from, win);
  };
  window->queue(std::move(access));
  return MPI_SUCCESS;
}

int hook::Accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  Window* window = accessed(Function::Accumulate, win, target_rank, {origin_count, target_count},
                            {origin_datatype, target_datatype}, target_disp);
  if (!window || op == MPI_OP_NULL) {
    return real().Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                             target_datatype, op, win);
  }
  Window::Access access{.target = target_rank, .displacement = target_disp};
  goes_out(*window, access, origin_addr, origin_count, origin_datatype);
  const MPI_Datatype from = keep(origin_datatype, access.types);
  const MPI_Datatype to = keep(target_datatype, access.types);
  access.call = [=, origin = Origin(origin_addr, origin_count, from)] {
    return real().Accumulate(origin.address(), origin_count, from, target_rank, target_disp, target_count, to, op, win);
  };
  return atomic(Function::Accumulate, *window, std::move(access));
}

int hook::Get_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, void* result_addr,
                         int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                         int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  const bool reads_only = op == MPI_NO_OP;  // the origin arguments mean nothing then
  Window* window =
      accessed(Function::Get_accumulate, win, target_rank, {reads_only ? 0 : origin_count, result_count, target_count},
               {result_datatype, target_datatype}, target_disp);
  if (!window || op == MPI_OP_NULL || (!reads_only && origin_datatype == MPI_DATATYPE_NULL)) {
    return real().Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
                                 target_rank, target_disp, target_count, target_datatype, op, win);
  }
  Window::Access access{.target = target_rank, .displacement = target_disp};
  if (!reads_only) goes_out(*window, access, origin_addr, origin_count, origin_datatype);
  comes_in(access, result_addr, result_count, result_datatype);
  const MPI_Datatype from = reads_only ? origin_datatype : keep(origin_datatype, access.types);
  const MPI_Datatype result = keep(result_datatype, access.types);
  const MPI_Datatype to = keep(target_datatype, access.types);
  access.call = [=, origin = Origin(origin_addr, reads_only ? 0 : origin_count, from)] {
    return real().Get_accumulate(origin.address(), origin_count, from, result_addr, result_count, result, target_rank,
                                 target_disp, target_count, to, op, win);
  };
  return atomic(Function::Get_accumulate, *window, std::move(access));
}

int hook::Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
                       MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  Window* window = accessed(Function::Fetch_and_op, win, target_rank, {}, {datatype}, target_disp);
  if (!window || op == MPI_OP_NULL || !predefined(datatype)) {
    return real().Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
  }
  Window::Access access{.target = target_rank, .displacement = target_disp};
  if (op != MPI_NO_OP) goes_out(*window, access, origin_addr, 1, datatype);
  comes_in(access, result_addr, 1, datatype);
  access.call = [=, origin = Origin(origin_addr, op != MPI_NO_OP ? 1 : 0, datatype)] {
    return real().Fetch_and_op(origin.address(), result_addr, datatype, target_rank, target_disp, op, win);
  };
  return atomic(Function::Fetch_and_op, *window, std::move(access));
}

int hook::Compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr, MPI_Datatype datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Win win) {
  Window* window = accessed(Function::Compare_and_swap, win, target_rank, {}, {datatype}, target_disp);
  if (!window || !swappable(datatype)) {
    return real().Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
  }
  Window::Access access{.target = target_rank, .displacement = target_disp};
  goes_out(*window, access, origin_addr, 1, datatype);
  access.out.push_back(Region::keep(compare_addr, 1, datatype));
  comes_in(access, result_addr, 1, datatype);
  access.call = [=] {
    return real().Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win);
  };
  return atomic(Function::Compare_and_swap, *window, std::move(access));
}

// The request-based ones exist in passive epochs only. They are made at once; what they bring is there when they
// return.
int hook::Rput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
               MPI_Request* request) {
  Window* window = accessed(Function::Rput, win, target_rank, {origin_count, target_count},
                            {origin_datatype, target_datatype}, target_disp);
  if (!window || !window->passive(target_rank)) {
    return real().Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win, request);
  }
  Window::Access access{.target = target_rank, .displacement = target_disp};
  goes_out(*window, access, origin_addr, origin_count, origin_datatype);
  access.call = [=, origin = Origin(origin_addr, origin_count, origin_datatype)] {
    return real().Put(origin.address(), origin_count, origin_datatype, target_rank, target_disp, target_count,
                      target_datatype, win);
  };
  const int code = window->perform_now(Function::Rput, std::move(access), false);
  return code == MPI_SUCCESS ? completed_request(request) : code;
}

int hook::Rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
               int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
  Window* window = accessed(Function::Rget, win, target_rank, {origin_count, target_count},
                            {origin_datatype, target_datatype}, target_disp);
  if (!window || !window->passive(target_rank)) {
    return real().Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                       target_datatype, win, request);
  }
  Window::Access access{.target = target_rank, .displacement = target_disp};
  comes_in(access, origin_addr, origin_count, origin_datatype);
  access.call = [=] {
    return real().Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                      target_datatype, win);
  };
  const int code = window->perform_now(Function::Rget, std::move(access), false);
  return code == MPI_SUCCESS ? completed_request(request) : code;
}

int hook::Raccumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                      MPI_Request* request) {
  Window* window = accessed(Function::Raccumulate, win, target_rank, {origin_count, target_count},
                            {origin_datatype, target_datatype}, target_disp);
  if (!window || !window->passive(target_rank)) {
    return real().Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                              target_datatype, op, win, request);
  }
  const int code = Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                              target_datatype, op, win);
  return code == MPI_SUCCESS ? completed_request(request) : code;
}

int hook::Rget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype, void* result_addr,
                          int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                          int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                          MPI_Request* request) {
  Window* window = accessed(Function::Rget_accumulate, win, target_rank, {result_count, target_count},
                            {result_datatype, target_datatype}, target_disp);
  if (!window || !window->passive(target_rank)) {
    return real().Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                                  result_datatype, target_rank, target_disp, target_count, target_datatype, op, win,
                                  request);
  }
  const int code = Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                                  result_datatype, target_rank, target_disp, target_count, target_datatype, op, win);
  return code == MPI_SUCCESS ? completed_request(request) : code;
}

int hook::Win_fence(int assert, MPI_Win win) {
  Window* window = protected_window(win);
  if (!window) return real().Win_fence(assert, win);
  const WindowCall inside(Function::Win_fence, -1, *window);
  window->meet();  // by testing, so that MPI's own wait is short
  const int code = window->complete(Function::Win_fence, -1, [&] { return real().Win_fence(assert, win); });
  if (code != MPI_SUCCESS) return code;
  window->note_fence(assert);
  // Nobody may begin to write here before everybody has looked.
  window->compare_exposed(Function::Win_fence);
  window->meet();
  return code;
}

int hook::Win_start(MPI_Group group, int assert, MPI_Win win) {
  Window* window = protected_window(win);
  if (!window) return real().Win_start(group, assert, win);
  const WindowCall inside(Function::Win_start, -1, *window);
  const int code = call_that_waits([&] { return real().Win_start(group, assert, win); });
  if (code == MPI_SUCCESS) window->note_start();
  return code;
}

int hook::Win_complete(MPI_Win win) {
  Window* window = protected_window(win);
  if (!window) return real().Win_complete(win);
  const WindowCall inside(Function::Win_complete, -1, *window);
  const int code = window->complete(Function::Win_complete, -1, [&] { return real().Win_complete(win); });
  window->note_complete();
  return code;
}

int hook::Win_post(MPI_Group group, int assert, MPI_Win win) {
  if (Window* window = protected_window(win)) const WindowCall inside(Function::Win_post, -1, *window);
  return real().Win_post(group, assert, win);
}

int hook::Win_wait(MPI_Win win) {
  Window* window = protected_window(win);
  if (!window) return real().Win_wait(win);
  const WindowCall inside(Function::Win_wait, -1, *window);
  int done = 0;
  int code = MPI_SUCCESS;
  wait_until([&] {
    set_awaited({});
    code = real().Win_test(win, &done);
    return done != 0 || code != MPI_SUCCESS;
  });
  if (code == MPI_SUCCESS) window->compare_exposed(Function::Win_wait);
  return code;
}

int hook::Win_test(MPI_Win win, int* flag) {
  Window* window = protected_window(win);
  if (!window) return real().Win_test(win, flag);
  int code = MPI_SUCCESS;
  int done = 0;
  *flag = decide([&] {
    progress();
    code = real().Win_test(win, &done);
    return done != 0;
  });
  if (!*flag || code != MPI_SUCCESS) return code;
  if (!runtime().leader()) return Win_wait(win);
  window->compare_exposed(Function::Win_wait);
  return code;
}

int hook::Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
  Window* window = protected_window(win);
  const bool right = window && rank >= 0 && rank < window->peers() && !window->passive(rank) &&
                     (lock_type == MPI_LOCK_SHARED || lock_type == MPI_LOCK_EXCLUSIVE);
  if (!right) return real().Win_lock(lock_type, rank, assert, win);
  const WindowCall inside(Function::Win_lock, rank, *window);
  return window->lock(lock_type, rank, assert);
}

int hook::Win_unlock(int rank, MPI_Win win) {
  Window* window = protected_window(win);
  const bool right = window && rank >= 0 && rank < window->peers() && window->locked(rank);
  if (!right) return real().Win_unlock(rank, win);
  const WindowCall inside(Function::Win_unlock, rank, *window);
  return window->unlock(rank);
}

int hook::Win_lock_all(int assert, MPI_Win win) {
  Window* window = protected_window(win);
  if (!window || window->any_lock()) return real().Win_lock_all(assert, win);
  const WindowCall inside(Function::Win_lock_all, -1, *window);
  return window->lock_all(assert);
}

int hook::Win_unlock_all(MPI_Win win) {
  Window* window = protected_window(win);
  if (!window || !window->locked_all()) return real().Win_unlock_all(win);
  const WindowCall inside(Function::Win_unlock_all, -1, *window);
  return window->unlock_all();
}

namespace {

template <class Flush>
int flush(Function function, MPI_Win win, int target, Flush call) {
  Window* window = protected_window(win);
  if (!window || target < -1 || target >= window->peers()) return call();
  const WindowCall inside(function, target, *window);
  return window->complete(function, target, call);
}

}  // namespace

int hook::Win_flush(int rank, MPI_Win win) {
  return rank < 0 ? real().Win_flush(rank, win)
                  : flush(Function::Win_flush, win, rank, [&] { return real().Win_flush(rank, win); });
}
int hook::Win_flush_all(MPI_Win win) {
  return flush(Function::Win_flush_all, win, -1, [&] { return real().Win_flush_all(win); });
}
int hook::Win_flush_local(int rank, MPI_Win win) {
  return rank < 0 ? real().Win_flush_local(rank, win)
                  : flush(Function::Win_flush_local, win, rank, [&] { return real().Win_flush_local(rank, win); });
}
int hook::Win_flush_local_all(MPI_Win win) {
  return flush(Function::Win_flush_local_all, win, -1, [&] { return real().Win_flush_local_all(win); });
}

}  // namespace holdfast::replicate
