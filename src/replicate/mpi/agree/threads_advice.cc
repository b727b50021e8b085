#include "replicate/mpi/agree/threads_advice.h"

#include <dlfcn.h>

#include "replicate/process/threads.h"

namespace holdfast::replicate {

std::string threads_advice() {
  if (!many_threads()) return "";
  if (threads_in_order())
    return "; --same-thread-order orders calls of MPI, not what threads take from a queue of their own or learn from "
           "each other's memory: what each thread sends and asks must not depend on that";
  return "; threads that share a communicator and a tag have no order that replicas could agree on: give each a tag or "
         "a communicator of its own, or use --same-thread-order";
}

std::string openmp_advice() {
  const auto ask = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  const int threads = ask ? ask() : 1;
  if (threads < 2) return "";
  return "; it computes with " + std::to_string(threads) +
         " threads of OpenMP, and a sum over threads may come out otherwise in each run: OMP_NUM_THREADS=1 leaves one";
}

}  // namespace holdfast::replicate
