// The beginning and the end of MPI, and with it of the recording.
#include <mpi.h>

#include "next_functions.h"
#include "record/mpi/observe.h"

namespace holdfast::record::life {
namespace {

/// MPI's own calls of MPI are not the program's.
class Inside {
 public:
  Inside() { ++thread_state.depth; }
  ~Inside() { --thread_state.depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

void begin_with_world() {
  const Next& mpi = next_library();
  MPI_Group world = MPI_GROUP_NULL;
  mpi.Comm_group(MPI_COMM_WORLD, &world);
  begin_recording(world);
  if (!recording_on.load()) return;
  Recorder& state = recorder();
  const std::lock_guard<std::mutex> held(state.lock);
  state.learn(MPI_COMM_WORLD);  // before all others: the first communicator with all ranks
}

/// A program may use sessions beside the world, or alone.
int sessions = 0;
bool has_world = false;

}  // namespace

int Init(const Next& mpi, int* argc, char*** argv) {
  const Inside guard;
  const int code = mpi.Init(argc, argv);
  has_world = code == MPI_SUCCESS;
  if (has_world) begin_with_world();
  return code;
}

int Init_thread(const Next& mpi, int* argc, char*** argv, int required, int* provided) {
  const Inside guard;
  const int code = mpi.Init_thread(argc, argv, required, provided);
  has_world = code == MPI_SUCCESS;
  if (has_world) begin_with_world();
  return code;
}

int Finalize(const Next& mpi) {
  int code = MPI_SUCCESS;
  {
    const Inside guard;
    if (recording_on.load()) {  // what MPI does now may end the process
      Recorder& state = recorder();
      const std::lock_guard<std::mutex> held(state.lock);
      state.hand_over_counts();
      state.writer->flush();
    }
  }
  if (recording()) {
    Observation seen(Function::Finalize);
    code = mpi.Finalize();
    static_cast<void>(seen.over(MPI_SUCCESS));
  } else {
    code = mpi.Finalize();
  }
  has_world = false;
  if (sessions == 0) end_recording(Ending::finalized);
  return code;
}

int Abort(const Next& mpi, MPI_Comm comm, int errorcode) {
  end_recording(Ending::aborted);
  return mpi.Abort(comm, errorcode);
}

#ifdef HOLDFAST_HAS_Session_init
int Session_init(const Next& mpi, MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  const Inside guard;
  const int code = mpi.Session_init(info, errhandler, session);
  if (code != MPI_SUCCESS) return code;
  ++sessions;
  MPI_Group world = MPI_GROUP_NULL;
  if (!recording_on.load() && next_library().Group_from_session_pset(*session, "mpi://WORLD", &world) == MPI_SUCCESS)
    begin_recording(world);
  return code;
}

int Session_finalize(const Next& mpi, MPI_Session* session) {
  const Inside guard;
  if (sessions == 1 && !has_world) end_recording(Ending::finalized);
  const int code = mpi.Session_finalize(session);
  if (code == MPI_SUCCESS) --sessions;
  return code;
}
#endif

}  // namespace holdfast::record::life
