/* What MPI calls back: operations, error handlers, attribute callbacks, generalised requests. Each looks at the world
 * from inside, where it must be the one that the program knows. */
#include "scenarios.h"

static int seen_size, seen_world, deleted, order[8], handled, handled_class;

static void look_at_world(void) {
  MPI_Comm_size(MPI_COMM_WORLD, &seen_size);
}

static void product_of_pairs(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  look_at_world();
  const double* a = in;
  double* b = inout;
  for (int i = 0; i < *length; ++i) {
    const double x = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
    b[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
    b[2 * i] = x;
  }
}

static void operations(void) {
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(product_of_pairs, 1, &op);
  double own[2] = {0, 1}, all[2];
  seen_size = ranks;
  MPI_Allreduce(own, all, 1, pair, op, MPI_COMM_WORLD);
  CHECK(seen_size == ranks);
  const double real[4] = {1, 0, -1, 0}, imaginary[4] = {0, 1, 0, -1};
  CHECK(all[0] == real[ranks % 4] && all[1] == imaginary[ranks % 4]);
  MPI_Request request;
  MPI_Ireduce(own, all, 1, pair, op, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int commutes;
  MPI_Op_commutative(op, &commutes);
  CHECK(commutes);
  double third[2] = {0, 1};
  MPI_Reduce_local(own, third, 1, pair, op);
  CHECK(third[0] == -1 && third[1] == 0);
  MPI_Op_free(&op);
  CHECK(op == MPI_OP_NULL);
  MPI_Type_free(&pair);
}

static void note_error(MPI_Comm* comm, int* code, ...) {
  ++handled;
  seen_world = *comm == MPI_COMM_WORLD;
  look_at_world();
  MPI_Error_class(*code, &handled_class);
}

static void error_handlers(void) {
  MPI_Errhandler handler, before, got;
  MPI_Comm_create_errhandler(note_error, &handler);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
  CHECK(got == handler);
  int value = 1;
  handled = 0;
  MPI_Send(&value, 1, MPI_INT, ranks + 3, 0, MPI_COMM_WORLD);
  CHECK(handled == 1 && handled_class == MPI_ERR_RANK && seen_world && seen_size == ranks);
  MPI_Recv(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(handled == 2 && handled_class == MPI_ERR_COUNT);
  MPI_Bcast(&value, 1, MPI_INT, ranks, MPI_COMM_WORLD);
  CHECK(handled == 3 && handled_class == MPI_ERR_ROOT);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
  CHECK(handled == 4 && handled_class == MPI_ERR_OTHER);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Send(&value, 1, MPI_INT, 0, -7, copy);
  CHECK(handled == 5 && handled_class == MPI_ERR_TAG && !seen_world);
  MPI_Comm_free(&copy);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&handler);
  MPI_Errhandler_free(&before);
  MPI_Errhandler_free(&got);
}

static int copy_attribute(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)keyval;
  look_at_world();
  seen_world = comm == MPI_COMM_WORLD;
  *(int*)extra += 1;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value;
  look_at_world();
  *(int*)extra += 10;
  ++deleted;
  return MPI_SUCCESS;
}

static void attributes(void) {
  static char memory[8];
  int keyval, flag, counted = 0;
  void* value;
  MPI_Comm copy, again;
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, &counted);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, memory);
  MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
  CHECK(flag && value == memory);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  CHECK(counted == 1 && seen_world && seen_size == ranks);
  MPI_Comm_get_attr(copy, keyval, &value, &flag);
  CHECK(flag && value == memory + 1);
  MPI_Comm_dup(copy, &again);
  CHECK(counted == 2 && !seen_world);
  MPI_Comm_free(&again);
  CHECK(counted == 12);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
  CHECK(counted == 22);
  MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
  CHECK(!flag);
  MPI_Comm_free(&copy);
  CHECK(counted == 32 && deleted == 3);
  MPI_Comm_free_keyval(&keyval);
  CHECK(keyval == MPI_KEYVAL_INVALID);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, memory);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_get_attr(copy, keyval, &value, &flag);
  CHECK(flag && value == memory);
  MPI_Comm_free(&copy);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
  MPI_Comm_free_keyval(&keyval);
  int* bound;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
  CHECK(flag && *bound >= 32767);
}

