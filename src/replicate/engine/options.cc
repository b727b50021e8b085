#include "replicate/engine/options.h"

#include <string_view>

namespace holdfast::replicate {

namespace {
constexpr std::string_view protocols[] = {"msg-plus-hash", "msg-plus-vote", "all-to-all"};
constexpr std::string_view digests[] = {"xxh3-128", "xxh3-64", "crc32c"};
constexpr std::string_view reactions[] = {"stop", "report"};
constexpr std::string_view failures[] = {"abort", "continue", "auto"};
constexpr std::string_view collectives[] = {"native", "p2p"};
constexpr std::string_view entries[] = {"auto", "polled", "direct"};
}  // namespace

const config::Table<Options>& options_table() {
  using config::duration;
  using config::option;
  static const config::Table<Options> table(
      "replicate",
      {
          option<&Options::degree>(
              {.name = "replicate.degree",
               .initial = "1",
               .doc = "How many processes play each rank. Two detect corruption, three correct it.\n"
                      "2.5: two, and every second rank a third. 1,3:0,2:4-7: one, rank 0 three, ranks 4 to 7 two."}),
          option<&Options::protocol>({.name = "replicate.protocol",
                                      .initial = "msg-plus-hash",
                                      .choices = protocols,
                                      .doc = "What each sender replica sends to the receivers of the others.\n"
                                             "msg-plus-hash: a digest to the next one; those who differ settle it.\n"
                                             "msg-plus-vote: a digest to all; each receiver counts for itself.\n"
                                             "all-to-all: the whole message to all."}),
          option<&Options::digest>({.name = "replicate.digest",
                                    .initial = "xxh3-128",
                                    .choices = digests,
                                    .doc = "The digest by which copies are compared."}),
          option<&Options::on_corruption>({.name = "replicate.on_corruption",
                                           .initial = "stop",
                                           .choices = reactions,
                                           .doc = "What to do about corruption that cannot be corrected."}),
          option<&Options::on_failure>({.name = "replicate.on_failure",
                                        .initial = "auto",
                                        .choices = failures,
                                        .doc =
                                            "What to do when a process dies: end the job, or go on without its\n"
                                            "replica (Open MPI; digests go to all replicas then). auto: go on where\n"
                                            "all ranks have three replicas or more, and MPI and options allow it."}),
          option<&Options::collectives>(
              {.name = "replicate.collectives",
               .initial = "native",
               .choices = collectives,
               .doc =
                   "How collectives run: by MPI, with their results compared, or on verified point-to-point messages.\n"
                   "p2p combines operands in an order that does not depend on where processes run."}),
          option<&Options::collective_entry>(
              {.name = "replicate.collective_entry",
               .initial = "auto",
               .choices = entries,
               .doc = "Whether a blocking collective first waits for its members by polling.\n"
                      "auto polls where processes outnumber cores, with MPI_THREAD_MULTIPLE, and with four\n"
                      "replicas or more under msg-plus-hash."}),
          option<&Options::clocks>(
              {.name = "replicate.clocks",
               .initial = "on",
               .doc = "Whether replicas are given the same answers by clocks and by what else the system tells."}),
          option<&Options::clear_blocks>(
              {.name = "replicate.clear_blocks",
               .initial = "on",
               .doc =
                   "Whether blocks that malloc() gives the program, up to 1 MiB, have zero in them, so that replicas\n"
                   "agree where it sends what it never set. --same-memory does more, and costs more."}),
          option<&Options::files>({.name = "replicate.files",
                                   .initial = "on",
                                   .doc = "Whether what the program does to files takes effect once and is compared,\n"
                                          "and what it prints is compared."}),
          option<&Options::files_may_differ>(
              {.name = "replicate.files_may_differ",
               .initial = "",
               .doc = "Files that are not compared: shell patterns for names or whole paths, with ':' between them.\n"
                      "Standard output and error are called rank-0.stdout, rank-0.stderr and so on."}),
          option<&Options::random>(
              {.name = "replicate.random",
               .initial = "on",
               .doc = "Whether replicas draw the same numbers from getrandom, /dev/urandom and std::random_device.\n"
                      "They are not fit for cryptographic keys."}),
          option<&Options::identity>({.name = "replicate.identity",
                                      .initial = "on",
                                      .doc = "Whether replicas are given the same process id and host name."}),
          option<&Options::shared_records>(
              {.name = "replicate.shared_records",
               .initial = "on",
               .doc = "Whether what replicas of one host say to each other goes through memory that they share.\n"
                      "off: by messages of MPI, as between hosts."}),
          option<&Options::chain>({.name = "replicate.chain",
                                   .initial = "off",
                                   .doc = "Call the next preloaded profiling tool instead of the MPI library."}),
          option<&Options::same_thread_order>(
              {.name = "replicate.same_thread_order",
               .initial = "off",
               .doc = "Whether the threads of every replica make their calls of MPI in the order of replica 0's.\n"
                      "For threads that share a communicator and a tag (MPI_THREAD_MULTIPLE)."}),
          option<&Options::inject>({.name = "replicate.inject",
                                    .initial = "",
                                    .doc = "Faults to inject into send buffers, as docs/spec/faults.md says."}),
          option<&Options::seed>(
              {.name = "replicate.seed", .initial = "1", .doc = "Root seed of the injected faults."}),
          option<&Options::map>(
              {.name = "replicate.map",
               .initial = "",
               .doc = "File that maps physical ranks to ranks and replicas. On several hosts physical ranks\n"
                      "fill them in order, so that it says which processes share one."}),
          option<&Options::tolerate>({.name = "replicate.tolerate",
                                      .initial = "",
                                      .doc = "Places where copies may differ: 'tag 7; call MPI_Alltoall bytes 64'.\n"
                                             "Differences there are counted and neither corrected nor fatal."}),
          duration<&Options::silence_limit_ns>(
              {.name = "replicate.silence_limit",
               .initial = "120s",
               .least = "100ms",
               .most = "24h",
               .doc = "How long one replica may lag behind another, or stay silent, before the job ends.\n"
                      "A process that computes meanwhile is not taken for lost: others wait on."}),
      });
  return table;
}

}  // namespace holdfast::replicate
