#pragma once

namespace holdfast::replicate {

/// Waits while the leader is so far ahead that MPI holds too many messages of it.
void let_followers_catch_up();

}  // namespace holdfast::replicate
