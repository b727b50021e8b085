#pragma once

#include <atomic>

/// What the provider of failing_provider.cc does wrong now, set by a test at any time. All 0: nothing.
struct FailingWays {
  std::atomic<int> refuse{0};   ///< sends: the call gives this error (positive) instead of sending
  std::atomic<int> send{0};     ///< sends: accepted, and completed with this error
  std::atomic<int> inject{0};   ///< injected packets: lost, with this error in the completion queue and no context
  std::atomic<int> keep{0};     ///< sends: accepted, not sent, and completed when it is 0 again
  std::atomic<int> receive{0};  ///< one posted receive of each endpoint ends with this error; then 0 again
  std::atomic<int> queue{0};    ///< reading the completion queue gives this error
  std::atomic<int> event{0};    ///< an error of this number in each event queue; then 0 again
};

/// The name that it exports an object of this type by.
#define FAILING_WAYS_NAME "holdfast_failing_ways"
