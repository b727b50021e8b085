#include "replicate/mpi/agree/thread_name.h"

#include <unistd.h>

#include "core/config/environment.h"
#include "core/config/settings.h"
#include "replicate/engine/mix.h"
#include "replicate/engine/options.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/program.h"

namespace holdfast::replicate {

namespace {

constexpr std::uint64_t name_of_first_thread = 1;

bool read_option() {
  const Depth inside;
  config::Settings<Options> settings(options_table());
  return config::read_environment(settings, environ).ok() && settings.options().same_thread_order;
}

}  // namespace

std::uint64_t ThreadName::next() const {
  return name == 0 ? 0 : mix(name, created);
}

bool threads_are_named() {
  static const bool named = read_option();
  return named;
}

ThreadName& thread_name() {
  if (own_thread.name == 0 && gettid() == real_process_id()) own_thread.name = name_of_first_thread;
  return own_thread;
}

}  // namespace holdfast::replicate
