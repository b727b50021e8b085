/* MPI-IO (MPI 3.1, chapter 13): each way to read and write, on a file in the working directory that goes away at the
 * end. */
#include <unistd.h>

#include "scenarios.h"

enum { length = 32 };
static const char* path = "parallel_io.data";

static int value(int of, int i) {
  return of * 1000 + i;
}

static MPI_File open_file(int mode) {
  MPI_File file;
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  return file;
}

static void remove_file(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int written(MPI_Status* status) {
  int count;
  MPI_Get_count(status, MPI_INT, &count);
  return count;
}

static void explicit_offsets(void) {
  int own[length], got[length];
  MPI_Status status;
  MPI_Offset size;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int i = 0; i < length; ++i) own[i] = value(rank, i);
  MPI_File_write_at(file, rank * (int)sizeof own, own, length, MPI_INT, &status);
  CHECK(written(&status) == length);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  const int next = (rank + 1) % ranks;
  MPI_File_read_at(file, next * (int)sizeof got, got, length, MPI_INT, &status);
  CHECK(written(&status) == length);
  for (int i = 0; i < length; ++i) CHECK(got[i] == value(next, i));
  MPI_File_get_size(file, &size);
  CHECK(size == ranks * (int)sizeof own);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_write_at_all(file, next * (int)sizeof own, own, length, MPI_INT, &status);
  CHECK(written(&status) == length);
  MPI_File_read_at_all(file, next * (int)sizeof own, got, length, MPI_INT, &status);
  CHECK(memcmp(own, got, sizeof own) == 0);
  /* Past the end: what is there counts. */
  MPI_File_read_at(file, size - 8, got, length, MPI_INT, &status);
  CHECK(written(&status) == 2);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_set_size(file, 40);
  MPI_File_get_size(file, &size);
  CHECK(size == 40);
  MPI_Barrier(MPI_COMM_WORLD); /* one process alone may make the file longer */
  MPI_File_preallocate(file, 4096);
  MPI_File_get_size(file, &size);
  CHECK(size == 4096);
  MPI_File_close(&file);
  CHECK(file == MPI_FILE_NULL);
  remove_file();
}

/* Each rank has every ranks-th block of 4 numbers, through a view. */
static void views(void) {
  int own[length], got[length];
  MPI_Status status;
  MPI_Datatype blocks;
  MPI_Offset position;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int i = 0; i < length; ++i) own[i] = value(rank, i);
  MPI_Type_vector(length / 4, 4, 4 * ranks, MPI_INT, &blocks);
  MPI_Type_commit(&blocks);
  MPI_File_set_view(file, 16 + 16 * rank, MPI_INT, blocks, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, own, length / 2, MPI_INT, &status);
  CHECK(written(&status) == length / 2);
  MPI_File_get_position(file, &position);
  CHECK(position == length / 2);
  MPI_File_write(file, own + length / 2, length / 2, MPI_INT, &status);
  MPI_File_get_position(file, &position);
  CHECK(position == length);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_read_all(file, got, length, MPI_INT, &status);
  CHECK(memcmp(own, got, sizeof own) == 0);
  MPI_File_seek(file, 4, MPI_SEEK_SET);
  MPI_File_read(file, got, 4, MPI_INT, &status);
  CHECK(written(&status) == 4 && got[0] == value(rank, 4));
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  int* whole = calloc((size_t)(ranks * length), sizeof(int));
  MPI_File_read_at_all(file, 16, whole, ranks * length, MPI_INT, &status);
  for (int i = 0; i < ranks * length; ++i) CHECK(whole[i] == value(i / 4 % ranks, i / 4 / ranks * 4 + i % 4));
  free(whole);
  MPI_Type_free(&blocks);
  MPI_File_close(&file);
  remove_file();
}

