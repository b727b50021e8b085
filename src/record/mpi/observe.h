#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "next_functions.h"
#include "record/mpi/recorder.h"

namespace holdfast::record {

/// What the program did not ask for and the trace needs: the status of a call.
class OwnStatus {
 public:
  explicit OwnStatus(MPI_Status* programs) : used_(programs == MPI_STATUS_IGNORE ? &own_ : programs) {}
  MPI_Status* pointer() { return used_; }
  operator const MPI_Status&() const { return *used_; }  // NOLINT: implicit on purpose

 private:
  MPI_Status own_{};
  MPI_Status* used_;
};

/// Values of a call, of which few are kept without allocating.
template <class T>
class Several {
 public:
  explicit Several(int count) : count_(count > 0 ? static_cast<std::size_t>(count) : 0) {
    if (count_ > few_.size()) many_.resize(count_);
  }
  T* data() { return many_.empty() ? few_.data() : many_.data(); }
  const T* data() const { return many_.empty() ? few_.data() : many_.data(); }
  std::size_t size() const { return count_; }

 private:
  std::size_t count_;
  std::array<T, 32> few_{};
  std::vector<T> many_;
};

class OwnStatuses {
 public:
  OwnStatuses(int count, MPI_Status* programs)
      : own_(programs == MPI_STATUSES_IGNORE ? count : 0),
        used_(programs == MPI_STATUSES_IGNORE ? own_.data() : programs) {}
  MPI_Status* pointer() { return used_; }
  const MPI_Status& operator[](int i) const { return used_[i]; }

 private:
  Several<MPI_Status> own_;
  MPI_Status* used_;
};

/// Requests as they were before the call, which may set them to null.
class Handles {
 public:
  Handles(int count, const MPI_Request* requests) : held_(count) {
    for (std::size_t i = 0; i < held_.size(); ++i) held_.data()[i] = requests[i];
  }
  MPI_Request operator[](int i) const { return held_.data()[i]; }
  std::span<const MPI_Request> all() const { return {held_.data(), held_.size()}; }

 private:
  Several<MPI_Request> held_;
};

/// What a receive asked for.
struct Receive {
  int source, tag;
};

/// One call of the program: made before it goes on, told that it is over, then what is known of it. Facts are taken
/// under the recorder's lock, after MPI has returned.
class Observation {
 public:
  explicit Observation(Function function);
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  /// True where the call went well: then facts follow.
  bool over(int code);

  void communicator(MPI_Comm comm);
  void place(Fact fact, int rank);
  void tag(Fact fact, int tag) { add(fact, tag == MPI_ANY_TAG ? any_tag : tag); }
  void root(int rank);
  bool is_root(int rank) const;
  void count(Fact fact, MPI_Count value) { add(fact, value < 0 ? 0 : value); }
  void bytes(MPI_Count count, MPI_Datatype datatype) { add(Fact::bytes, count * size_of(datatype)); }
  void room(MPI_Count count, MPI_Datatype datatype) { add(Fact::source_bytes, count * size_of(datatype)); }
  void partitioned(Fact fact, int partitions, MPI_Count count, MPI_Datatype datatype) {
    add(fact, partitions * count * size_of(datatype));
    add(Fact::partitions, partitions);
  }
  /// This rank's part, or what the other half of the call says of it where the buffer is MPI_IN_PLACE.
  void part(const void* buffer, MPI_Count count, MPI_Datatype datatype, MPI_Count other, MPI_Datatype other_datatype) {
    in_place(buffer) ? bytes(other, other_datatype) : bytes(count, datatype);
  }
  void bytes_unless_in_place(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
    if (!in_place(buffer)) bytes(count, datatype);
  }
  /// One number for each member of the other side, or for each neighbour.
  template <class Count>
  void list(Fact fact, const Count* counts, MPI_Datatype datatype) {
    const MPI_Count size = size_of(datatype);
    for (std::size_t i = 0; i < members_of(fact); ++i) add(fact, counts[i] * size);
  }
  template <class Count>
  void list(Fact fact, const Count* counts, const MPI_Datatype* datatypes) {
    for (std::size_t i = 0; i < members_of(fact); ++i)
      add(fact, counts[i] == 0 ? 0 : counts[i] * size_of(datatypes[i]));
  }
  template <class Count, class Datatypes>
  void list_unless_in_place(const void* buffer, Fact fact, const Count* counts, Datatypes datatypes) {
    if (!in_place(buffer)) list(fact, counts, datatypes);
  }
  void neighbours();
  void members(MPI_Group group);

  void started(const MPI_Request* request) { keep(request, false, nullptr); }
  void started(const MPI_Request* request, Receive receive) { keep(request, false, &receive); }
  void made(const MPI_Request* request) { keep(request, true, nullptr); }
  void made(const MPI_Request* request, Receive receive) { keep(request, true, &receive); }
  void starts(MPI_Request request);
  void concerns(MPI_Request request);
  void cancels(MPI_Request request);
  void frees(MPI_Request request);
  void completed(MPI_Request request, const MPI_Status& status);
  void not_yet() { add(Fact::not_yet, 1); }
  void in_vain(const Handles& requests);
  void ready(int first, int last);

  void received(int source, int tag, const MPI_Status& status);
  void holds(const MPI_Message* message, const MPI_Status& status);
  void matched(MPI_Message message, const MPI_Status& status);
  void started_matched(MPI_Message message, const MPI_Request* request);

  void made_communicator(MPI_Comm comm);
  void will_make(MPI_Comm* comm, const MPI_Request* request);
  void opened_window(MPI_Win win);
  void opened_file(MPI_File file);
  void closed_window(MPI_Win win);
  void closed_file(MPI_File file);
  void closed_communicator(MPI_Comm comm);
  void window(MPI_Win win);
  void file(MPI_File file);

 private:
  void add(Fact fact, std::int64_t value) { state_.facts.push_back({fact, value}); }
  static bool in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }
  static MPI_Count size_of(MPI_Datatype datatype);
  static std::int64_t bytes_in(const MPI_Status& status);
  std::size_t members_of(Fact fact) const;
  std::int64_t in_world(int rank, const KnownCommunicator& communicator) const;
  void found(bool from_any, bool of_any_tag, const MPI_Status& status, const KnownCommunicator* communicator);
  void keep(const MPI_Request* request, bool persistent, const Receive* receive);
  KnownRequest* find(MPI_Request request);
  void erase(MPI_Request request);

  Recorder& state_;
  const Function function_;
  std::int64_t entered_ns_, left_ns_ = 0;
  std::int64_t without_core_ns_ = 0;
  bool locked_ = false;
  bool neighbours_ = false;
  std::shared_ptr<KnownCommunicator> communicator_;
};

}  // namespace holdfast::record
