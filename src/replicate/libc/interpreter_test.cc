#include "replicate/libc/interpreter.h"

#include <gtest/gtest.h>

namespace holdfast::replicate {
namespace {

TEST(MayLoadMpi, GoesByTheNameAndItsVersion) {
  for (const char* path : {"/usr/bin/python3.11", "python", "/opt/venv/bin/python3", "/usr/lib/R/bin/exec/R",
                           "julia-1.9", "/usr/bin/perl5.36.0"})
    EXPECT_TRUE(may_load_mpi(path)) << path;
  for (const char* path : {"", "/", "/bin/sh", "/usr/bin/pythonic", "/usr/bin/python3-config", "/opt/python3/app",
                           "Rscript", "/usr/bin/date", "r", "perldoc"})
    EXPECT_FALSE(may_load_mpi(path)) << path;
}

}  // namespace
}  // namespace holdfast::replicate
