#include "simulate/study/mpi/module.h"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <string>
#include <vector>

// Messages are sent without waiting for the receiver: it may be dead.
namespace {

constexpr int tag = 7;

struct Outgoing {
  std::vector<char> bytes;
  MPI_Request request = MPI_REQUEST_NULL;
};

std::list<Outgoing> outgoing;
std::vector<char> incoming;

void forget_sent() {
  for (auto each = outgoing.begin(); each != outgoing.end();) {
    int sent = 0;
    const int error = MPI_Test(&each->request, &sent, MPI_STATUS_IGNORE);
    each = sent != 0 || error != MPI_SUCCESS ? outgoing.erase(each) : std::next(each);
  }
}

int begin(int* rank, int* size) {
  int error = MPI_Init(nullptr, nullptr);
  if (error != MPI_SUCCESS) return error;
  error = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (error == MPI_SUCCESS) error = MPI_Comm_rank(MPI_COMM_WORLD, rank);
  if (error == MPI_SUCCESS) error = MPI_Comm_size(MPI_COMM_WORLD, size);
  return error;
}

int send(int to, const char* bytes, std::size_t size) {
  forget_sent();
  Outgoing& message = outgoing.emplace_back();
  message.bytes.assign(bytes, bytes + size);
  const int error =
      MPI_Isend(message.bytes.data(), static_cast<int>(size), MPI_CHAR, to, tag, MPI_COMM_WORLD, &message.request);
  if (error != MPI_SUCCESS) outgoing.pop_back();
  return error;
}

int receive(int from, int* there, const char** bytes, std::size_t* size) {
  MPI_Status status;
  int count = 0;
  int error = MPI_Iprobe(from, tag, MPI_COMM_WORLD, there, &status);
  if (error != MPI_SUCCESS || *there == 0) return error;
  error = MPI_Get_count(&status, MPI_CHAR, &count);
  if (error != MPI_SUCCESS) return error;
  incoming.resize(static_cast<std::size_t>(count));
  *bytes = incoming.data();
  *size = incoming.size();
  return MPI_Recv(incoming.data(), count, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void end(int all_alive) {
  if (all_alive == 0) {  // small messages are on their way when they have been handed over
    forget_sent();
    return;
  }
  for (Outgoing& each : outgoing) MPI_Wait(&each.request, MPI_STATUS_IGNORE);
  outgoing.clear();
  MPI_Finalize();
}

void words(int error, char* text, std::size_t size) {
  char all[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(error, all, &length) != MPI_SUCCESS) length = 0;
  const std::string said = length > 0 ? std::string(all, static_cast<std::size_t>(length)) : "an unknown error";
  const std::size_t kept = std::min(said.find('\n') == std::string::npos ? said.size() : said.find('\n'), size - 1);
  std::memcpy(text, said.data(), kept);
  text[kept] = '\0';
}

constexpr HoldfastMessages functions = {begin, send, receive, end, words};

}  // namespace

extern "C" __attribute__((visibility("default"))) const HoldfastMessages* holdfast_messages() {
  return &functions;
}
