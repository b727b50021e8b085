// Parallel I/O (MPI 3.1, chapter 13); file.h and docs/design/parallel-io.md say who does what.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/engine/mix.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/mpi/collective/collective.h"
#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/mpi/io/common_file.h"
#include "replicate/mpi/io/file.h"
#include "replicate/mpi/pointtopoint/send.h"
#include "replicate/mpi/verify/type_contents.h"

namespace holdfast::replicate {

namespace {

constexpr std::uint64_t file_mark = 0x66696c65;     // tells a file's id from a communicator's
constexpr std::uint64_t opening_mark = 0x6f70656e;  // and what is compared before it is open from what is after

/// Which file pointer a call moves.
enum class Pointer { none, own, shared };

/// Whether a call is one rank's or a collective one.
enum class Together { alone, all };

File* protected_file(MPI_File fh) {
  return runtime().verifying ? files().find(fh) : nullptr;
}

/// Arguments that MPI takes; where not, it is called all the same, and raises the error.
File* accessed(MPI_File fh, int count, MPI_Datatype type) {
  return count >= 0 && type != MPI_DATATYPE_NULL ? protected_file(fh) : nullptr;
}

/// A call of the application on a file, whose answers are ordered by file. Of several threads, one at a time may move
/// the file's pointers; accesses with an explicit offset (`at`) are told apart by that.
class FileCall {
 public:
  FileCall(Function function, File& file, const MPI_Offset* at = nullptr) : function_(function), file_(file), at_(at) {
    if (!at) inside_.emplace(function, file.pointers);
    note_call(function, runtime().comms.find(runtime().world), -1, 0, 0);
    if (asked_by_channel()) asking.order = file.id;
  }

  /// Names the next comparison of this call, which accesses so many bytes.
  Comparison next(std::uint64_t bytes) {
    return at_ ? file_.at(function_, *at_, bytes)
               : file_.next(many_threads() ? mix(bytes, static_cast<std::uint64_t>(function_)) : 0);
  }

 private:
  Function function_;
  File& file_;
  const MPI_Offset* at_;
  std::optional<OneThread::Call> inside_;
};

Region memory(const void* buffer, int count, MPI_Datatype type) {
  return Region::keep(buffer, static_cast<std::uint64_t>(std::max(count, 0)), type);
}

std::vector<Region> one(Region region) {
  std::vector<Region> regions;
  if (region.bytes() > 0) regions.push_back(std::move(region));
  return regions;
}

/// What is written, and where it goes.
std::vector<Region> with_offset(Region region, MPI_Offset* at) {
  std::vector<Region> regions = one(std::move(region));
  if (at) regions.push_back(Region::borrow(at, sizeof *at, MPI_BYTE));
  return regions;
}

std::int64_t bytes_in(const MPI_Status& status) {
  MPI_Count bytes = 0;  // more than an int holds, where elements are large
  real().Get_elements_x(&status, MPI_BYTE, &bytes);
  return std::max<std::int64_t>(bytes, 0);
}

/// The class of an error, which means the same in every replica.
int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) real().Error_class(code, &error_class);
  return error_class;
}

/// The leader's outcome in every replica: its own error code at the leader, the class of it at the others, raised there
/// on their own handle.
int raised(int code, int error_class, MPI_File fh) {
  if (runtime().leader()) return code;
  if (error_class != MPI_SUCCESS) real().File_call_errhandler(fh, error_class);
  return error_class;
}

int leaders_code(int code, MPI_File fh) {
  return raised(code, static_cast<int>(decide_index(class_of(code))), fh);
}

/// What came of an access that the leader made alone; `code` is this replica's own.
struct Outcome {
  std::int64_t error_class = MPI_SUCCESS;
  std::int64_t bytes = 0;
};

Outcome leaders_outcome(Function function, const Comparison& name, int code, const MPI_Status& own) {
  Outcome outcome;
  if (runtime().leader()) outcome = {class_of(code), code == MPI_SUCCESS ? bytes_in(own) : 0};
  std::vector<Region> told;
  told.push_back(Region::borrow(&outcome, sizeof outcome, MPI_BYTE));
  copy_from_leader(function, name, std::move(told));
  return outcome;
}

