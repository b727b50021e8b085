#include "replicate/mpi/agree/idle_tests.h"

#include <dlfcn.h>

namespace holdfast::replicate {

namespace {

using SetYield = bool (*)(bool);

SetYield find_set_yield() {
  return reinterpret_cast<SetYield>(dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
}

}  // namespace

bool KeepCoreInTests::set_yield(bool yield) {
  static const SetYield set = find_set_yield();
  return set != nullptr && set(yield);
}

}  // namespace holdfast::replicate
