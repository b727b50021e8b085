#pragma once

#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>

#include "replicate/libc/outside_files.h"
#include "replicate/process/own_memory.h"
#include "replicate/shadow/file_view.h"

namespace holdfast::replicate {

/// The program's own calls of the C library's file functions (docs/design/files.md). What they come to is decided by
/// the leader and repeated by the other replicas, on the thread that called MPI_Init, between MPI_Init and
/// MPI_Finalize; where a file is found follows each replica's FileView, from the program's first instruction to its
/// last, on all threads that MPI did not start.

/// Begins to look at them; called once, before the program's own code runs.
void watch_files();

/// Which function is called, as the replicas compare it.
enum class FileCall : std::uint8_t {
  open = 1,
  look,
  list,
  enter,
  remove,
  rename,
  make_directory,
  make_node,
  link,
  change,
};

/// How an action is to be done.
enum class Manner {
  own,     ///< as the program asked; the other replicas follow, or find out that they do otherwise
  alone,   ///< the same, and no other replica knows
  repeat,  ///< the leader succeeded: what must not exist yet may, because another rank of this replica was faster
};

/// FileView::prepare(); and notes where the leader acts alone.
int prepare_change(const std::string& path, Change change, Manner manner, Prepared& prepared);

/// True where the call is the program's, and files are looked after; then the path is in `name`, absolute.
bool file_call(int folder, const char* path, std::string& name);
/// Whether the call is the program's, and files are looked after, whatever it names.
bool programs_own_call();
/// The view of this replica. Only where file_call() or programs_own_call() said true.
const FileView& file_view();
/// This process's rank, the same in all replicas.
int file_rank();
/// Files that all replicas use as they are: devices, the system's own, Holdfast's in the run directory; and, where the
/// job spans hosts, what only one host has.
bool shared_by_all(const std::string& path);

/// What belongs to the system, and no program of a job changes.
bool is_system_path(const char* path);
/// Whether that name in an open directory is the run directory. It is not the program's, which may go through what is
/// around it, or remove all that.
bool is_run_directory(int folder, const char* name);

/// The patterns of files that may differ (replicate.files_may_differ).
const std::string& files_that_may_differ();

/// Does what the leader could do too, and fails with the leader's errno where it could not. `act` returns whether it
/// succeeded and sets errno; the calling thread is inside Holdfast meanwhile. `share`: takes the leader's answer, by
/// take_leaders() (mpi/io/file.h); called where all have one.
bool agree_on_file(FileCall call, const std::string& name, const std::function<bool(Manner)>& act,
                   const std::function<void()>& share = {});

/// What replicas do about a file that somebody outside has made where only the leader sees it
/// (FileView::made_outside()); or of what the system says of any file, where the leader's answer is the only one that
/// counts (files_attributes.cc).
struct MadeOutside {
  std::function<bool()> is{};      ///< asked of the leader, after act()
  std::function<void()> share{};   ///< in all replicas then: by take_leaders(), what the others need of it
  std::function<bool()> follow{};  ///< in a follower in place of act(); whether it is done
};
/// The same, where it may be such a file.
bool agree_on_file(FileCall call, const std::string& name, const std::function<bool(Manner)>& act,
                   const MadeOutside& made_outside, const std::function<void()>& share = {});

/// The same for a file that is opened to be read, of which the leader may show what it found there (outside_files.h).
/// `show`: its choice, after act(). `open_shown`: in a follower, after act() has or has not `opened` its own file;
/// takes what the leader shows; whether one of the two is open. `made_outside`: of a directory, which is nothing to
/// show.
bool agree_on_reading(const std::string& name, const std::function<bool(Manner)>& act,
                      const std::function<Shown()>& show,
                      const std::function<bool(bool opened, Shown shown)>& open_shown, const MadeOutside& made_outside);

/// The same for a file that must not be there yet. Programs put addresses into the names of temporary files, as Python
/// does for what it compiles: names that differ in long numbers alone are the leader's from here on in all replicas.
bool agree_on_new_file(std::string& name, const std::function<bool(Manner)>& act);

/// Reads something through this replica's view: act(path on disk) until the leader did not change it meanwhile; undo()
/// takes back a success that came too late.
bool read_in_view(const std::string& name, bool follow, const std::function<bool(const char*)>& act,
                  const std::function<void()>& undo);

/// fails with this errno, as a function of the C library does.
inline bool fails(int error) {
  if (error != 0) errno = error;
  return error == 0;
}

/// The C library's own function of this name.
template <class Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace holdfast::replicate
