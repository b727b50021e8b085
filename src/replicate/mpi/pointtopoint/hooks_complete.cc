// Completion. Which of several requests is done, and whether one is, must be the same in every replica: the leader
// decides.
#include <algorithm>
#include <vector>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/agree/answers.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/agree/progress.h"
#include "replicate/mpi/context/callbacks.h"
#include "replicate/mpi/context/implementation.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/pointtopoint/completion.h"
#include "replicate/mpi/pointtopoint/operation.h"
#include "replicate/mpi/pointtopoint/partitioned.h"
#include "replicate/mpi/pointtopoint/receive.h"
#include "replicate/mpi/pointtopoint/status.h"

namespace holdfast::replicate {

namespace {

/// True when completion of this request completes nothing: null handles and inactive persistent requests. Every replica
/// knows that by itself.
bool idle(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return true;
  const Operation* op = runtime().requests.find(request);
  return op && op->idle();
}

/// Whether the request can be completed now; frees nothing.
bool done_now(MPI_Request request) {
  Operation* op = runtime().requests.find(request);
  if (op) return advance(*op);
  int done = 0;
  set_awaited({});
  real().Request_get_status(request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

int complete(MPI_Request* request, MPI_Status* status) {
  Operation* op = runtime().requests.find(*request);
  if (op && !op->idle()) {
    wait_until([&] { return advance(*op); });
    return finish(*op, request, status);
  }
  int done = 0;
  int code = MPI_SUCCESS;
  wait_until([&] {
    set_awaited({});
    code = real().Test(request, &done, status);
    return done != 0 || code != MPI_SUCCESS;
  });
  return code;
}

MPI_Status* at(MPI_Status* statuses, int index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[index];
}

/// Completes the requests at these indices; the return code is MPI_ERR_IN_STATUS when one failed (MPI 3.1, 3.7.5), and
/// each status says how its own ended.
int complete_many(MPI_Request* requests, const std::vector<int>& indices, MPI_Status* statuses) {
  int result = MPI_SUCCESS;
  std::vector<int> codes;
  for (std::size_t n = 0; n < indices.size(); ++n) {
    codes.push_back(complete(&requests[indices[n]], at(statuses, static_cast<int>(n))));
    if (codes.back() != MPI_SUCCESS) result = MPI_ERR_IN_STATUS;
  }
  for (std::size_t n = 0; statuses != MPI_STATUSES_IGNORE && n < codes.size(); ++n) {
    statuses[n].MPI_ERROR = codes[n];
  }
  return result;
}

std::vector<int> done_indices(int count, const MPI_Request* requests) {
  std::vector<int> done;
  for (int i = 0; i < count; ++i) {
    if (!idle(requests[i]) && done_now(requests[i])) done.push_back(i);
  }
  return done;
}

bool all_idle(int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i) {
    if (!idle(requests[i])) return false;
  }
  return true;
}

int first_done(int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i) {
    if (!idle(requests[i]) && done_now(requests[i])) return i;
  }
  return MPI_UNDEFINED;
}

/// The leader's list of completed requests, told to the followers. `own`: what was found already.
std::vector<int> decide_list(int count, const MPI_Request* requests, std::vector<int> own) {
  std::vector<int> list;
  std::size_t at = 0;
  const auto look = [&] {
    if (at < own.size()) return;
    at = 0;
    wait_until([&] {
      own = done_indices(count, requests);
      std::erase_if(own, [&](int index) { return std::find(list.begin(), list.end(), index) != list.end(); });
      return !own.empty();
    });
  };
  const std::int64_t n = decide_number([&] {
    look();
    return static_cast<std::int64_t>(own.size());
  });
  while (static_cast<std::int64_t>(list.size()) < n) {
    list.push_back(static_cast<int>(decide_number([&] {
      look();
      return std::int64_t{own[at++]};
    })));
  }
  return list;
}

int decide_first(int count, const MPI_Request* requests, int own) {
  return static_cast<int>(decide_number([&] {
    if (own == MPI_UNDEFINED) wait_until([&] { return (own = first_done(count, requests)) != MPI_UNDEFINED; });
    return std::int64_t{own};
  }));
}

}  // namespace

int hook::Wait(MPI_Request* request, MPI_Status* status) {
  pass_point();
  flush_decisions();
  if (idle(*request) || !runtime().verifying) return real().Wait(request, status);
  return complete(request, status);
}

int hook::Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  pass_point();
  flush_decisions();
  if (!runtime().verifying || count < 0) return real().Waitall(count, requests, statuses);
  std::vector<int> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = i;
  return complete_many(requests, all, statuses);
}

int hook::Waitany(int count, MPI_Request requests[], int* indx, MPI_Status* status) {
  pass_point();
  flush_decisions();
  if (!runtime().verifying || all_idle(count, requests)) return real().Waitany(count, requests, indx, status);
  *indx = decide_first(count, requests, MPI_UNDEFINED);
  return complete(&requests[*indx], status);
}

int hook::Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  pass_point();
  flush_decisions();
  if (!runtime().verifying || all_idle(incount, requests)) {
    return real().Waitsome(incount, requests, outcount, indices, statuses);
  }
  const std::vector<int> done = decide_list(incount, requests, {});
  *outcount = static_cast<int>(done.size());
  for (std::size_t i = 0; i < done.size(); ++i) indices[i] = done[i];
  return complete_many(requests, done, statuses);
}

