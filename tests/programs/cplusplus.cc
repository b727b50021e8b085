// The C++ bindings of MPI 2: what they call back are functions that take objects. As in callbacks.c each looks at the
// world from inside, where it must be the one that the program knows, and talks there.
#include "scenarios.h"

static int seen, deleted, copied;

// A collective of the callback's own, in a world of the program's size.
static int everybody() {
  const int one = 1;
  int all = 0;
  MPI::COMM_WORLD.Allreduce(&one, &all, 1, MPI::INT, MPI::SUM);
  return all;
}

static void on_communicator(MPI::Comm& comm, int* code, ...) {
  seen = *code == MPI::ERR_OTHER && comm == MPI::COMM_WORLD ? everybody() : -1;
}

static void on_copy(MPI::Comm& comm, int* code, ...) {
  seen = *code == MPI::ERR_OTHER && comm != MPI::COMM_WORLD && comm.Get_size() == ranks ? everybody() : -1;
}

static void on_window(MPI::Win& window, int* code, ...) {
  void* base = nullptr;
  seen = *code == MPI::ERR_OTHER && window.Get_attr(MPI::WIN_BASE, &base) && base ? everybody() : -1;
}

static void on_file(MPI::File& file, int* code, ...) {
  seen = *code == MPI::ERR_OTHER && file.Get_size() == 0 ? everybody() : -1;
}

static void error_handlers() {
  MPI::Errhandler handler = MPI::Comm::Create_errhandler(on_communicator);
  MPI::COMM_WORLD.Set_errhandler(handler);
  seen = 0;
  MPI::COMM_WORLD.Call_errhandler(MPI::ERR_OTHER);
  CHECK(seen == ranks);
  MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_ARE_FATAL);
  handler.Free();

  MPI::Errhandler of_copy = MPI::Comm::Create_errhandler(on_copy);
  MPI::Intracomm first = MPI::COMM_WORLD.Dup();
  first.Set_errhandler(of_copy);
  of_copy.Free();
  MPI::Intracomm second = first.Dup();  // with the handler of the first
  first.Free();
  seen = 0;
  second.Call_errhandler(MPI::ERR_OTHER);
  CHECK(seen == ranks);
  second.Free();

  int memory[4] = {0, 0, 0, 0};
  MPI::Win window = MPI::Win::Create(memory, sizeof memory, 1, MPI::INFO_NULL, MPI::COMM_WORLD);
  MPI::Errhandler of_window = MPI::Win::Create_errhandler(on_window);
  window.Set_errhandler(of_window);
  of_window.Free();
  seen = 0;
  window.Call_errhandler(MPI::ERR_OTHER);
  CHECK(seen == ranks);
  window.Free();

  MPI::File file = MPI::File::Open(MPI::COMM_WORLD, "cplusplus.data",
                                   MPI::MODE_CREATE | MPI::MODE_RDWR | MPI::MODE_DELETE_ON_CLOSE, MPI::INFO_NULL);
  MPI::Errhandler of_file = MPI::File::Create_errhandler(on_file);
  file.Set_errhandler(of_file);
  of_file.Free();
  seen = 0;
  file.Call_errhandler(MPI::ERR_OTHER);
  CHECK(seen == ranks);
  file.Set_errhandler(MPI::ERRORS_RETURN);
  file.Close();
}

#ifndef OPEN_MPI  // Debian's throws none
static void exceptions() {
  MPI::Intracomm copy = MPI::COMM_WORLD.Dup();
  copy.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  int caught = MPI::SUCCESS, value = 0;
  try {
    copy.Send(&value, 1, MPI::INT, ranks + 3, 0);
  } catch (MPI::Exception& exception) {
    caught = exception.Get_error_class();
  }
  CHECK(caught == MPI::ERR_RANK);
  CHECK(everybody() == ranks);  // and the library is as it was
  copy.Free();
}
#endif

static int copy_attribute(const MPI::Comm& comm, int, void* state, void* in, void* out, bool& flag) {
  copied += *static_cast<int*>(state) == 17 && comm == MPI::COMM_WORLD && comm.Get_size() == ranks;
  *static_cast<void**>(out) = in;
  flag = true;
  return MPI::SUCCESS;
}

static int delete_attribute(MPI::Comm& comm, int, void* value, void* state) {
  deleted += *static_cast<int*>(state) == 17 && *static_cast<int*>(value) == 5 && comm.Get_size() == ranks;
  return MPI::SUCCESS;
}

