#pragma once

#include "replicate/mpi/agree/looks.h"

namespace holdfast::replicate {

/// What all rooms together do for progress().
class LooksOfAllRooms final : public Looks {
 public:
  void advance() override;
  void hear(int replica, const Record& record) override;
  const char* held_by_leader() override;
};

}  // namespace holdfast::replicate
