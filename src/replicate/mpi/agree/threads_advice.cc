#include "replicate/mpi/agree/threads_advice.h"

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

}  // namespace holdfast::replicate