/// What replica 0 alone does. It may wait for other ranks, so other threads go on meanwhile.
template <class Call>
int by_leader(Call call) {
  return runtime().leader() ? call_that_waits(call) : MPI_SUCCESS;
}

/// A follower's own file pointer goes where the leader's went.
void move_pointer(MPI_File fh, std::int64_t bytes) {
  MPI_Offset displacement = 0;
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  char representation[MPI_MAX_DATAREP_STRING + 1];
  int size = 1;
  real().File_get_view(fh, &displacement, &etype, &filetype, representation);
  real().Type_size(etype, &size);
  real().File_seek(fh, bytes / std::max(size, 1), MPI_SEEK_CUR);
  free_unless_predefined(etype);
  free_unless_predefined(filetype);
}

void give(MPI_Status* status, const MPI_Status& own, std::int64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  *status = own;
  real().Status_set_elements_x(status, MPI_BYTE, bytes);
  real().Status_set_cancelled(status, 0);
}

/// In atomic mode ranks may access the same bytes at once, and what a read finds depends on who came first (MPI 3.1,
/// 13.6.1).
bool in_atomic_mode(MPI_File fh) {
  int flag = 0;
  real().File_get_atomicity(fh, &flag);
  return flag != 0;
}

/// What depends on the order in which ranks come: the leader reads, and the others get what it read.
template <class Call>
int read_by_leader(Function function, File& file, void* buffer, int count, MPI_Datatype type, MPI_Status* status,
                   Pointer pointer, Call call, const MPI_Offset* at) {
  FileCall access(function, file, at);
  MPI_Status own{};
  const int own_code = by_leader([&] { return call(&own); });
  Region region = memory(buffer, count, type);
  const std::uint64_t length = region.bytes();
  const Outcome outcome = leaders_outcome(function, access.next(length), own_code, own);
  const int code = raised(own_code, static_cast<int>(outcome.error_class), file.handle);
  if (code != MPI_SUCCESS) return code;
  if (pointer == Pointer::own && !runtime().leader()) move_pointer(file.handle, outcome.bytes);
  const Comparison name = access.next(length);
  region.limit(static_cast<std::uint64_t>(outcome.bytes));
  copy_from_leader(function, name, one(std::move(region)));
  give(status, own, outcome.bytes);
  return code;
}

/// Every replica reads; the outcome is compared. By the shared pointer the leader reads, where that stands when its
/// turn comes.
template <class Call>
int read(Function function, MPI_File fh, void* buffer, int count, MPI_Datatype type, MPI_Status* status,
         Pointer pointer, Call call, const MPI_Offset* at = nullptr) {
  File* file = accessed(fh, count, type);
  if (!file) return call(status);
  if (pointer == Pointer::shared || in_atomic_mode(fh))
    return read_by_leader(function, *file, buffer, count, type, status, pointer, call, at);
  FileCall access(function, *file, at);
  MPI_Status own{};
  const int code = call_that_waits([&] { return call(&own); });
  if (code != MPI_SUCCESS) return code;
  Region region = memory(buffer, count, type);
  const Comparison name = access.next(region.bytes());
  region.limit(static_cast<std::uint64_t>(bytes_in(own)));
  compare_in_team(function, name, one(std::move(region)));
  if (status != MPI_STATUS_IGNORE) *status = own;
  return code;
}

/// A collective write may end in one rank when its data is with the rank that writes it for all, so all of the leader's
/// ranks end theirs before a follower may read (Open MPI's two-phase writes do so).
int after_all(File& file, int code) {
  call_that_waits([&] { return real().Barrier(file.comm); });
  return code;
}

/// The data is compared, and corrected where it lies; then the leader writes, and the others wait until it has.
template <class Call>
int write(Function function, MPI_File fh, const void* buffer, int count, MPI_Datatype type, MPI_Status* status,
          Pointer pointer, Together together, Call call, MPI_Offset* at = nullptr) {
  File* file = accessed(fh, count, type);
  if (!file) return call(status);
  FileCall access(function, *file, at);
  Region region = memory(buffer, count, type);
  const std::uint64_t length = region.bytes();
  inject(region, -1);
  compare_in_team(function, access.next(length), with_offset(std::move(region), at));
  MPI_Status own{};
  int code = by_leader([&] { return call(&own); });
  if (runtime().leader() && together == Together::all) code = after_all(*file, code);
  const Outcome outcome = leaders_outcome(function, access.next(length), code, own);
  code = raised(code, static_cast<int>(outcome.error_class), fh);
  if (code != MPI_SUCCESS) return code;
  if (pointer == Pointer::own && !runtime().leader()) move_pointer(fh, outcome.bytes);
  give(status, own, outcome.bytes);
  return code;
}

