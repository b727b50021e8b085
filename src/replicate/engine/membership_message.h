#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/secret/key.h"

namespace holdfast::replicate {

/// What a process of a job and `holdfast run` say to each other over the connection whose end tells of the process's
/// death (docs/design/dead-replicas.md). One line a message; what follows join and welcome carries a tag each
/// (membership_seal.h):
///
///   challenge NONCE           the first word of all, of `holdfast run`
///   join RANK REPLICA NONCE PROOF   the first word of a process, before MPI_Init where it can
///   welcome PROOF             its answer: the process is believed, and may believe what it is told
///   starting                  it enters MPI_Init, which it does not leave before all have entered it
///   ready                     MPI_Init is over, but for the answer, which the process waits for where deaths are
///   survived started                   to all: everybody is ready: a death is survived from here on finishing the
///   process has reached MPI_Finalize and owes nobody anything finished                  it is past it exit STATUS it
///   is about to end with this status failed                    it found what the job cannot go on with; an incident
///   file says what gone REPLICA              a process of that replica died or diverged: the replica is taken out
///   finalize                  to all: everybody is finishing and nobody died: MPI's own end may be waited for
///   accuse REPLICA            that replica of this process's rank diverged: it does other things than this one
///   leave                     to all: somebody died: MPI's own end would wait for the dead
///   waits [RANK [REPLICA]]    the process waits, for long, for that replica of that rank; without a replica for any of
///                             them, without a rank for its own world
///   look                      to all, when somebody waits: what do you do?
///   outside USED_MS POINTS    the answer of one that runs the program's own code: how much processor time the process
///                             has used, and to how many agreed points its first thread has come
///   inside                    the answer of one that is in a call of MPI
///   working                   to one that waits: whom it waits for computes, or waits for one that does
///   idle                      to one that waits: nobody does, as far as is known
struct MembershipMessage {
  enum class Kind : std::uint8_t {
    challenge,
    join,
    welcome,
    ready,
    finishing,
    finished,
    exit,
    failed,
    gone,
    finalize,
    leave,
    starting,
    accuse,
    started,
    waits,
    look,
    outside,
    inside,
    working,
    idle
  };
  Kind kind = Kind::ready;
  int rank = -1;              ///< join; waits: -1 for its own world
  int number = -1;            ///< join, gone, accuse and waits: the replica, in waits -1 for any; exit: the status
  std::string nonce{};        ///< challenge and join: nonce_digits hexadecimal digits, never twice the same
  std::string proof{};        ///< join and welcome: proof_digits of them
  std::uint64_t used_ms = 0;  ///< outside
  std::uint64_t points = 0;   ///< outside

  friend bool operator==(const MembershipMessage&, const MembershipMessage&) = default;
};

/// The longest line, without its end.
inline constexpr std::size_t longest_membership_message = 160;
inline constexpr std::size_t nonce_digits = 32;
inline constexpr std::size_t proof_digits = 64;

/// What shows that whoever sends `join` has the job's secret, which itself is never sent: a digest of both nonces, so
/// that what was heard of one connection is of no use on another. The proof of `welcome` is another one.
std::string membership_proof(const secret::Key& job, const MembershipMessage& join, std::string_view challenge,
                             MembershipMessage::Kind of);
/// Whether two proofs are equal, in a time that does not depend on where they differ.
bool same_proof(std::string_view one, std::string_view other);
/// Bytes as hexadecimal digits, in lower case.
std::string hexadecimal(std::span<const std::byte> bytes);
/// Hexadecimal digits for a nonce, from a key that nobody had before.
std::string nonce_from(const secret::Key& random);

/// The message in a line without its end; nothing where it is none.
std::optional<MembershipMessage> parse_membership_message(std::string_view line);

/// The line, with its end.
std::string format_membership_message(const MembershipMessage& message);

}  // namespace holdfast::replicate
