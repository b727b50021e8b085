#pragma once

namespace holdfast::replicate {

/// After so many fruitless looks at the world: gives other threads their turn, and the core to other processes where
/// they outnumber the cores. By sched_yield at first, which reaches no process of another session where the kernel
/// schedules sessions as groups (sched(7), autogroup); MPICH's launcher gives each process a session of its own, so
/// there a longer wait sleeps between looks. Where several threads communicate every wait sleeps: a thread that yields
/// may fall behind all else that runs (docs/design/threads.md).
void give_way(unsigned looks);

/// The same inside a call of MPI that waits, where processes outnumber the cores: of no other thread's turn.
void give_way_inside(unsigned looks);

/// Before the first look of a wait: where processes outnumber the cores, a message of the application that is not here
/// comes from a process that has the core after this one has given it away. What another replica says may be here,
/// unread; so whoever waits for that looks first.
void give_way_to_sender();

}  // namespace holdfast::replicate
