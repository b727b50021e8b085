#include "core/status/exit_code.h"

#include <array>
#include <cstring>

namespace holdfast {
namespace {

constexpr std::array<ExitRow, 11> rows{{
    {0, "success", "The program ended well, and everything it sent was verified or corrected."},
    {1, "the application failed by itself",
     "The program ended with a status of its own other than 0, called MPI_Abort, or crashed in every replica alike. "
     "Its own status is in the message and in the record. Commands that answer a question end with 1 when the answer "
     "is "
     "no: `fabric check` (something needs attention), `fabric diff` (the networks differ), `fabric route` (a pair has "
     "no route, or there is a credit loop), `fabric fail --what-if` (the link must stay), "
     "`trace check` (something is missing, is damaged, or was sent and not received).",
     "the answer is no"},
    {2, "bad input",
     "An option, a file or the program that was named is wrong. Nothing was started, or nothing that calls MPI."},
    {3, "corruption that could not be corrected",
     "Corruption was detected, and there was no majority to correct it from: two replicas, or too many corrupt ones."},
    {4, "replicas diverged, or one went silent or died",
     "The replicas of a rank no longer did the same thing, or one of them stopped answering, crashed or was killed."},
    {5, "something needed is not installed, or the system refused",
     "An MPI, its launcher or a library of Holdfast is missing (`holdfast doctor` says what and how to get it), or the "
     "system refused to start a process, or to read or write something: standard output that could not be written, as "
     "on "
     "a full disk, ends every command with it."},
    {6, "a function that is not supported was called",
     "The program called an MPI function that Holdfast cannot protect yet. The message names it."},
    {7, "a defect in Holdfast", "Holdfast itself did something wrong, or cannot show that the job was verified."},
    {8, "the network lost a peer",
     "With --transport: no rail reached a peer for transport.unreachable_after, or it had forgotten the session, so "
     "that "
     "messages are lost. The message says between whom, for how long and on which rails."},
    {124, "the time limit passed", "The job took longer than --time-limit, and was ended."},
    {128, "ended by a signal",
     "128 + n: the user sent signal n, which was passed on and ended the job. 141 without a message: whoever read "
     "standard output has gone (`| head -1`); where SIGPIPE is not ignored the signal itself ends the command."},
}};

constexpr std::string_view what_is_bad_input = R"(
A name that stands for no readable file is bad input (2), whatever the system calls it: there is no such file, it is
a directory, a symbolic link to itself, a name that is too long, a file without permission, or bytes that are no text.
The same for what is too large: commands estimate the memory that they will need, and refuse what the machine does not
have. What the system refuses of files that are written is 5.

[bad-input.md](bad-input.md) shows what every command does with every kind of bad input; a test runs all of it.
)";

/// With what other commands than `run` mean.
std::string full_meaning(const ExitRow& row) {
  std::string text(row.meaning);
  if (!row.other.empty()) text += "; of commands that check: " + std::string(row.other);
  return text;
}

}  // namespace

std::span<const ExitRow> exit_codes() {
  return rows;
}

std::string exit_meaning(int code) {
  if (code > 128) return "ended by signal " + std::to_string(code - 128) + " (" + strsignal(code - 128) + ")";
  for (const ExitRow& row : rows)
    if (row.code == code) return std::string(row.meaning);
  return "exit status " + std::to_string(code);
}

Exit exit_for(Code code) {
  switch (code) {
    case Code::ok:
      return Exit::success;
    case Code::bad_input:
    case Code::not_found:
      return Exit::bad_input;
    case Code::unavailable:
    case Code::io:
      return Exit::unavailable;
    case Code::corrupt:
      return Exit::uncorrected;
    case Code::diverged:
      return Exit::diverged;
    case Code::internal:
      break;
  }
  return Exit::internal;
}

std::string exit_code_page() {
  std::string page =
      "# Exit codes\n\n"
      "How `holdfast` ends. Scripts may rely on these numbers; the table is generated from the one in the program.\n\n"
      "| code | meaning | when |\n|---|---|---|\n";
  for (const ExitRow& row : rows) {
    std::string code = row.code == 128 ? "128 + n" : std::to_string(row.code);
    page += "| " + code + " | " + full_meaning(row) + " | " + std::string(row.doc) + " |\n";
  }
  return page + std::string(what_is_bad_input);
}

std::string exit_code_help() {
  std::string help = "Exit codes:\n";
  for (const ExitRow& row : rows) {
    std::string code = row.code == 128 ? "128+n" : std::to_string(row.code);
    help += "  " + code + std::string(7 - code.size(), ' ') + full_meaning(row) + "\n";
  }
  return help;
}

}  // namespace holdfast
