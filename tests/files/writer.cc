// Writes files as C++ programs do, by streams and std::filesystem, and prints what it finds.
#include <mpi.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>

namespace fs = std::filesystem;

static void write_all() {
  std::ofstream("numbers.txt") << 1 << ' ' << 2 << '\n';
  std::ofstream("before.log", std::ios::app) << "one more line\n";
  std::fstream both("numbers.txt", std::ios::in | std::ios::out | std::ios::ate);
  both << "3\n";
  both.seekg(0);
  std::string line;
  std::getline(both, line);
  std::cout << "first line: " << line << "\n";

  fs::create_directories("a/b/c");
  std::ofstream("a/b/c/deep.txt") << "deep\n";
  fs::copy_file("a/b/c/deep.txt", "a/copy.txt");
  fs::rename("a/b", "a/moved");
  fs::create_symlink("copy.txt", "a/link");
  fs::remove("checkpoint");
  fs::resize_file("long.dat", 7);
  std::error_code error;
  std::cout << "not there: " << fs::exists("a/b") << fs::remove("a/b", error) << "\n";
  std::cout << "there: " << fs::exists("a/moved/c/deep.txt") << fs::file_size("a/link") << fs::file_size("long.dat")
            << "\n";
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator("a")) names.insert(entry.path().string());
  for (const std::string& name : names) std::cout << name << "\n";
  std::cout << "removed: " << fs::remove_all("a/moved") << "\n";
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) write_all();
  MPI_Barrier(MPI_COMM_WORLD);
  std::ofstream("rank-" + std::to_string(rank) + ".txt") << std::ifstream("numbers.txt").rdbuf();
  MPI_Finalize();
}