// The standard has a pointer to what is constant here and MPICH does not.
template <class In>
static int copy_of_type(const MPI::Datatype& type, int, void* state, In* in, void* out, bool& flag) {
  copied += *static_cast<int*>(state) == 18 && type.Get_size() == 3 * static_cast<int>(sizeof(int));
  *static_cast<In**>(out) = in;
  flag = true;
  return MPI::SUCCESS;
}

static int delete_of_type(MPI::Datatype& type, int, void*, void* state) {
  deleted += *static_cast<int*>(state) == 18 && type.Get_size() == 3 * static_cast<int>(sizeof(int));
  return MPI::SUCCESS;
}

template <class In>
static int copy_of_window(const MPI::Win&, int, void*, In*, void*, bool& flag) {
  flag = false;  // never called: windows are not copied
  return MPI::SUCCESS;
}

static int delete_of_window(MPI::Win& window, int, void*, void* state) {
  MPI::Group group = window.Get_group();
  deleted += *static_cast<int*>(state) == 19 && group.Get_size() == ranks;
  group.Free();
  return MPI::SUCCESS;
}

static void attributes() {
  static int state = 17, of_type = 18, of_window = 19, value = 5;
  copied = deleted = 0;
  int keyval = MPI::Comm::Create_keyval(copy_attribute, delete_attribute, &state);
  MPI::COMM_WORLD.Set_attr(keyval, &value);
  MPI::Intracomm copy = MPI::COMM_WORLD.Dup();
  CHECK(copied == 1);
  int* got = nullptr;
  CHECK(copy.Get_attr(keyval, &got) && got == &value);
  copy.Free();
  CHECK(deleted == 1);
  MPI::COMM_WORLD.Delete_attr(keyval);
  CHECK(deleted == 2);
  MPI::Comm::Free_keyval(keyval);

  keyval = MPI::Datatype::Create_keyval(copy_of_type, delete_of_type, &of_type);
  MPI::Datatype three = MPI::INT.Create_contiguous(3);
  three.Set_attr(keyval, &value);
  MPI::Datatype other = three.Dup();
  CHECK(copied == 2);
  other.Free();
  three.Free();
  CHECK(deleted == 4);
  MPI::Datatype::Free_keyval(keyval);

  keyval = MPI::Win::Create_keyval(copy_of_window, delete_of_window, &of_window);
  MPI::Win window = MPI::Win::Create(&value, sizeof value, 1, MPI::INFO_NULL, MPI::COMM_WORLD);
  window.Set_attr(keyval, &value);
  window.Free();
  CHECK(deleted == 5);
  MPI::Win::Free_keyval(keyval);
}

static void largest(const void* in, void* inout, int length, const MPI::Datatype& type) {
  seen = MPI::COMM_WORLD.Get_size();
  const int* a = static_cast<const int*>(in);
  int* b = static_cast<int*>(inout);
  for (int i = 0; i < length * type.Get_size() / static_cast<int>(sizeof(int)); ++i) b[i] = a[i] > b[i] ? a[i] : b[i];
}

static void operations() {
  MPI::Op op;
  op.Init(largest, true);
  const int own[3] = {rank, -rank, 2 * rank};
  int all[3] = {-1, -1, -1};
  seen = ranks;
  MPI::COMM_WORLD.Allreduce(own, all, 3, MPI::INT, op);
  CHECK(seen == ranks && all[0] == ranks - 1 && all[1] == 0 && all[2] == 2 * ranks - 2);
  op.Free();
}

static int query(void* state, MPI::Status& status) {
  seen = *static_cast<int*>(state) == 17 ? MPI::COMM_WORLD.Get_size() : -1;
  status.Set_elements(MPI::INT, 3);
  status.Set_cancelled(false);
  status.Set_tag(7);
  return MPI::SUCCESS;
}

static int release(void* state) {
  deleted += *static_cast<int*>(state) == 17;
  return MPI::SUCCESS;
}

static int cancel(void*, bool) {
  return MPI::SUCCESS;
}

static void generalised_requests() {
  static int state = 17;
  deleted = seen = 0;
  MPI::Grequest request;
  request = request.Start(query, release, cancel, &state);  // no static function in MPICH
  request.Complete();
  MPI::Status status;
  request.Wait(status);
  CHECK(seen == ranks && deleted == 1 && status.Get_tag() == 7 && status.Get_elements(MPI::INT) == 3);
}

int main(int argc, char** argv) {
  static const Scenario scenarios[] = {
      {"error_handlers", error_handlers},
#ifndef OPEN_MPI
      {"exceptions", exceptions},
#endif
      {"attributes", attributes},         {"operations", operations}, {"generalised_requests", generalised_requests},
  };
  MPI::Init(argc, argv);
  const int code = run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  MPI::Finalize();
  return code;
}
