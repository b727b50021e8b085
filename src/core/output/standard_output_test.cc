#include "core/output/standard_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "core/scratch/scratch_folder.h"

namespace holdfast::output {
namespace {

/// What became of a program that prints.
struct End {
  int code = -1;
  std::string wrong;
};

/// Runs `print` in a process of its own whose standard output is `out`, or closed (-1).
template <class Print>
End printed_to(int out, const Print& print) {
  int answer[2];
  EXPECT_EQ(::pipe(answer), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_IGN);
    out < 0 ? ::close(STDOUT_FILENO) : ::dup2(out, STDOUT_FILENO);
    StandardOutput standard_output;
    print();
    const Status status = standard_output.finish();
    const std::string wrong = status.ok() ? "" : status.wrong();
    if (::write(answer[1], wrong.data(), wrong.size()) < 0) ::_exit(9);
    ::_exit(standard_output.reader_has_gone() ? 2 : status.ok() ? 0 : 1);
  }
  ::close(answer[1]);
  End end;
  char bytes[200];
  const ssize_t got = ::read(answer[0], bytes, sizeof bytes);
  end.wrong.assign(bytes, got > 0 ? static_cast<std::size_t>(got) : 0);
  ::close(answer[0]);
  int state = 0;
  ::waitpid(child, &state, 0);
  end.code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  return end;
}

TEST(StandardOutput, ArrivesWholeAndInOrder) {
  const scratch::ScratchFolder folder;
  const int file = ::open(folder.file("out").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const std::string much(200'000, 'x');
  EXPECT_EQ(printed_to(file, [&] { std::cout << "one\n" << much << 'y' << std::endl << 2 << "\n"; }).code, 0);
  ::close(file);
  std::ifstream read(folder.file("out"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(read), {}), "one\n" + much + "y\n2\n");
}

TEST(StandardOutput, AFullDiskIsAnErrorHoweverLittleWasPrinted) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  for (const std::size_t bytes : {1U, 100'000U}) {
    const End end = printed_to(full, [&] { std::cout << std::string(bytes, 'x'); });
    EXPECT_EQ(end.code, 1) << bytes;
    EXPECT_EQ(end.wrong, std::strerror(ENOSPC)) << bytes;
  }
  EXPECT_EQ(printed_to(full, [] {}).code, 0) << "nothing was printed";
  ::close(full);
}

TEST(StandardOutput, AReaderThatHasGoneIsToldApart) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ::close(pipe[0]);
  const End end = printed_to(pipe[1], [] { std::cout << "x"; });
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(end.wrong, "");
  ::close(pipe[1]);
}

TEST(StandardOutput, WhatIsPrintedIsNotWrittenIntoAFileThatTookTheNumber) {
  const scratch::ScratchFolder folder;
  const End end = printed_to(-1, [&] {
    (void)::open(folder.file("mine").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    std::cout << "x";
  });
  EXPECT_EQ(end.code, 1);
  EXPECT_EQ(end.wrong, std::strerror(EBADF));
  std::ifstream read(folder.file("mine"));
  EXPECT_EQ(read.get(), std::char_traits<char>::eof());
}

}  // namespace
}  // namespace holdfast::output
