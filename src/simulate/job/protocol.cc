#include "simulate/job/protocol.h"

#include <array>

namespace holdfast::simulate::job {
namespace {

constexpr std::array<std::string_view, 2> rules_names{"openmpi", "mpich"};
constexpr std::array<std::string_view, 2> progress_names{"calls", "always"};

}  // namespace

const config::Table<Protocol>& protocol_table() {
  using config::duration;
  using config::option;
  using P = Protocol;
  static const config::Table<Protocol> table(
      "mpi",
      {
          option<&P::collectives>({.name = "mpi.collectives",
                                   .initial = "openmpi",
                                   .choices = rules_names,
                                   .doc = "Whose rules choose the algorithm of a collective.\n"
                                          "openmpi: Open MPI 4.1, coll/tuned's fixed decisions. mpich: MPICH 4.0."}),
          option<&P::progress>({.name = "mpi.progress",
                                .initial = "calls",
                                .choices = progress_names,
                                .doc = "When MPI sees what came: in its calls, or always, as with a progress thread."}),
          option<&P::eager_limit>(
              {.name = "mpi.eager_limit",
               .initial = "12288",
               .least = "0",
               .most = "1099511627776",
               .unit = "bytes",
               .doc = "Longer messages ask their receiver first (rendezvous).\n"
                      "12288: Open MPI 4.1's btl_openib_eager_limit; MPICH and UCX choose by adapter."}),
          option<&P::header_bytes>(
              {.name = "mpi.header",
               .initial = "32",
               .least = "0",
               .most = "1024",
               .unit = "bytes",
               .doc = "What MPI adds to each message, and the whole of one that asks or answers."}),
          option<&P::segment_bytes>(
              {.name = "mpi.segment",
               .initial = "8192",
               .least = "0",
               .most = "1073741824",
               .unit = "bytes",
               .doc = "Adapters take so much of a message at a time, and others' messages between, in turn.\n"
                      "An assumption: how adapters take turns among queue pairs is not published. 0: whole messages, "
                      "one after the other."}),
          duration<&P::send_overhead_ns>({.name = "mpi.send_overhead",
                                          .initial = "300ns",
                                          .least = "0ns",
                                          .most = "1s",
                                          .doc = "Time of the sender's processor for each message."}),
          duration<&P::receive_overhead_ns>({.name = "mpi.receive_overhead",
                                             .initial = "300ns",
                                             .least = "0ns",
                                             .most = "1s",
                                             .doc = "Time of the receiver's processor for each message."}),
          option<&P::send_byte_ps>({.name = "mpi.send_byte",
                                    .initial = "100",
                                    .least = "0",
                                    .most = "1000000000",
                                    .unit = "ps a byte",
                                    .doc = "Time of the sender's processor for each byte of an eager message."}),
          option<&P::receive_byte_ps>({.name = "mpi.receive_byte",
                                       .initial = "100",
                                       .least = "0",
                                       .most = "1000000000",
                                       .unit = "ps a byte",
                                       .doc = "Time of the receiver's processor for each byte of an eager message."}),
          option<&P::reduce_byte_ps>(
              {.name = "mpi.reduce_byte",
               .initial = "100",
               .least = "0",
               .most = "1000000000",
               .unit = "ps a byte",
               .doc = "Time of the processor to combine a byte of two operands of a reduction."}),
          option<&P::shared_eager_limit>({.name = "mpi.shared_eager_limit",
                                          .initial = "4096",
                                          .least = "0",
                                          .most = "1099511627776",
                                          .unit = "bytes",
                                          .doc = "The eager limit between ranks of one host.\n"
                                                 "4096: Open MPI 4.1's btl_vader_eager_limit."}),
          duration<&P::shared_latency_ns>({.name = "mpi.shared_latency",
                                           .initial = "200ns",
                                           .least = "0ns",
                                           .most = "1s",
                                           .doc = "From a sender to a receiver on the same host, through its memory."}),
          option<&P::shared_byte_ps>({.name = "mpi.shared_byte",
                                      .initial = "100",
                                      .least = "0",
                                      .most = "1000000000",
                                      .unit = "ps a byte",
                                      .doc = "Time of the sender to copy a byte for a receiver on the same host."}),
      });
  return table;
}

}  // namespace holdfast::simulate::job
