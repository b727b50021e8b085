#pragma once

namespace holdfast::replicate {

/// Makes the calls of MPI that wait give the core away where nothing comes: called where processes outnumber cores.
///
/// Open MPI does so itself, told by mpi_yield_when_idle, with which such jobs are started. MPICH never does: it asks
/// UCX until something has come, and a process that waits keeps the core from the one that it waits for until the
/// scheduler takes it away. There UCX's function is this library's, which calls UCX and, after some answers that
/// nothing came, yields, and then sleeps (give_way.h says why); not where several threads call MPI, since the one that
/// asks has MPICH's lock. MPICH on libfabric asks otherwise, and waits as it does.
void give_way_in_waits();

/// Keeps the core while MPI's tests find nothing, for its lifetime. MPI gives the core away in each MPI_Test that finds
/// nothing; one look at the world is several tests, so that a process that waits would change with the others several
/// times a look. Where the library waits it gives the core away itself, once a look (give_way.h). Inside calls of MPI
/// that wait, MPI's yields stay.
///
/// With Open MPI by `opal_progress_set_yield_when_idle` of libopen-pal (4.1), a store to one variable of the process.
class KeepCoreInTests {
 public:
  KeepCoreInTests() : before_(set_yield(false)) {}
  ~KeepCoreInTests() {
    if (before_) set_yield(true);
  }
  KeepCoreInTests(const KeepCoreInTests&) = delete;
  KeepCoreInTests& operator=(const KeepCoreInTests&) = delete;

 private:
  static bool set_yield(bool yield);

  bool before_;
};

}  // namespace holdfast::replicate
