#include "core/output/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/scratch/scratch_folder.h"

namespace holdfast::output {
namespace {

class OutputFile : public testing::Test {
 protected:
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static struct stat look_at(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
  }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(folder_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  scratch::ScratchFolder folder_;
};

TEST_F(OutputFile, ARegularFileIsReplacedAtOnceAndKeepsItsMode) {
  const std::string path = folder_.file("out");
  ASSERT_TRUE(write_file(path, "one").ok());
  const struct stat first = look_at(path);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(first.st_mode & 0777, 0666U & ~mask);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  std::ifstream before(path);
  ASSERT_TRUE(write_file(path, "two").ok());
  EXPECT_EQ(read(path), "two");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(before), {}), "one") << "a reader keeps the file it has opened";
  EXPECT_NE(look_at(path).st_ino, first.st_ino);
  EXPECT_EQ(look_at(path).st_mode & 0777, 0640U);
  EXPECT_EQ(files(), 1U) << "no draft is left";
}

TEST_F(OutputFile, ALinkStaysAndWhatItLeadsToIsReplacedThere) {
  std::filesystem::create_directory(folder_.file("there"));
  ASSERT_EQ(::symlink("there/target", folder_.file("second").c_str()), 0);
  ASSERT_EQ(::symlink("second", folder_.file("first").c_str()), 0);
  for (const char* text : {"new", "replaced"}) {
    ASSERT_TRUE(write_file(folder_.file("first"), text).ok());
    EXPECT_TRUE(S_ISLNK(look_at(folder_.file("first")).st_mode));
    EXPECT_TRUE(S_ISLNK(look_at(folder_.file("second")).st_mode));
    EXPECT_TRUE(S_ISREG(look_at(folder_.file("there/target")).st_mode));
    EXPECT_EQ(read(folder_.file("there/target")), text);
  }
}

TEST_F(OutputFile, ADeviceStaysOne) {
  const std::string path = folder_.file("null");
  if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) GTEST_SKIP() << "only root makes devices";
  ASSERT_TRUE(write_file(path, "text").ok());
  EXPECT_TRUE(S_ISCHR(look_at(path).st_mode));
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFile, AFifoIsWrittenInPlace) {
  const std::string path = folder_.file("fifo");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read(path); });
  EXPECT_TRUE(write_file(path, "through the pipe").ok());
  EXPECT_TRUE(S_ISFIFO(look_at(path).st_mode));
  if (!S_ISFIFO(look_at(path).st_mode)) std::_Exit(1);  // the reader waits for ever
  reader.join();
  EXPECT_EQ(got, "through the pipe");
}

TEST_F(OutputFile, ADescriptorByNameIsWrittenWhereItIs) {
  const std::string path = folder_.file("open");
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(file, "before ", 7), 7);
  const ino_t inode = look_at(path).st_ino;
  ASSERT_TRUE(write_file("/dev/fd/" + std::to_string(file), "after").ok());
  ::close(file);
  EXPECT_EQ(look_at(path).st_ino, inode);
  EXPECT_EQ(read(path), "before after");
}

TEST_F(OutputFile, ADiskThatIsFullLeavesWhatWasThere) {
  const std::string full = folder_.file("full");  // not the machine's: a defect would replace it
  if (::mknod(full.c_str(), S_IFCHR | 0666, makedev(1, 7)) == 0) {
    EXPECT_EQ(write_file(full, "x").wrong(), std::strerror(ENOSPC));
    ASSERT_EQ(::unlink(full.c_str()), 0);
  }
  const std::string path = folder_.file("out");
  ASSERT_TRUE(write_file(path, "one").ok());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit little{100, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const Status status = write_file(path, std::string(1000, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(status.code(), Code::io);
  EXPECT_EQ(status.wrong(), std::strerror(EFBIG));
  EXPECT_EQ(read(path), "one");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFile, WhereAFileCanBeWrittenIsKnownBefore) {
  EXPECT_TRUE(check_file(folder_.file("new")).ok());
  EXPECT_EQ(files(), 0U);
  EXPECT_TRUE(check_file("/dev/null").ok());
  EXPECT_TRUE(check_file("/dev/stdout").ok());
  ASSERT_EQ(::symlink("new", folder_.file("link").c_str()), 0);
  ASSERT_EQ(::symlink("absent/new", folder_.file("dead").c_str()), 0);
  EXPECT_TRUE(check_file(folder_.file("link")).ok());
  for (const std::string& path : {std::string(), folder_.path(), folder_.file("absent/new"), folder_.file("dead"),
                                  folder_.file("new/"), std::string("/dev/null/new"), std::string(5000, 'a')}) {
    const Status status = check_file(path);
    EXPECT_EQ(status.code(), Code::io) << path;
    EXPECT_EQ(status.message(), write_file(path, "text").message());
  }
}

TEST_F(OutputFile, WhatCannotBeWrittenIsSaid) {
  EXPECT_EQ(write_file(folder_.file("none/x"), "x").code(), Code::io);
  EXPECT_EQ(write_file(folder_.path(), "x").wrong(), std::strerror(EISDIR));
  EXPECT_EQ(write_file("", "x").code(), Code::io);
  ASSERT_EQ(::symlink("loop", folder_.file("loop").c_str()), 0);
  EXPECT_EQ(write_file(folder_.file("loop"), "x").wrong(), std::strerror(ELOOP));
}

}  // namespace
}  // namespace holdfast::output
