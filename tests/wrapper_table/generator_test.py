"""The generator: reading the table, what it says about a bad row, and the page made from the table."""

import os
import pathlib
import re
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("HOLDFAST_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(SOURCE / "tools"))

import generate_wrappers as generator  # noqa: E402

SEND = """MPI_Send  both  verify
    buf : const void* : buffer : in : count datatype
    count : int : count : in
    datatype : MPI_Datatype : datatype : in
    comm : MPI_Comm : comm : in
"""


def row(text):
    return generator.parse_table(text)[0]


class ReadingTheTable(unittest.TestCase):
    def test_a_row_has_name_policy_and_arguments(self):
        send = row("# a comment\n## Sending\n\n" + SEND)
        self.assertEqual((send.name, send.libraries, send.policy, send.result), ("Send", "both", "verify", "int"))
        self.assertEqual(send.section, "Sending")
        self.assertEqual([a.name for a in send.arguments], ["buf", "count", "datatype", "comm"])
        self.assertEqual(send.arguments[0].length, ("count", "datatype"))

    def test_a_row_may_name_its_result(self):
        self.assertEqual(row("MPI_Wtime  both  agree  double\n").result, "double")

    def test_array_brackets_follow_the_name(self):
        ranges = row("MPI_X  both  pass\n    n : int : integer : in\n    ranges : int[][3] : rank : in : n\n")
        self.assertEqual(ranges.parameters, "int n, int ranges[][3]")

    def test_bad_rows_name_their_line(self):
        bad = {
            "MPI_Send both verify\n": (1, "two spaces"),
            "\nSend  both  verify\n": (2, "not the name of an MPI function"),
            "mpi_send_  both  verify\n": (1, "not the name of an MPI function"),
            "MPI_Send  lam  verify\n": (1, "'lam' is not one of"),
            "MPI_Send  both  maybe\n": (1, "'maybe' is not a policy"),
            "    buf : void* : buffer : in\n": (1, "before the first function"),
            "  MPI_Send  both  verify\n": (1, "indented"),
            "MPI_Send  both  verify\n    buf : void* : buffer\n": (2, "a name, a C type, a kind and a direction"),
            "MPI_Send  both  verify\n    2 : void* : buffer : in\n": (2, "not the name of an argument"),
            "MPI_Send  both  verify\n    buf : void* : memory : in\n": (2, "'memory' is not a kind"),
            "MPI_Send  both  verify\n    buf : void* : buffer : up\n": (2, "'up' is not one of"),
            "MPI_Send  both  verify\n    count : int : count : out\n": (2, "passed by value"),
            "MPI_Send  both  verify\n    b : void* : buffer : in\n    c : int[] : count : in : n\n":
                (3, "'n' is no argument"),
            "MPI_Send  both  verify\n    c : int[] : count : in : size(comm)\n": (2, "'size(comm)' is no argument"),
            SEND + SEND: (6, "already in line 1"),
            "\nMPI_X  both  refuse\n    c : int : count : in\n": (2, "because REASON"),
            "MPI_X  both  pass\n    because it is so: wait\n": (1, "because REASON"),
        }
        for text, (line, message) in bad.items():
            with self.subTest(text), self.assertRaises(generator.TableError) as caught:
                generator.parse_table(text)
            self.assertEqual(caught.exception.line, line)
            self.assertIn(message, str(caught.exception))
            self.assertIn(f"line {line}: ", str(caught.exception))


class WritingWrappers(unittest.TestCase):
    def test_every_communicator_that_goes_in_is_translated(self):
        compare = row(
            "MPI_Comm_compare  both  translate\n    comm1 : MPI_Comm : comm : in\n    comm2 : MPI_Comm : comm : in\n"
            "    result : int* : integer : out\n"
        )
        self.assertIn("return real().Comm_compare(world(comm1), world(comm2), result);", generator.wrapper(compare))

    def test_a_hook_receives_translated_communicators(self):
        self.assertIn("return hook::Send(buf, count, datatype, world(comm));", generator.wrapper(row(SEND)))

    def test_a_call_that_passes_is_not_translated(self):
        wrapper = generator.wrapper(row(SEND))
        self.assertIn("if (passing_through()) return real().Send(buf, count, datatype, comm);", wrapper)
        self.assertIn("if (passing_through()) return library().Send(buf, count, datatype, comm);", wrapper)

    def test_starting_mpi_reaches_its_hook_before_anything_is_active(self):
        self.assertIn("if (depth > 0) return real().Init(argc);", generator.wrapper(
            row("MPI_Init  both  start\n    argc : int* : integer : inout\n")))

    def test_a_refused_call_names_itself_and_its_communicator(self):
        text = SEND.replace("verify", "refuse") + "    because of this: do that\n"
        self.assertIn('return refuse(Function::Send, "of this: do that");', generator.wrapper(row(text)))

    def test_a_communicator_that_is_not_known_goes_to_mpi_which_raises_the_error(self):
        self.assertIn("if (!known(world(comm))) return real().Send(buf, count, datatype, world(comm));",
                      generator.wrapper(row(SEND)))

    def test_an_extension_keeps_its_prefix(self):
        extension = row("MPIX_Agree  mpich  pass\n    flag : int* : flag : inout\n")
        self.assertEqual((extension.name, extension.symbol), ("X_Agree", "MPIX_Agree"))
        self.assertIn('__asm__("PMPIX_Agree")', generator.wrapper(extension))

    def test_large_counts_go_by_way_of_the_hook_that_takes_int(self):
        table = (
            "MPI_Give  mpich  verify\n    buf : const void* : buffer : in\n    count : int : count : in\n"
            "    type : MPI_Datatype : datatype : in\n    each : const int[] : count : in : size(comm)\n"
            "    comm : MPI_Comm : comm : in\n"
        )
        large = table.replace("MPI_Give", "MPI_Give_c").replace(": int", ": MPI_Count").replace("const int", "const MPI_Count")
        text = generator.large_counts_source(generator.parse_table(table + large))
        self.assertIn("const int count_ = call.count(count, type);", text)
        self.assertIn("const int* each_ = call.array(each, call.size(comm));", text)
        self.assertIn("const int code = hook::Give(buf, count_, type, each_, comm);", text)

    def test_a_flavour_has_only_its_own_functions_and_the_same_numbers(self):
        functions = generator.parse_table("MPI_A  openmpi  pass\nMPI_B  mpich  pass\n")
        own = [f for f in functions if f.exported_by("mpich")]
        self.assertNotIn("MPI_A;", generator.exports_map(own, "mpich"))
        self.assertIn("PMPI_B;", generator.exports_map(own, "mpich"))
        numbers = generator.functions_header(functions)
        self.assertLess(numbers.index("  A,"), numbers.index("  B,"))

    def test_a_function_without_a_profiling_name_is_found_by_its_own(self):
        text = generator.real_source(generator.parse_table("MPI_A  both  pass\n"))
        first = text.index("dlsym(RTLD_NEXT, profiling_name)")
        self.assertGreater(text.index("if (found == nullptr) found = dlsym(RTLD_NEXT, profiling_name + 1);"), first)

    def test_what_the_header_does_not_declare_is_left_out(self):
        functions = generator.parse_table("MPI_A  both  pass\nMPI_B  both  pass\nMPI_C  openmpi  pass\n")
        with tempfile.TemporaryDirectory() as folder:
            generator.write_flavour(functions, "mpich", pathlib.Path(folder), "int MPI_B(void); int MPI_C (int c);")
            exports = (pathlib.Path(folder) / "exports.map").read_text()
            real = (pathlib.Path(folder) / "real_functions.h").read_text()
        self.assertEqual(re.findall(r" (MPI_[ABC]);", exports), ["MPI_B"])
        self.assertEqual(re.findall(r"HOLDFAST_HAS_(\w)", real), ["B"])

    def test_the_standards_interface_has_what_its_header_declares_without_fortrans_types(self):
        header = """typedef struct MPI_ABI_Comm* MPI_Comm;
            #define MPI_COMM_WORLD ((MPI_Comm)0x00000101)
            int MPI_A(MPI_Comm comm); int MPI_B(MPI_Comm comm); int MPI_Comm_toint(MPI_Comm comm);
            MPI_Fint MPI_Comm_c2f(MPI_Comm comm); int MPI_Status_c2f08(const MPI_Status* c, MPI_F08_status* f);"""
        comm = "    comm : MPI_Comm : comm : in\n"
        functions = generator.parse_table(
            f"MPI_A  openmpi  translate\n{comm}MPI_B  mpich  translate\n{comm}MPI_C  both  translate\n{comm}"
            f"MPI_Comm_c2f  both  pass  MPI_Fint\n{comm}MPI_Comm_toint  both  pass\n{comm}"
            "MPI_Status_c2f08  openmpi  pass\n    c : const MPI_Status* : status : in\n    f : MPI_F08_status* : status : out\n")
        with tempfile.TemporaryDirectory() as folder:
            generator.write_flavour(functions, "abi", pathlib.Path(folder), header)
            exports = (pathlib.Path(folder) / "exports.map").read_text()
            weak = (pathlib.Path(folder) / "weak_handles.h").read_text()
        self.assertEqual(re.findall(r" (MPI_\w+);", exports), ["MPI_A", "MPI_B", "MPI_Comm_toint"])
        self.assertNotIn("mpi_comm_create_keyval_", exports)
        self.assertNotIn("#pragma weak", weak)

    def test_the_data_of_an_mpi_header_becomes_weak(self):
        header = """__attribute__((visibility("default"))) extern struct ompi_predefined_op_t ompi_mpi_op_sum;
            extern int * const MPI_UNWEIGHTED __attribute__((visibility("default"))); extern int MPI_Send(const void *b);
            extern char *program_invocation_name; typedef int MPI_Comm; extern MPI_Thing MPIR_OBJECT[1];"""
        self.assertEqual(generator.data_symbols(header), ["MPIR_OBJECT", "MPI_UNWEIGHTED", "ompi_mpi_op_sum"])


class TheCommittedFiles(unittest.TestCase):
    def setUp(self):
        self.functions = generator.parse_table((SOURCE / "src/replicate/mpi/intercept/functions.table").read_text())

    def test_every_function_of_the_standard_has_a_policy_that_says_what_to_do(self):
        for function in self.functions:
            if function.policy == "refuse":
                self.assertRegex(function.reason, r"\w: \w", function.symbol)

    def test_the_reference_page_is_the_tables(self):
        page = SOURCE / "docs/reference/functions.md"
        self.assertEqual(
            page.read_text(),
            generator.reference_page(self.functions),
            "run: tools/generate_wrappers.py --table src/replicate/mpi/intercept/functions.table --reference docs/reference/functions.md",
        )

    def test_what_takes_a_communicator_is_never_passed_untranslated(self):
        # A handle converted to Fortran's, or to an integer, and back must stay what it was.
        allowed = {"Comm_c2f", "Comm_toint"}
        for function in self.functions:
            if function.policy == "pass" and any(a.world_can_enter for a in function.arguments):
                self.assertIn(function.name, allowed)

    def test_what_returns_no_error_code_is_never_refused(self):
        for function in self.functions:
            if function.policy == "refuse":
                self.assertEqual(function.result, "int", function.name)


if __name__ == "__main__":
    unittest.main()
