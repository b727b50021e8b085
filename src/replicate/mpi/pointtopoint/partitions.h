#pragma once

#include <vector>

#include "replicate/engine/record.h"

namespace holdfast::replicate {

/// What a partitioned operation (MPI 4.0, chapter 4) has beside what a persistent one has. The parts of a message
/// travel together, when the last one is ready, and are compared as one message: MPI lets a library put parts together,
/// and only a whole has one digest to compare. Parts of a send and of a receive need not be alike.
struct Partitions {
  int count = 0;
  std::vector<bool> ready;  ///< sends: since the last start
  int unready = 0;          ///< sends: how many are not
  MessageId channel;        ///< as the application names it, and which of those with this name
};

}  // namespace holdfast::replicate