std::shared_ptr<InTurn> queue_of(const File& file, Together together) {
  return together == Together::all ? file.in_flight : nullptr;
}

template <class Call>
int start_read(Function function, MPI_File fh, void* buffer, int count, MPI_Datatype type, MPI_Request* request,
               Pointer pointer, Together together, Call call, const MPI_Offset* at = nullptr) {
  File* file = accessed(fh, count, type);
  if (!file) return call(request);
  FileCall access(function, *file, at);
  Region region = memory(buffer, count, type);
  const std::uint64_t length = region.bytes();
  if (pointer == Pointer::shared || in_atomic_mode(fh)) {
    const int own_code = by_leader([&] { return call(request); });
    const Outcome outcome = leaders_outcome(function, access.next(length), own_code, {});
    const int code = raised(own_code, static_cast<int>(outcome.error_class), fh);
    if (code != MPI_SUCCESS) return code;
    if (pointer == Pointer::own && !runtime().leader()) move_pointer(fh, static_cast<std::int64_t>(length));
    follow_leader(function, access.next(length), request, one(std::move(region)), queue_of(*file, together));
    return code;
  }
  const int code = call_that_waits([&] { return call(request); });
  if (code == MPI_SUCCESS)
    follow_file(function, access.next(length), request, one(std::move(region)), queue_of(*file, together));
  return code;
}

template <class Call>
int start_write(Function function, MPI_File fh, const void* buffer, int count, MPI_Datatype type, MPI_Request* request,
                Pointer pointer, Together together, Call call, MPI_Offset* at = nullptr) {
  File* file = accessed(fh, count, type);
  if (!file) return call(request);
  FileCall access(function, *file, at);
  Region region = memory(buffer, count, type);
  const std::uint64_t length = region.bytes();
  inject(region, -1);
  compare_in_team(function, access.next(length), with_offset(std::move(region), at));
  const int own_code = by_leader([&] { return call(request); });
  const Outcome outcome = leaders_outcome(function, access.next(length), own_code, {});
  const int code = raised(own_code, static_cast<int>(outcome.error_class), fh);
  if (code != MPI_SUCCESS) return code;
  if (pointer == Pointer::own && !runtime().leader()) move_pointer(fh, static_cast<std::int64_t>(length));
  follow_leader(function, access.next(length), request, {}, queue_of(*file, together));
  return code;
}

/// What changes the file itself: once, when all replicas have come.
template <class Call>
int change(Function function, MPI_File fh, Call call) {
  File* file = protected_file(fh);
  if (!file) return call();
  const FileCall inside(function, *file);
  arrive(function, *file);
  return leaders_code(by_leader(call), fh);
}

template <class Call>
int end_split(MPI_File fh, MPI_Status* status, Call call) {
  File* file = protected_file(fh);
  if (!file) return call(status);
  if (status != MPI_STATUS_IGNORE) *status = file->split;
  return MPI_SUCCESS;
}

/// Where the status of a split collective's begin goes.
MPI_Status* split_status(MPI_File fh) {
  File* file = protected_file(fh);
  return file ? &file->split : MPI_STATUS_IGNORE;
}

/// What stands for a file that is deleted by name. Threads that delete different ones are told apart so.
File& deletions(std::string_view filename) {
  static auto* all = new std::unordered_map<std::uint64_t, File>();
  std::uint64_t id = file_mark;
  for (const char letter : filename) id = mix(id, static_cast<unsigned char>(letter));
  File& file = (*all)[id];
  file.id = id;
  return file;
}

}  // namespace

// The leader's open creates the file where it must, so the others open what is there.
namespace {

/// Whom a follower opens a file with. Replica 0 of all ranks is there for what they do together; where degrees differ,
/// others have not all of them in their world, and only read, each by itself.
MPI_Comm followers_comm(MPI_Comm comm) {
  return runtime().partial ? MPI_COMM_SELF : comm;
}

}  // namespace

