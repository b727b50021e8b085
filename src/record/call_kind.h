#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace holdfast::record {

/// What a function does, by its name; all its forms (large counts, an extension of an MPI) are one.
enum class CallKind {
  send,  ///< blocking or nonblocking
  receive,
  send_receive,
  persistent_send,  ///< makes a request that sends each time it is started; partitioned too
  persistent_receive,
  start,
  completion,  ///< waits for requests, or asks for them
  probe,
  collective,       ///< blocking, nonblocking or persistent, of a communicator
  neighbours,       ///< a collective of neighbours
  one_sided,        ///< moves data to or from another rank's window
  synchronisation,  ///< of a window, its making and its end
  file,
  communicator,  ///< makes or frees one
  other,
};

CallKind kind_of(std::string_view function);

/// kind_of() of functions that are called again and again: each name is looked at once. One thread.
class KnownKinds {
 public:
  CallKind of(std::string_view function) {
    const auto known = kinds_.find(function);
    return known != kinds_.end() ? known->second : kinds_.emplace(function, kind_of(function)).first->second;
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, CallKind, Hash, std::equal_to<>> kinds_;
};

/// Whether the collective begins when a request of it is started.
bool is_persistent_collective(std::string_view function);

/// "MPI_Ibcast" and "MPIX_Bcast_init" are "Bcast"; only for collectives.
std::string_view collective_of(std::string_view function);

}  // namespace holdfast::record
