#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::replicate {

/// Files that somebody outside the job changes while it opens them again and again: a control file that a user edits,
/// an answer that another program writes. Replicas open them at different moments. So what the leader found in one goes
/// along with its answer to the opening, once for each change, where the file is small and no rank has changed it, and
/// it is opened for the second time or has changed since the job began. A replica that finds another file, or something
/// else in it, reads what the leader found, from a file in memory.
///
/// Of a file that has only grown each replica reads its own: the program may go on reading as it grows. One that was
/// seen to be overwritten in place is read as it was told by the leader as well, since the next change may come before
/// its program has read it.
///
/// And files that the job removes and somebody outside makes again, as programs do that talk to each other by files:
/// the others never see them, and take what they need from the leader (FileView::made_outside()).
///
/// On a thread whose answers are agreed on, one at a time, inside Holdfast.

inline constexpr std::size_t most_shown_bytes = std::size_t{64} * 1024;  ///< of a file
inline constexpr std::size_t most_shown_files = 1024;                    ///< of a process; the first ones

/// What the followers of a leader that has opened a file are to read.
enum class Shown : std::uint8_t {
  own,        ///< each its own
  anew,       ///< what the leader found in it, which it tells now
  as_before,  ///< what it told the last time that they opened it by this name
};

/// The leader's choice, for a file that it has opened to read; the descriptor stays where it is.
Shown show_opened(const std::string& name, int descriptor);
/// What the leader itself is to read in place of its own file, after show_opened() was not `own`: as open_shown().
std::optional<int> open_told(const std::string& name);
/// Where that was `anew`: in the leader; and in the others, of which `own` is a descriptor of this replica's file (-1:
/// it has none). One of these leads if the leader is gone by then.
void tell_shown(const std::string& name);
void take_shown(const std::string& name, int own);
/// What a follower reads in place of its own file: one in memory, open to be read, which the caller owns. Nothing where
/// its own will do, of which `own` is a descriptor (-1: it has none): the same is in it, and more perhaps; or something
/// else although nothing has changed it, so that one of the two memories is wrong, which is seen where it matters.
std::optional<int> open_shown(const std::string& name, int own);

/// FileView::made_outside(), of a name as the program has it. `follow`: what a symbolic link leads to.
bool is_made_outside(const std::string& name, bool follow);
/// The job has removed or renamed what somebody outside had made: an answer to it, perhaps.
void take_answer();
/// Whether it has since this was asked.
bool answers_taken();
/// What is in a file on disk, if it is small enough to be told.
std::optional<std::string> read_small_file(const std::string& path);
/// In a follower, in the place of a directory that somebody outside has made and only the leader sees: an empty one of
/// that name. 0 or errno.
int stand_in_directory(const std::string& name, bool follow, std::string& folder);
/// Makes a file of this replica's own under a name as the program has it, with these contents. Not for the leader.
bool make_own_file(const std::string& name, std::string_view contents);

}  // namespace holdfast::replicate