int hook::File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  if (!runtime().verifying || !known(comm)) return real().File_open(comm, filename, amode, info, fh);
  Comm& from = runtime().comms.find(comm);
  note_call(Function::File_open, from, -1, 0, 0);
  const std::uint64_t id = mix(mix(from.id, from.created++), file_mark);
  const bool changes = (amode & MPI_MODE_RDONLY) == 0 || (amode & (MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE)) != 0;
  const bool speaks = from.rank == 0 && !runtime().partial;
  auto place = std::make_unique<CommonFile>(filename);
  File opening;
  opening.id = mix(id, opening_mark);
  let_copies_end();
  place->come_together(Function::File_open, opening, changes, speaks);
  int code = by_leader([&] { return real().File_open(comm, filename, amode, info, fh); });
  if (!runtime().leader()) *fh = MPI_FILE_NULL;
  code = leaders_code(code, MPI_FILE_NULL);
  if (code != MPI_SUCCESS) return code;
  if (!runtime().leader()) {
    const int opened = amode & ~(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE);
    code = call_that_waits(
        [&] { return real().File_open(followers_comm(comm), place->name_for_mpi(), opened, info, fh); });
    if (code != MPI_SUCCESS) return code;
  }
  File& file = files().add(*fh, id, amode);
  if (changes && (speaks || runtime().partial)) file.place = std::move(place);
  if (runtime().leader() || !runtime().partial) call_that_waits([&] { return real().Comm_dup(comm, &file.comm); });
  arrive(Function::File_open, file);
  return code;
}

int hook::File_close(MPI_File* fh) {
  File* file = protected_file(*fh);
  if (!file) return real().File_close(fh);
  { const FileCall inside(Function::File_close, *file); }
  // What the program changed by other means while it had the file open is in the leader's, too.
  if (file->place && runtime().leader()) file->place->share();
  arrive(Function::File_close, *file);
  if (file->place && !runtime().leader()) file->place->share();
  const MPI_File closed = *fh;
  const int code = call_that_waits([&] {
    if (file->comm != MPI_COMM_NULL) real().Comm_free(&file->comm);
    return real().File_close(fh);
  });
  if (code == MPI_SUCCESS) files().remove(closed);
  return code;
}

int hook::File_delete(const char* filename, MPI_Info info) {
  if (!runtime().verifying) return real().File_delete(filename, info);
  File& deletion = deletions(filename);
  const FileCall inside(Function::File_delete, deletion);
  CommonFile(filename).come_together(Function::File_delete, deletion, true, !runtime().partial);
  return leaders_code(by_leader([&] { return real().File_delete(filename, info); }), MPI_FILE_NULL);
}

int hook::File_get_amode(MPI_File fh, int* amode) {
  const int code = real().File_get_amode(fh, amode);
  if (const File* file = protected_file(fh); file && code == MPI_SUCCESS) *amode = file->amode;
  return code;
}

int hook::File_set_size(MPI_File fh, MPI_Offset size) {
  return change(Function::File_set_size, fh, [&] { return real().File_set_size(fh, size); });
}
int hook::File_preallocate(MPI_File fh, MPI_Offset size) {
  return change(Function::File_preallocate, fh, [&] { return real().File_preallocate(fh, size); });
}
int hook::File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  return change(Function::File_seek_shared, fh, [&] { return real().File_seek_shared(fh, offset, whence); });
}

int hook::File_get_size(MPI_File fh, MPI_Offset* size) {
  File* file = protected_file(fh);
  if (!file) return real().File_get_size(fh, size);
  const FileCall inside(Function::File_get_size, *file);
  const int code = leaders_code(runtime().leader() ? real().File_get_size(fh, size) : MPI_SUCCESS, fh);
  if (code == MPI_SUCCESS) *size = decide_index(runtime().leader() ? *size : 0);
  return code;
}
int hook::File_get_position_shared(MPI_File fh, MPI_Offset* offset) {
  File* file = protected_file(fh);
  if (!file) return real().File_get_position_shared(fh, offset);
  const FileCall inside(Function::File_get_position_shared, *file);
  const int code = leaders_code(runtime().leader() ? real().File_get_position_shared(fh, offset) : MPI_SUCCESS, fh);
  if (code == MPI_SUCCESS) *offset = decide_index(runtime().leader() ? *offset : 0);
  return code;
}

