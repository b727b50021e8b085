#include "replicate/launch/detect/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A folder for programs made by a test.
class InspectProgram : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "holdfast-program-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& base, const std::string& bytes) {
    std::string path = folder_ + "/" + base;
    std::ofstream(path) << bytes;
    chmod(path.c_str(), 0755);
    return path;
  }
  /// Compiles `source` with `command` (a compiler and options); empty when that compiler is not installed.
  std::string build(const std::string& command, const std::string& source) {
    std::string path = folder_ + "/program";
    std::string file = write("program.c", source);
    std::string line = command + " -o " + path + " " + file + " >/dev/null 2>&1";
    return std::system(line.c_str()) == 0 ? path : std::string();
  }
  /// A library of that soname, of `source`; whether it could be made.
  bool make_library(const std::string& soname, const std::string& source) {
    const std::string make = "cc -shared -fPIC -Wl,-soname," + soname + " -o " + folder_ + "/" + soname + " ";
    return std::system((make + write("mpi.c", source)).c_str()) == 0;
  }
  /// A program that links such libraries, each an MPI of one function and, besides, `more`; empty when there is no cc.
  std::string build_with(const std::string& soname, const std::string& more = "", const std::string& second = "") {
    const std::string init = "int MPI_Init(int* c, char*** v) { return c != 0 && v != 0; }\n";
    if (!make_library(soname, init + more)) return {};
    if (!second.empty() && !make_library(second, init)) return {};
    return build("cc -L" + folder_ + " -Wl,-rpath," + folder_ + " -Wl,--no-as-needed -l:" + soname +
                     (second.empty() ? "" : " -l:" + second),
                 "int MPI_Init(int*, char***);\nint main(void) { return MPI_Init(0, 0); }\n");
  }

  std::string folder_;
  static constexpr const char* mpi_source =
      "#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); MPI_Finalize(); return 0; }\n";
};

TEST(ListedLibraries, TakesResolvedPathsOnly) {
  EXPECT_THAT(listed_libraries("\tlinux-vdso.so.1 (0x00007f)\n\tlibmpi.so.40 => /lib/libmpi.so.40 (0x00007f)\n"
                               "\tlibx.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n"),
              ElementsAre("/lib/libmpi.so.40"));
}