static int copy_of_type(MPI_Datatype type, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)type, (void)keyval, (void)extra;
  look_at_world();
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_of_type(MPI_Datatype type, int keyval, void* value, void* extra) {
  (void)type, (void)keyval, (void)value;
  look_at_world();
  *(int*)extra += 1;
  return MPI_SUCCESS;
}

static void type_attributes(void) {
  int keyval, flag, counted = 0, value = 5, *got;
  MPI_Datatype type, copy;
  MPI_Type_create_keyval(copy_of_type, delete_of_type, &keyval, &counted);
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Type_set_attr(type, keyval, &value);
  seen_size = 0;
  MPI_Type_dup(type, &copy);
  CHECK(seen_size == ranks);
  MPI_Type_get_attr(copy, keyval, &got, &flag);
  CHECK(flag && got == &value);
  MPI_Type_free(&copy);
  MPI_Type_free(&type);
  CHECK(counted == 2);
  MPI_Type_free_keyval(&keyval);
}

static int queried, freed, cancels;
static int query(void* state, MPI_Status* status) {
  look_at_world();
  ++queried;
  MPI_Status_set_elements(status, MPI_INT, *(int*)state);
  MPI_Status_set_cancelled(status, cancels > 0);
  status->MPI_SOURCE = 7;
  status->MPI_TAG = 9;
  return MPI_SUCCESS;
}
static int release(void* state) {
  (void)state;
  ++freed;
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)state;
  cancels += complete ? 100 : 1;
  return MPI_SUCCESS;
}

static void generalised_requests(void) {
  int length = 3, count, flag;
  MPI_Request request;
  MPI_Status status;
  queried = freed = cancels = seen_size = 0;
  MPI_Grequest_start(query, release, cancel, &length, &request);
  MPI_Test(&request, &flag, &status);
  CHECK(!flag);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 3 && status.MPI_SOURCE == 7 && status.MPI_TAG == 9 && request == MPI_REQUEST_NULL);
  CHECK(queried >= 1 && freed == 1 && seen_size == ranks);
  MPI_Grequest_start(query, release, cancel, &length, &request);
  MPI_Cancel(&request);
  CHECK(cancels == 1);
  MPI_Grequest_complete(request);
  MPI_Request both[2] = {MPI_REQUEST_NULL, request};
  int index;
  MPI_Waitany(2, both, &index, &status);
  CHECK(index == 1 && freed == 2);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag);
}

static int at_the_end(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval, (void)extra;
  look_at_world();
  int own = 1, all = 0;
  if (comm == MPI_COMM_SELF) MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  order[*(int*)value] = ++deleted;
  if (rank == 0)
    printf("attribute %d of %s deleted: %d ranks, sum %d\n", *(int*)value,
           comm == MPI_COMM_SELF    ? "MPI_COMM_SELF"
           : comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD"
                                    : "another communicator",
           seen_size, all);
  return MPI_SUCCESS;
}

static void deleted_at_the_end(void) {
  static int numbers[3] = {0, 1, 2};
  int keyvals[3];
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &keyvals[i], NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[i], &numbers[i]);
  }
  MPI_Comm_free_keyval(&keyvals[1]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Scenario scenarios[] = {
      {"operations", operations},
      {"error_handlers", error_handlers},
      {"attributes", attributes},
      {"type_attributes", type_attributes},
      {"generalised_requests", generalised_requests},
      {"deleted_at_the_end", deleted_at_the_end},
  };
  const int code = run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  MPI_Finalize();
  return code;
}
