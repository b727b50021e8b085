#include "record/call_kind.h"

#include <algorithm>
#include <array>

namespace holdfast::record {
namespace {

constexpr std::array<std::string_view, 17> collectives{"Barrier",
                                                       "Bcast",
                                                       "Gather",
                                                       "Gatherv",
                                                       "Scatter",
                                                       "Scatterv",
                                                       "Allgather",
                                                       "Allgatherv",
                                                       "Alltoall",
                                                       "Alltoallv",
                                                       "Alltoallw",
                                                       "Reduce",
                                                       "Allreduce",
                                                       "Scan",
                                                       "Exscan",
                                                       "Reduce_scatter",
                                                       "Reduce_scatter_block"};

std::string_view without_suffix(std::string_view text, std::string_view suffix) {
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  return text;
}

std::string_view stem_of(std::string_view function) {
  for (const std::string_view prefix : {"MPI_", "MPIX_"})
    if (function.starts_with(prefix)) function.remove_prefix(prefix.size());
  return without_suffix(function, "_c");
}

/// "Ibcast" for "Bcast": the rest in its own case, the first letter not.
bool is_nonblocking(std::string_view stem, std::string_view name) {
  return stem.size() == name.size() + 1 && stem[0] == 'I' && stem[1] == name[0] + ('a' - 'A') &&
         stem.substr(2) == name.substr(1);
}

template <class Names>
bool holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string_view collective_of(std::string_view function) {
  std::string_view stem = without_suffix(stem_of(function), "_init");
  for (const std::string_view name : collectives)
    if (stem == name || is_nonblocking(stem, name)) return name;
  for (const std::string_view marked : {"Ineighbor_", "Neighbor_"})
    if (stem.starts_with(marked)) return stem.substr(marked.size());
  return {};
}

bool is_persistent_collective(std::string_view function) {
  return stem_of(function).ends_with("_init") && !collective_of(function).empty();
}

CallKind kind_of(std::string_view function) {
  using Names = std::array<std::string_view, 8>;
  const std::string_view stem = stem_of(function);
  if (stem.starts_with("Neighbor_") || stem.starts_with("Ineighbor_")) return CallKind::neighbours;
  if (!collective_of(function).empty()) return CallKind::collective;
  if (holds(Names{"Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend"}, stem))
    return CallKind::send;
  if (holds(std::array<std::string_view, 4>{"Recv", "Irecv", "Mrecv", "Imrecv"}, stem)) return CallKind::receive;
  if (stem.starts_with("Sendrecv") || stem.starts_with("Isendrecv")) return CallKind::send_receive;
  if (stem.ends_with("end_init")) return CallKind::persistent_send;
  if (stem.ends_with("ecv_init")) return CallKind::persistent_receive;
  if (stem == "Start" || stem == "Startall") return CallKind::start;
  if (holds(Names{"Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"}, stem))
    return CallKind::completion;
  if (stem.ends_with("robe")) return CallKind::probe;
  if (stem.starts_with("Win_")) return CallKind::synchronisation;
  if (stem.starts_with("File_")) return CallKind::file;
  if (holds(std::array<std::string_view, 10>{"Put", "Get", "Accumulate", "Get_accumulate", "Rput", "Rget",
                                             "Raccumulate", "Rget_accumulate", "Compare_and_swap", "Fetch_and_op"},
            stem))
    return CallKind::one_sided;
  if (stem.starts_with("Comm_") || stem.starts_with("Cart_") || stem.starts_with("Intercomm_") ||
      stem.starts_with("Graph_") || stem.starts_with("Dist_graph_"))
    return CallKind::communicator;
  return CallKind::other;
}

}  // namespace holdfast::record
