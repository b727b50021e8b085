#pragma once

namespace holdfast::replicate {

/// Keeps the core while MPI's tests find nothing, for its lifetime. Told by mpi_yield_when_idle, which jobs with more
/// processes than cores are started with, Open MPI gives the core away in each MPI_Test that finds nothing; one look at
/// the world is several tests, so that a process that waits would change with the others several times a look. Where
/// the library waits it gives the core away itself, once a look (progress.h). Inside calls of MPI that wait, Open MPI's
/// yields stay.
///
/// By `opal_progress_set_yield_when_idle` of libopen-pal (Open MPI 4.1), a store to one variable of the process;
/// nothing where there is none, as with MPICH.
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
