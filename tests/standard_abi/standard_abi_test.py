#!/usr/bin/env python3
"""The examples, built for the standard's interface of MPI, natively and in replicas under `holdfast run`.

Usage: standard_abi_test.py --holdfast PROGRAM --examples FOLDER [--programs FOLDER]

The folders have what the build compiled with the mpicc_abi that it found: the examples, and some of tests/programs. Where
it found none, exit code 77: skipped.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ARGUMENTS = {"cg": ["--size", "12"], "fft": ["--size", "16"], "sort": ["--keys", "20000"], "sweep": ["--size", "12"],
             "multigrid": ["--size", "16", "--cycles", "10"], "task_farm": ["--tasks", "60"]}
NAMES = ("cg", "pipelined_cg", "heat", "fft", "sort", "sweep", "multigrid", "ring", "clocks", "task_farm")
OTHERS = ("callbacks", "one_sided", "parallel_io")
FLIP = "flip rank 1 replica 1 message 5 bit 62"


class StandardAbi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        places = [EXAMPLES / name for name in NAMES] + [PROGRAMS / name for name in OTHERS if PROGRAMS]
        cls.programs = [place for place in places if place.exists()]

    def run_in(self, degree, program, *options):
        """The exit code, what the program prints, and what `holdfast run` says of the job."""
        with tempfile.TemporaryDirectory() as folder:
            record = pathlib.Path(folder) / "run.json"
            line = [HOLDFAST, "run", "-n", "2", "--replicas", str(degree), "--output", f"{folder}/run", "--json", record,
                    *options, "--", program, *ARGUMENTS.get(program.name, [])]
            ended = subprocess.run(list(map(str, line)), capture_output=True, text=True, timeout=200)
            said = json.loads(record.read_text()) if record.exists() else {}
        return ended.returncode, ended.stdout, said, ended.stderr

    def test_the_library_is_that_of_the_interface(self):
        line = [HOLDFAST, "run", "-n", "2", "--replicas", "2", "--dry-run", "--", str(EXAMPLES / "cg")]
        planned = subprocess.run(line, capture_output=True, text=True, timeout=60)
        self.assertEqual(planned.returncode, 0, planned.stderr)
        self.assertIn("/libholdfast-replicate-abi.so", planned.stdout)

    def test_replicas_print_what_one_prints(self):
        self.assertGreaterEqual(len(self.programs), 6)
        for program in self.programs:
            code, alone, _, errors = self.run_in(1, program)
            self.assertEqual(code, 0, f"{program.name} natively: {errors}")
            for degree in (2, 3):
                with self.subTest(program=program.name, degree=degree):
                    code, shown, said, errors = self.run_in(degree, program)
                    self.assertEqual(code, 0, errors)
                    self.assertEqual(shown, alone)
                    counters = said["counters"]
                    self.assertGreater(counters["messages"] + counters["collectives"], 0)
                    self.assertEqual((counters["mismatches"], counters["unverified"]), (0, 0))

    def test_a_flip_is_detected_by_two_and_corrected_by_three(self):
        program = EXAMPLES / "cg"
        _, alone, _, _ = self.run_in(1, program)
        code, _, _, errors = self.run_in(2, program, "--inject", FLIP)
        self.assertEqual(code, 3, errors)
        code, shown, said, errors = self.run_in(3, program, "--inject", FLIP)
        self.assertEqual(code, 0, errors)
        self.assertEqual(shown, alone)
        self.assertGreaterEqual(said["counters"]["mismatches"], 1)
        self.assertEqual(said["counters"]["corrections"], said["counters"]["mismatches"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--examples", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path)
    arguments, rest = parser.parse_known_args()
    HOLDFAST, EXAMPLES, PROGRAMS = arguments.holdfast, arguments.examples, arguments.programs
    if not (EXAMPLES / "cg").exists():
        print("skipped: no MPI with the standard's interface was found when this was configured: HOLDFAST_MPI_ABI_MPICC "
              "names its mpicc_abi")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])