// Reading.
int hook::File_read(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  return read(Function::File_read, fh, buf, count, datatype, status, Pointer::own,
              [&](MPI_Status* s) { return real().File_read(fh, buf, count, datatype, s); });
}
int hook::File_read_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  return read(Function::File_read_all, fh, buf, count, datatype, status, Pointer::own,
              [&](MPI_Status* s) { return real().File_read_all(fh, buf, count, datatype, s); });
}
int hook::File_read_at(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                       MPI_Status* status) {
  return read(
      Function::File_read_at, fh, buf, count, datatype, status, Pointer::none,
      [&](MPI_Status* s) { return real().File_read_at(fh, offset, buf, count, datatype, s); }, &offset);
}
int hook::File_read_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                           MPI_Status* status) {
  return read(
      Function::File_read_at_all, fh, buf, count, datatype, status, Pointer::none,
      [&](MPI_Status* s) { return real().File_read_at_all(fh, offset, buf, count, datatype, s); }, &offset);
}
int hook::File_read_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  return read(Function::File_read_shared, fh, buf, count, datatype, status, Pointer::shared,
              [&](MPI_Status* s) { return real().File_read_shared(fh, buf, count, datatype, s); });
}
int hook::File_read_ordered(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  return read(Function::File_read_ordered, fh, buf, count, datatype, status, Pointer::shared,
              [&](MPI_Status* s) { return real().File_read_ordered(fh, buf, count, datatype, s); });
}
int hook::File_iread(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Request* request) {
  return start_read(Function::File_iread, fh, buf, count, datatype, request, Pointer::own, Together::alone,
                    [&](MPI_Request* r) { return real().File_iread(fh, buf, count, datatype, r); });
}
int hook::File_iread_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Request* request) {
  return start_read(Function::File_iread_all, fh, buf, count, datatype, request, Pointer::own, Together::all,
                    [&](MPI_Request* r) { return real().File_iread_all(fh, buf, count, datatype, r); });
}
int hook::File_iread_at(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                        MPI_Request* request) {
  return start_read(
      Function::File_iread_at, fh, buf, count, datatype, request, Pointer::none, Together::alone,
      [&](MPI_Request* r) { return real().File_iread_at(fh, offset, buf, count, datatype, r); }, &offset);
}
int hook::File_iread_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                            MPI_Request* request) {
  return start_read(
      Function::File_iread_at_all, fh, buf, count, datatype, request, Pointer::none, Together::all,
      [&](MPI_Request* r) { return real().File_iread_at_all(fh, offset, buf, count, datatype, r); }, &offset);
}
int hook::File_iread_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Request* request) {
  return start_read(Function::File_iread_shared, fh, buf, count, datatype, request, Pointer::shared, Together::alone,
                    [&](MPI_Request* r) { return real().File_iread_shared(fh, buf, count, datatype, r); });
}

