"""The table against an installed MPI library and the library built to be preloaded in front of it."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["HOLDFAST_SOURCE_DIR"])
FLAVOUR = os.environ["FLAVOUR"]
sys.path.insert(0, str(SOURCE / "tools"))

import generate_wrappers as generator  # noqa: E402


def symbols(library, *options):
    """(kind, name) of each dynamic symbol, without its version."""
    command = [os.environ.get("NM") or "nm", "-D", *options, library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [(line.split()[-2], line.split()[-1].split("@")[0]) for line in lines]


def c_functions(library):
    """The C functions with the prefix MPI_: Fortran's are in one case, data symbols are neither T nor W."""
    names = {name for kind, name in symbols(library, "--defined-only") if kind in "TW"}
    return {name for name in names if re.match(r"MPIX?_[A-Z]\w*[a-z]", name)}


class TableAndLibraries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        functions = generator.parse_table((SOURCE / "src/replicate/mpi/intercept/functions.table").read_text())
        declared = generator.declared_functions(pathlib.Path(os.environ["MPI_HEADER"]).read_text())
        cls.rows = {f.symbol for f in functions if f.exported_by(FLAVOUR) and f.symbol in declared}
        cls.exported = c_functions(os.environ["MPI_LIBRARY"])
        if FLAVOUR == "abi":  # MPI 1's and Fortran's, which MPICH exports too: the interface's header does not have them
            cls.exported -= {f.symbol for f in functions} - cls.rows
        cls.preloaded = os.environ["PRELOADED"]

    def test_every_exported_function_has_a_row(self):
        # Open MPI's MPIX_Query_cuda_support, a constant, has no profiling name that a wrapper could go on to.
        names = {name for _, name in symbols(os.environ["MPI_LIBRARY"], "--defined-only")}
        exported = {name for name in self.exported if name.startswith("MPI_") or "P" + name in names}
        self.assertEqual(exported - self.rows, set(), "add these to src/replicate/mpi/intercept/functions.table")

    def test_every_row_that_the_header_declares_is_an_exported_function(self):
        self.assertGreater(len(self.rows), 400)
        self.assertEqual(self.rows - self.exported, set(), "the table has these, the MPI library does not")

    def test_every_row_can_be_reached_by_its_profiling_name(self):
        names = {name for _, name in symbols(os.environ["MPI_LIBRARY"], "--defined-only")}
        without = {row for row in self.rows if "P" + row not in names}
        self.assertEqual(without - ({"MPI_File_close"} if FLAVOUR == "abi" else set()), set())  # MPICH 5.0.2 has none

    def test_the_preloaded_library_exports_the_rows_and_clocks_only(self):
        exported = {name for kind, name in symbols(self.preloaded, "--defined-only") if kind in "TWi"}
        wanted = self.rows | {"P" + row for row in self.rows}
        self.assertEqual(wanted - exported, set())
        others = set(generator.C_LIBRARY + generator.waiting_symbols(FLAVOUR) + generator.binding_symbols(FLAVOUR))
        self.assertEqual(exported - wanted - others, set())

    def test_every_function_that_stands_for_one_of_the_c_library_is_exported(self):
        """The list of exports hides what it does not name: a function that it lacks would never be called."""
        written = set()
        for source in (SOURCE / "src/replicate/libc").glob("*.cc"):
            written |= set(re.findall(r"\[\[gnu::visibility\(\"default\"\)[^\]]*\]\][^;{(]*?\b(\w+)\(", source.read_text()))
        written -= {"function", "random_device_value", "__attribute__"}
        self.assertGreater(len(written), 100)
        self.assertEqual(written - set(generator.C_LIBRARY), set())

    def test_the_preloaded_library_needs_no_mpi_symbol_to_load(self):
        needed = [(kind, name) for kind, name in symbols(self.preloaded, "--undefined-only") if re.search("mpi", name, re.I)]
        self.assertEqual([name for kind, name in needed if kind not in "wv"], [])

    @unittest.skipIf(os.environ.get("SANITIZE"), "a sanitizer's run-time library must come first")
    def test_programs_without_mpi_run_under_it(self):
        environment = dict(os.environ, LD_PRELOAD=self.preloaded)
        self.assertEqual(subprocess.run(["/bin/true"], env=environment, timeout=20).returncode, 0)
        shell = subprocess.run(["sh", "-c", "date >/dev/null && echo $((6 * 7)) | cat"], env=environment,
                               capture_output=True, text=True, timeout=20)
        self.assertEqual((shell.stdout, shell.stderr, shell.returncode), ("42\n", "", 0))


if __name__ == "__main__":
    unittest.main()
