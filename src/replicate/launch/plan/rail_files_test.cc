#include "replicate/launch/plan/rail_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/scratch/scratch_folder.h"

namespace holdfast::launch {
namespace {

/// A number that a process had which has ended.
pid_t gone() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(RailFiles, OfProcessesThatAreGoneAreRemovedUnlessSomebodyHasThemMapped) {
  struct stat space {};
  ASSERT_EQ(::stat("/proc/self/ns/pid", &space), 0);
  if (space.st_ino != 0xEFFFFFFC) GTEST_SKIP() << "not all processes of the host are seen here";
  const scratch::ScratchFolder folder;
  const std::string place = std::filesystem::canonical(folder.path());
  const std::string user = ":" + std::to_string(getuid()) + ":", dead = std::to_string(gone());
  const std::string left = place + "/" + dead + user + "0", mapped = place + "/" + dead + user + "12";
  const std::string living = place + "/" + std::to_string(getpid()) + user + "0";
  const std::string another = place + "/" + dead + ":99999:0", notes = place + "/" + dead + user + "0.txt";
  for (const std::string& file : {left, mapped, living, another, notes}) std::ofstream(file) << "x";
  const std::string link = place + "/" + dead + user + "7";
  std::filesystem::create_symlink(notes, link);
  const int file = ::open(mapped.c_str(), O_RDWR);
  void* memory = ::mmap(nullptr, 1, PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  ASSERT_NE(memory, MAP_FAILED);
  remove_left_rail_files(place);
  EXPECT_FALSE(std::filesystem::exists(left));
  for (const std::string& kept : {mapped, living, another, notes, link})
    EXPECT_TRUE(std::filesystem::exists(kept)) << kept;
  ::munmap(memory, 1);
  remove_left_rail_files(place);
  EXPECT_FALSE(std::filesystem::exists(mapped));
}

}  // namespace
}  // namespace holdfast::launch
