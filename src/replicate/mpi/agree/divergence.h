#pragma once

#include <cstdint>
#include <string>

namespace holdfast::replicate {

/// A replica that goes another way than the others of its rank is taken out like a dead one, where the job goes on
/// without the dead and most of those that are left agree about it (docs/design/dead-replicas.md). Each process says of
/// which replicas of its own rank it thinks so; `holdfast run` counts (launch/supervise/membership.h).

/// Whether the job may go on without a replica of this rank that diverges: three are left, and the order of calls is
/// the same in all.
bool can_outvote_diverged();

/// Tells `holdfast run` that this replica of the own rank has diverged, once; `why` is for people, said by one.
void accuse(int replica, const std::string& why);

/// This replica has done something else than the leader did: tells the others of the rank, who know whether they did as
/// the leader, and accuses it. Once for each leader.
void part_from_leader(const std::string& why);
/// Whether this replica has parted from the one that leads now.
bool parted();

/// Another replica of this rank has parted from that leader in its call number `calls`.
void file_parting(int replica, int leader, std::uint64_t calls);
/// Whether it has parted from the one that leads now.
bool has_parted(int replica);
/// Accuses those who parted where this replica has gone past the same call beside the leader.
void look_at_partings();

}  // namespace holdfast::replicate