// Writing.
int hook::File_write(MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  return write(Function::File_write, fh, buf, count, datatype, status, Pointer::own, Together::alone,
               [&](MPI_Status* s) { return real().File_write(fh, buf, count, datatype, s); });
}
int hook::File_write_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  return write(Function::File_write_all, fh, buf, count, datatype, status, Pointer::own, Together::all,
               [&](MPI_Status* s) { return real().File_write_all(fh, buf, count, datatype, s); });
}
int hook::File_write_at(MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
                        MPI_Status* status) {
  return write(
      Function::File_write_at, fh, buf, count, datatype, status, Pointer::none, Together::alone,
      [&](MPI_Status* s) { return real().File_write_at(fh, offset, buf, count, datatype, s); }, &offset);
}
int hook::File_write_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
                            MPI_Status* status) {
  return write(
      Function::File_write_at_all, fh, buf, count, datatype, status, Pointer::none, Together::all,
      [&](MPI_Status* s) { return real().File_write_at_all(fh, offset, buf, count, datatype, s); }, &offset);
}
int hook::File_write_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  return write(Function::File_write_shared, fh, buf, count, datatype, status, Pointer::shared, Together::alone,
               [&](MPI_Status* s) { return real().File_write_shared(fh, buf, count, datatype, s); });
}
int hook::File_write_ordered(MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  return write(Function::File_write_ordered, fh, buf, count, datatype, status, Pointer::shared, Together::all,
               [&](MPI_Status* s) { return real().File_write_ordered(fh, buf, count, datatype, s); });
}
int hook::File_iwrite(MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Request* request) {
  return start_write(Function::File_iwrite, fh, buf, count, datatype, request, Pointer::own, Together::alone,
                     [&](MPI_Request* r) { return real().File_iwrite(fh, buf, count, datatype, r); });
}
int hook::File_iwrite_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Request* request) {
  return start_write(Function::File_iwrite_all, fh, buf, count, datatype, request, Pointer::own, Together::all,
                     [&](MPI_Request* r) { return real().File_iwrite_all(fh, buf, count, datatype, r); });
}
int hook::File_iwrite_at(MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
                         MPI_Request* request) {
  return start_write(
      Function::File_iwrite_at, fh, buf, count, datatype, request, Pointer::none, Together::alone,
      [&](MPI_Request* r) { return real().File_iwrite_at(fh, offset, buf, count, datatype, r); }, &offset);
}
int hook::File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype,
                             MPI_Request* request) {
  return start_write(
      Function::File_iwrite_at_all, fh, buf, count, datatype, request, Pointer::none, Together::all,
      [&](MPI_Request* r) { return real().File_iwrite_at_all(fh, offset, buf, count, datatype, r); }, &offset);
}
int hook::File_iwrite_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype, MPI_Request* request) {
  return start_write(Function::File_iwrite_shared, fh, buf, count, datatype, request, Pointer::shared, Together::alone,
                     [&](MPI_Request* r) { return real().File_iwrite_shared(fh, buf, count, datatype, r); });
}

// Split collectives are done at their begin, which the standard allows (MPI 3.1, 13.4.5); their end has the outcome.
int hook::File_read_all_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
  if (!accessed(fh, count, datatype)) return real().File_read_all_begin(fh, buf, count, datatype);
  return File_read_all(fh, buf, count, datatype, split_status(fh));
}
int hook::File_read_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end_split(fh, status, [&](MPI_Status* s) { return real().File_read_all_end(fh, buf, s); });
}
int hook::File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype) {
  if (!accessed(fh, count, datatype)) return real().File_read_at_all_begin(fh, offset, buf, count, datatype);
  return File_read_at_all(fh, offset, buf, count, datatype, split_status(fh));
}
int hook::File_read_at_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end_split(fh, status, [&](MPI_Status* s) { return real().File_read_at_all_end(fh, buf, s); });
}
int hook::File_read_ordered_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
  if (!accessed(fh, count, datatype)) return real().File_read_ordered_begin(fh, buf, count, datatype);
  return File_read_ordered(fh, buf, count, datatype, split_status(fh));
}
int hook::File_read_ordered_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end_split(fh, status, [&](MPI_Status* s) { return real().File_read_ordered_end(fh, buf, s); });
}
int hook::File_write_all_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
  if (!accessed(fh, count, datatype)) return real().File_write_all_begin(fh, buf, count, datatype);
  return File_write_all(fh, buf, count, datatype, split_status(fh));
}
int hook::File_write_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end_split(fh, status, [&](MPI_Status* s) { return real().File_write_all_end(fh, buf, s); });
}
int hook::File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void* buf, int count, MPI_Datatype datatype) {
  if (!accessed(fh, count, datatype)) return real().File_write_at_all_begin(fh, offset, buf, count, datatype);
  return File_write_at_all(fh, offset, buf, count, datatype, split_status(fh));
}
int hook::File_write_at_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end_split(fh, status, [&](MPI_Status* s) { return real().File_write_at_all_end(fh, buf, s); });
}
int hook::File_write_ordered_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
  if (!accessed(fh, count, datatype)) return real().File_write_ordered_begin(fh, buf, count, datatype);
  return File_write_ordered(fh, buf, count, datatype, split_status(fh));
}
int hook::File_write_ordered_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end_split(fh, status, [&](MPI_Status* s) { return real().File_write_ordered_end(fh, buf, s); });
}

}  // namespace holdfast::replicate