int hook::Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (idle(*request) || !runtime().verifying) return real().Test(request, flag, status);
  *flag = decide([&] {
    progress();
    return done_now(*request);
  });
  return *flag ? complete(request, status) : MPI_SUCCESS;
}

int hook::Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!runtime().verifying || all_idle(count, requests)) return real().Testall(count, requests, flag, statuses);
  *flag = decide([&] {
    progress();
    for (int i = 0; i < count; ++i) {
      if (!idle(requests[i]) && !done_now(requests[i])) return false;
    }
    return true;
  });
  return *flag ? Waitall(count, requests, statuses) : MPI_SUCCESS;
}

int hook::Testany(int count, MPI_Request requests[], int* indx, int* flag, MPI_Status* status) {
  if (!runtime().verifying || all_idle(count, requests)) return real().Testany(count, requests, indx, flag, status);
  int index = MPI_UNDEFINED;
  *flag = decide([&] {
    progress();
    index = first_done(count, requests);
    return index != MPI_UNDEFINED;
  });
  *indx = MPI_UNDEFINED;
  if (!*flag) return MPI_SUCCESS;
  *indx = decide_first(count, requests, index);
  return complete(&requests[*indx], status);
}

int hook::Testsome(int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  if (!runtime().verifying || all_idle(incount, requests)) {
    return real().Testsome(incount, requests, outcount, indices, statuses);
  }
  std::vector<int> done;
  const bool any = decide([&] {
    progress();
    done = done_indices(incount, requests);
    return !done.empty();
  });
  *outcount = 0;
  if (!any) return MPI_SUCCESS;
  done = decide_list(incount, requests, std::move(done));
  *outcount = static_cast<int>(done.size());
  for (std::size_t i = 0; i < done.size(); ++i) indices[i] = done[i];
  return complete_many(requests, done, statuses);
}

int hook::Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (!runtime().verifying || idle(request)) return real().Request_get_status(request, flag, status);
  *flag = decide([&] {
    progress();
    return done_now(request);
  });
  if (!*flag) return MPI_SUCCESS;
  wait_until([&] { return done_now(request); });
  const Operation* op = runtime().requests.find(request);
  if (!op) return real().Request_get_status(request, flag, status);
  hand_over(op->status, status);
  return MPI_SUCCESS;
}

#ifdef HOLDFAST_HAS_Request_get_status_all
// Of several requests (MPI 4.1, section 3.7.6): each is asked as by itself, so that every replica gets the same
// answers.
int hook::Request_get_status_all(int count, MPI_Request requests[], int* flag, MPI_Status* statuses) {
  if (!runtime().verifying) return real().Request_get_status_all(count, requests, flag, statuses);
  *flag = 1;
  for (int i = 0; i < count; ++i) {
    int done = 0;
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    const int code = Request_get_status(requests[i], &done, status);
    if (code != MPI_SUCCESS) return code;
    *flag = *flag && done;
  }
  return MPI_SUCCESS;
}

int hook::Request_get_status_any(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!runtime().verifying || std::all_of(requests, requests + count, idle)) {
    return real().Request_get_status_any(count, requests, index, flag, status);
  }
  *flag = 0;
  *index = MPI_UNDEFINED;
  for (int i = 0; i < count && !*flag; ++i) {
    if (idle(requests[i])) continue;
    const int code = Request_get_status(requests[i], flag, status);
    if (code != MPI_SUCCESS) return code;
    if (*flag) *index = i;
  }
  return MPI_SUCCESS;
}

int hook::Request_get_status_some(int count, MPI_Request requests[], int* found, int indices[], MPI_Status* statuses) {
  if (!runtime().verifying || std::all_of(requests, requests + count, idle)) {
    return real().Request_get_status_some(count, requests, found, indices, statuses);
  }
  *found = 0;
  for (int i = 0; i < count; ++i) {
    if (idle(requests[i])) continue;
    int done = 0;
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*found];
    const int code = Request_get_status(requests[i], &done, status);
    if (code != MPI_SUCCESS) return code;
    if (done) indices[(*found)++] = i;
  }
  return MPI_SUCCESS;
}
#endif

int hook::Request_free(MPI_Request* request) {
  Operation* op = runtime().requests.find(*request);
  if (!op || !runtime().verifying) {
    if (op) runtime().requests.drop(*op);
    return real().Request_free(request);
  }
  if (op->idle()) {
    if (op->partitions) forget_partitioned(*op);
    for (MPI_Request& other : op->other_worlds) real().Request_free(&other);
    runtime().requests.drop(*op);
    return real().Request_free(request);
  }
  runtime().requests.orphan(*op);  // its message must still be verified
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int hook::Cancel(MPI_Request* request) {
  if (!runtime().verifying) return real().Cancel(request);
  if (*request == MPI_REQUEST_NULL || is_own_request(*request)) return real().Cancel(request);
  Operation* op = runtime().requests.find(*request);
  // Open MPI takes it, or falls over it.
  if (op && op->idle() && !op->partitions && !is_open_mpi()) return real().Cancel(request);
  // A send that is not cancelled is one that was in time (MPI 3.1, 3.8.4): replicas need no agreement on that.
  if (!op || op->kind != Operation::Kind::receive || op->partitions || op->idle()) return MPI_SUCCESS;
  cancel_receive(*op);
  return MPI_SUCCESS;
}

}  // namespace holdfast::replicate