TEST_F(InspectProgram, SeesOpenMpi) {
  std::string path = build("mpicc.openmpi", mpi_source);
  if (path.empty()) GTEST_SKIP() << "mpicc.openmpi is not installed";
  auto program = inspect_program(path, {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program.value().mpi, Mpi::openmpi);
  EXPECT_THAT(inspect_program(path, Mpi::mpich).status().message(),
              HasSubstr("it links openmpi, but --mpi says mpich"));
}

TEST_F(InspectProgram, SeesMpich) {
  std::string path = build("mpicc.mpich", mpi_source);
  if (path.empty()) GTEST_SKIP() << "mpicc.mpich is not installed";
  auto program = inspect_program(path, {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program.value().mpi, Mpi::mpich);
}

TEST_F(InspectProgram, SeesAnMpiThatOnlyALibraryNeeds) {
  std::string library = write("part.c", "#include <mpi.h>\nvoid part(void) { MPI_Init(0, 0); }\n");
  std::string make = "mpicc.mpich -shared -fPIC -o " + folder_ + "/libpart.so " + library + " >/dev/null 2>&1";
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "mpicc.mpich is not installed";
  std::string path = build("cc -L" + folder_ + " -Wl,-rpath," + folder_ + " -Wl,--no-as-needed -lpart",
                           "void part(void);\nint main(void) { part(); return 0; }\n");
  ASSERT_FALSE(path.empty());
  auto program = inspect_program(path, {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program.value().mpi, Mpi::mpich);
}

TEST_F(InspectProgram, RefusesTwoMpis) {
  std::string libraries = " -Wl,--no-as-needed -l:libmpi.so.40 -l:libmpich.so.12";
  std::string path = build("cc" + libraries, "int main(void) { return 0; }\n");
  if (path.empty()) GTEST_SKIP() << "one of the MPIs is not installed";
  EXPECT_THAT(inspect_program(path, {}).status().message(), HasSubstr("links both Open MPI"));
}

TEST_F(InspectProgram, RefusesAProgramWithoutMpi) {
  auto program = inspect_program("/bin/ls", {});
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.status().code(), Code::bad_input);
  EXPECT_THAT(program.status().message(), HasSubstr("not an MPI program"));
  EXPECT_TRUE(inspect_program("/bin/ls", Mpi::mpich).ok()) << "--mpi is the user's word that it loads MPI by itself";
}

TEST_F(InspectProgram, RefusesAStaticProgram) {
  std::string path = build("cc -static", "int main(void) { return 0; }\n");
  ASSERT_FALSE(path.empty());
  EXPECT_THAT(inspect_program(path, {}).status().message(), HasSubstr("statically linked"));
}

TEST_F(InspectProgram, SeesAnMpiThatIsLinkedIn) {
  std::string path = build("cc",
                           "int MPI_Init(int* c, char*** v) { return c != 0 && v != 0; }\n"
                           "int main(void) { return MPI_Init(0, 0); }\n");
  ASSERT_FALSE(path.empty());
  EXPECT_THAT(inspect_program(path, {}).status().message(), HasSubstr("linked into it statically"));
}

TEST(MpiOf, GoesByTheInterface) {
  const auto of = [](const char* soname, bool openmpi) {
    MpiSymbols symbols;
    symbols.soname = soname;
    symbols.openmpi = openmpi;
    return mpi_of(symbols);
  };
  EXPECT_EQ(of("libmpi.so.40", true), Mpi::openmpi);
  EXPECT_EQ(of("libmpi.so.12", false), Mpi::mpich) << "Intel MPI, MVAPICH, MPICH by itself";
  EXPECT_EQ(of("libmpich.so.12", false), Mpi::mpich) << "Debian's MPICH";
  EXPECT_EQ(of("libmpi.so.12", true), std::nullopt) << "Open MPI 1.10";
  EXPECT_EQ(of("libmpi.so.20", true), std::nullopt) << "Open MPI 2";
  EXPECT_EQ(of("libmpi_abi.so.0", false), std::nullopt) << "before the standard had it";
}

TEST(MpiOf, TellsWhoseStandardInterfaceItIs) {
  MpiSymbols symbols;
  symbols.soname = "libmpi_abi.so.1";
  EXPECT_TRUE(has_standard_interface(symbols));
  EXPECT_EQ(mpi_of(symbols), Mpi::mpich);
  symbols.ompi_names = true;
  EXPECT_EQ(mpi_of(symbols), Mpi::openmpi);
  symbols.soname = "libmpi.so.40";
  EXPECT_FALSE(has_standard_interface(symbols));
}

TEST(Flavour, IsTheInterfacesBeforeTheMakers) {
  Program program{"/program", Mpi::mpich, false, false, "/lib/libmpi.so.12"};
  EXPECT_EQ(flavour(program), "mpich");
  program.mpi = Mpi::openmpi;
  EXPECT_EQ(flavour(program), "openmpi");
  program.standard = true;
  EXPECT_EQ(flavour(program), "abi");
}

TEST_F(InspectProgram, RefusesAnMpiThatItHasNoLibraryFor) {
  const auto refused = inspect_program(build_with("libmpi_abi.so.0"), {}).status();
  EXPECT_EQ(refused.code(), Code::unavailable) << refused.message();
  EXPECT_THAT(refused.message(), HasSubstr(folder_ + "/libmpi_abi.so.0, for which Holdfast has none"));
  EXPECT_EQ(refused.message().find('\n'), std::string::npos);
  const auto taken = inspect_program(build_with("libmpi.so.12"), {});
  ASSERT_TRUE(taken.ok()) << taken.status().message();
  EXPECT_EQ(taken.value().mpi, Mpi::mpich);
  EXPECT_EQ(taken.value().library, folder_ + "/libmpi.so.12");
}

TEST_F(InspectProgram, KnowsTheStandardsInterfaceAndWhoseItIs) {
  const std::string soname = "libmpi_abi.so.1";
  auto program = inspect_program(build_with(soname), {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program.value().mpi, Mpi::mpich);
  EXPECT_TRUE(program.value().standard);
  EXPECT_EQ(program.value().library, folder_ + "/" + soname);
  program = inspect_program(build_with(soname, "int ompi_comm_dup(void) { return 0; }\n"), {});
  ASSERT_TRUE(program.ok()) << program.status().message();
  EXPECT_EQ(program.value().mpi, Mpi::openmpi);
  EXPECT_TRUE(program.value().standard);
  EXPECT_THAT(inspect_program(folder_ + "/program", Mpi::mpich).status().message(), HasSubstr("it links openmpi"));
}

TEST_F(InspectProgram, RefusesTheStandardsInterfaceBesideAnother) {
  const std::string path = build_with("libmpi_abi.so.1", "", "libmpi.so.12");
  EXPECT_THAT(inspect_program(path, {}).status().message(),
              HasSubstr("it links both MPICH for the standard's interface (" + folder_ +
                        "/libmpi_abi.so.1) and MPICH (" + folder_ + "/libmpi.so.12): link it with one MPI only"));
}

TEST_F(InspectProgram, RefusesAProgramForAnotherMachine) {
  std::ifstream in("/bin/true", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  bytes[18] = 8;  // e_machine: MIPS
  EXPECT_THAT(inspect_program(write("mips", bytes), {}).status().message(), HasSubstr("64-bit program for machine 8"));
  // The headers of a 32-bit program that asks for its loader, with nothing behind them.
  const auto number = [](std::uint64_t value, int width) {
    std::string text;
    for (int i = 0; i < width; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
    return text;
  };
  const std::string loader("/lib/ld-linux.so.2\0", 19);
  const std::string elf = std::string(
                              "\x7f"
                              "ELF\1\1\1",
                              7) +
                          std::string(9, '\0') + number(2, 2) + number(3, 2) + number(1, 4) + number(0x8048000, 4) +
                          number(52, 4) + number(0, 8) + number(52, 2) + number(32, 2) + number(1, 2) + number(40, 2) +
                          number(0, 4) + number(3, 4) + number(84, 4) + number(0x8048054, 8) +
                          number(loader.size(), 4) + number(loader.size(), 4) + number(4, 4) + number(1, 4) + loader;
  const auto refused = inspect_program(write("i386", elf), {}).status();
  EXPECT_EQ(refused.code(), Code::bad_input);
  EXPECT_THAT(refused.message(), HasSubstr("it is a 32-bit program for Intel 80386, and this Holdfast is a 64-bit"));
}

TEST_F(InspectProgram, RefusesAProgramThatRunsAsSomebodyElse) {
  const std::string path = build("cc", "int main(void) { return 0; }\n");
  ASSERT_FALSE(path.empty());
  if (chown(path.c_str(), 1, 1) != 0) GTEST_SKIP() << "needs root, to give a file away";
  chmod(path.c_str(), 04755);
  const auto refused = inspect_program(path, {}).status();
  EXPECT_EQ(refused.code(), Code::bad_input);
  EXPECT_THAT(refused.message(), HasSubstr("it is set-uid, so that the system loads no library before it"));
  chmod(path.c_str(), 02755);
  EXPECT_THAT(inspect_program(path, {}).status().message(), HasSubstr("it is set-gid"));
  ASSERT_EQ(chown(path.c_str(), geteuid(), getegid()), 0);
  chmod(path.c_str(), 04755);
  EXPECT_THAT(inspect_program(path, {}).status().message(), HasSubstr("not an MPI program")) << "its own user may";
}

TEST_F(InspectProgram, AsksForTheMpiOfAScript) {
  std::string path = write("job.sh", "#!/bin/sh\ntrue\n");
  EXPECT_THAT(inspect_program(path, {}).status().message(), HasSubstr("add --mpi"));
  auto program = inspect_program(path, Mpi::openmpi);
  ASSERT_TRUE(program.ok());
  EXPECT_TRUE(program.value().script);
}

TEST_F(InspectProgram, TellsWhatMayLoadMpi) {
  const auto loads = [&](const std::string& file, const std::string& bytes) {
    auto program = inspect_program(bytes.empty() ? file : write(file, bytes), Mpi::openmpi);
    EXPECT_TRUE(program.ok()) << file;
    return program.ok() && program.value().loads_mpi;
  };
  EXPECT_TRUE(loads("job.py", "#!/usr/bin/env python3\nimport mpi4py.MPI\n"));
  EXPECT_TRUE(loads("job", "#! /usr/bin/env -S PYTHONHASHSEED=0 python3 -u\n"));
  EXPECT_TRUE(loads("ends-early", "#!/usr/bin/python3"));
  EXPECT_TRUE(loads("/bin/ls", ""));
  EXPECT_FALSE(loads("job.sh", "#!/bin/sh\ntrue\n"));
  EXPECT_FALSE(loads("job.bash", "#!/usr/bin/env -i bash -e\ntrue\n"));
  EXPECT_FALSE(loads("/bin/bash", "")) << "what it starts may link another MPI of that name";
}

TEST(RunsInShell, OfWhatStandsBehindTheSigns) {
  EXPECT_TRUE(runs_in_shell(" /bin/dash"));
  EXPECT_TRUE(runs_in_shell("/usr/bin/env\tzsh\r"));
  EXPECT_FALSE(runs_in_shell(""));
  EXPECT_FALSE(runs_in_shell(" \t"));
  EXPECT_FALSE(runs_in_shell("/usr/bin/env"));
  EXPECT_FALSE(runs_in_shell("/opt/bash/python"));
}

TEST_F(InspectProgram, RefusesOtherFiles) {
  EXPECT_THAT(inspect_program(write("text", "hello\n"), {}).status().message(), HasSubstr("neither an ELF program"));
  EXPECT_THAT(inspect_program(write("empty", ""), {}).status().message(), HasSubstr("neither an ELF program"));
  EXPECT_EQ(inspect_program(folder_ + "/none", {}).status().code(), Code::not_found);
}

TEST_F(InspectProgram, RefusesScriptsThatTheKernelDoesNotRun) {
  const auto words = [&](const std::string& first) {
    const auto program = inspect_program(write("job", first), Mpi::openmpi);
    return program.ok() ? std::string("taken") : program.status().message();
  };
  EXPECT_EQ(words("#!/bin/sh\ntrue\n"), "taken");
  EXPECT_EQ(words("#! \t/bin/sh -e\ntrue\n"), "taken");
  EXPECT_THAT(words("#!/bin/sh\r\ntrue\r\n"), HasSubstr("'/bin/sh' and ends as lines do in Windows"));
  EXPECT_THAT(words("#!/no/such/shell -e\n"), HasSubstr("'/no/such/shell', which cannot be run"));
  EXPECT_THAT(words("#!/etc/passwd\n"), HasSubstr("cannot be run"));
  EXPECT_THAT(words("#!/tmp\n"), HasSubstr("cannot be run"));
  EXPECT_THAT(words("#!\ntrue\n"), HasSubstr("''"));
  EXPECT_LT(words("#!/" + std::string(4000, 'x')).size(), 700U);
}

TEST_F(InspectProgram, SurvivesEveryTruncationOfAnElfFile) {
  std::ifstream in("/bin/true", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t length = 4; length < bytes.size(); length = length * 3 / 2)
    EXPECT_FALSE(inspect_program(write("cut", bytes.substr(0, length)), {}).ok()) << length;
}

TEST(MpiNamed, HintsAtANearName) {
  EXPECT_EQ(mpi_named("mpich").value(), Mpi::mpich);
  EXPECT_THAT(mpi_named("opnmpi").status().message(), HasSubstr("did you mean 'openmpi'?"));
}

}  // namespace
}  // namespace holdfast::launch