static void non_blocking(void) {
  int own[length], got[length];
  MPI_Status status;
  MPI_Request requests[2];
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int i = 0; i < length; ++i) own[i] = value(rank, i);
  const MPI_Offset begin = rank * (MPI_Offset)sizeof own;
  MPI_File_iwrite_at(file, begin, own, length / 2, MPI_INT, &requests[0]);
  MPI_File_iwrite_at(file, begin + (int)sizeof own / 2, own + length / 2, length / 2, MPI_INT, &requests[1]);
  MPI_Wait(&requests[1], &status);
  CHECK(written(&status) == length / 2);
  MPI_Wait(&requests[0], &status);
  MPI_File_iread_at(file, begin, got, length, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
  CHECK(written(&status) == length && memcmp(own, got, sizeof own) == 0);
  MPI_File_seek(file, begin, MPI_SEEK_SET);
  MPI_File_iread(file, got, length / 2, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_File_iwrite(file, own, length / 2, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_Offset position;
  MPI_File_get_position(file, &position);
  CHECK(position == begin + (int)sizeof own);
  MPI_File_read_at(file, begin + (int)sizeof own / 2, got, length / 2, MPI_INT, &status);
  CHECK(memcmp(own, got, sizeof own / 2) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_iwrite_at_all(file, begin, own, length, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
  CHECK(written(&status) == length);
  MPI_File_iread_at_all(file, begin, got, length, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
  CHECK(memcmp(own, got, sizeof own) == 0);
  MPI_File_seek(file, begin, MPI_SEEK_SET);
  MPI_File_write_all_begin(file, own, length, MPI_INT);
  MPI_File_write_all_end(file, own, &status);
  CHECK(written(&status) == length);
  MPI_File_read_at_all_begin(file, begin, got, length, MPI_INT);
  MPI_File_read_at_all_end(file, got, &status);
  CHECK(written(&status) == length && memcmp(own, got, sizeof own) == 0);
  MPI_File_close(&file);
  remove_file();
}

/* Several collective accesses at once, through a view that changes between them. Interleaved, so that ROMIO exchanges
 * the data between the ranks, in steps that go on while the requests are waited for. */
static void in_flight(void) {
  enum { accesses = 5 };
  int own[accesses][length], got[accesses][length];
  MPI_Request requests[accesses];
  MPI_Status statuses[accesses];
  MPI_Datatype blocks;
  MPI_Info info;
  MPI_File file;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Info_set(info, "romio_cb_read", "enable");
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) == MPI_SUCCESS);
  MPI_Type_vector(length / 4, 4, 4 * ranks, MPI_INT, &blocks);
  MPI_Type_commit(&blocks);
  const MPI_Offset all = ranks * (MPI_Offset)sizeof own[0];
  for (int i = 0; i < accesses; ++i) {
    for (int k = 0; k < length; ++k) own[i][k] = value(10 * rank + i, k);
    MPI_File_set_view(file, i * all + 16 * rank, MPI_INT, blocks, "native", MPI_INFO_NULL);
    if (i % 2 == 0) MPI_File_iwrite_all(file, own[i], length, MPI_INT, &requests[i]);
    if (i % 2 == 1) MPI_File_iwrite_at_all(file, 0, own[i], length, MPI_INT, &requests[i]);
  }
  MPI_Waitall(accesses, requests, statuses);
  for (int i = 0; i < accesses; ++i) CHECK(written(&statuses[i]) == length);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  memset(got, 0, sizeof got);
  for (int i = 0; i < accesses; ++i) {
    MPI_File_set_view(file, i * all + 16 * rank, MPI_INT, blocks, "native", MPI_INFO_NULL);
    if (i % 2 == 0) MPI_File_iread_all(file, got[i], length, MPI_INT, &requests[i]);
    if (i % 2 == 1) MPI_File_iread_at_all(file, 0, got[i], length, MPI_INT, &requests[i]);
  }
  for (int i = 0; i < accesses; ++i) {
    MPI_Wait(&requests[i], &statuses[i]);
    CHECK(written(&statuses[i]) == length);
  }
  CHECK(memcmp(own, got, sizeof own) == 0);
  MPI_Type_free(&blocks);
  MPI_Info_free(&info);
  MPI_File_close(&file);
  remove_file();
}

/* Who comes first is open: each block must be somebody's, and each must be there once. */
static void shared_pointer(void) {
  int own[4] = {rank, rank, rank, rank}, got[4], seen = 0, all;
  MPI_Status status;
  MPI_Offset position;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_write_shared(file, own, 4, MPI_INT, &status);
  CHECK(written(&status) == 4);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_position_shared(file, &position);
  CHECK(position == ranks * 16);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_shared(file, got, 4, MPI_INT, &status);
  CHECK(written(&status) == 4 && got[0] == got[3]);
  seen = 1 << got[0];
  MPI_Allreduce(&seen, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == (1 << ranks) - 1);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  for (int i = 0; i < 4; ++i) own[i] = value(rank, i);
  MPI_File_write_ordered(file, own, 4, MPI_INT, &status);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_read_at(file, rank * 16, got, 4, MPI_INT, &status);
  CHECK(memcmp(own, got, sizeof own) == 0);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_read_ordered(file, got, 4, MPI_INT, &status);
  CHECK(memcmp(own, got, sizeof own) == 0);
  MPI_File_close(&file);
  remove_file();
}

static void atomic_mode(void) {
  int flag, own[length], got[length];
  MPI_Status status;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_set_atomicity(file, 1);
  MPI_File_get_atomicity(file, &flag);
  CHECK(flag);
  for (int i = 0; i < length; ++i) own[i] = value(rank, i);
  MPI_File_write_at(file, rank * (int)sizeof own, own, length, MPI_INT, &status);
  MPI_Barrier(MPI_COMM_WORLD);
  const int next = (rank + 1) % ranks;
  MPI_File_read_at(file, next * (int)sizeof own, got, length, MPI_INT, &status);
  for (int i = 0; i < length; ++i) CHECK(got[i] == value(next, i));
  MPI_File_close(&file);
  /* What was written before a close is there after it. */
  file = open_file(MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
  int amode;
  MPI_File_get_amode(file, &amode);
  CHECK(amode == (MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE));
  MPI_File_read_at_all(file, next * (int)sizeof own, got, length, MPI_INT, &status);
  for (int i = 0; i < length; ++i) CHECK(got[i] == value(next, i));
  MPI_File_close(&file);
}

/* One rank writes what the others read, at once: which of the values they find is nobody's promise, but it is one value
 * in all replicas. */
static void atomic_race(void) {
  enum { rounds = 200 };
  int last = 0, position = 0;
  MPI_Status status;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_set_atomicity(file, 1);
  MPI_File_write_at_all(file, 0, &last, rank == 0, MPI_INT, &status);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 1; i <= rounds; ++i) {
    int got = i;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
      MPI_File_write_at(file, 0, &i, 1, MPI_INT, &status);
    } else if (i % 3 == 0) {
      MPI_File_iread_at(file, 0, &got, 1, MPI_INT, &request);
      MPI_Wait(&request, &status);
    } else if (i % 3 == 1) {
      MPI_File_seek(file, 0, MPI_SEEK_SET);
      MPI_File_read(file, &got, 1, MPI_INT, &status);
      MPI_Offset at;
      MPI_File_get_position(file, &at);
      position += at == (MPI_Offset)sizeof(int);
    } else {
      MPI_File_read_at(file, 0, &got, 1, MPI_INT, &status);
    }
    CHECK(last <= got && got <= rounds);
    last = got;
  }
  CHECK(rank == 0 || position == (rounds + 2) / 3);
  MPI_File_close(&file);
  remove_file();
}

static int error_class(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}

static void errors(void) {
  MPI_File file;
  int number = 3;
  MPI_Status status;
  CHECK(error_class(MPI_File_open(MPI_COMM_WORLD, "not/there/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) ==
        MPI_ERR_NO_SUCH_FILE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(MPI_File_delete("not_there_at_all", MPI_INFO_NULL) != MPI_SUCCESS);
  file = open_file(MPI_MODE_CREATE | MPI_MODE_WRONLY);
  MPI_File_write_at_all(file, rank * 4, &number, 1, MPI_INT, &status);
  MPI_File_close(&file);
  file = open_file(MPI_MODE_RDONLY);
  CHECK(MPI_File_write_at(file, 0, &number, 1, MPI_INT, &status) != MPI_SUCCESS);
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(unlink(path) == 0); /* not MPI's way, but programs do it */
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Scenario scenarios[] = {
      {"explicit_offsets", explicit_offsets},
      {"views", views},
      {"non_blocking", non_blocking},
      {"shared_pointer", shared_pointer},
      {"atomic_mode", atomic_mode},
      {"atomic_race", atomic_race},
      {"in_flight", in_flight},
      {"errors", errors},
  };
  const int code = run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  MPI_Finalize();
  return code;
}
