"""holdfast simulate, end to end: results, records, traces, deadlocks and bad input."""

import json
import os
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["HOLDFAST_PROGRAM"]


def simulate(*arguments):
    return subprocess.run([PROGRAM, "simulate", *arguments], capture_output=True, text=True, timeout=120)


class Command(unittest.TestCase):
    def test_an_exchange_completes_and_its_record_agrees_with_equation_7(self):
        done = simulate("--fabric", "tree(4,2)", "--engine", "ftree", "--traffic", "exchange size=20480", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        record = json.loads(done.stdout)
        self.assertEqual(record["record"], "holdfast.simulation")
        self.assertEqual(record["ending"], "complete")
        hosts = record["hosts"]
        self.assertEqual(record["messages"]["delivered"], hosts * (hosts - 1))
        expected = hosts * (hosts - 1) * 20480 / (record["completion_ps"] / 1e12)
        self.assertAlmostEqual(record["throughput_bytes_per_s"] / expected, 1, places=9)
        again = simulate("--fabric", "tree(4,2)", "--engine", "ftree", "--traffic", "exchange size=20480", "--json", "-")
        self.assertEqual(again.stdout, done.stdout)

    def test_a_ring_without_escape_lanes_deadlocks_and_says_where(self):
        done = simulate("--fabric", "torus(5,5)", "--engine", "dor", "--traffic", "tornado order=lid")
        if done.returncode == 0:
            done = simulate("--fabric", "torus(5,5) hosts=100", "--engine", "dor", "--traffic", "uniform", "--limit", "5ms")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("DEADLOCK", done.stdout)
        self.assertIn("waits in a circle: s-", done.stdout)

    def test_a_trace_is_replayed(self):
        with tempfile.NamedTemporaryFile("w", suffix=".trace") as trace:
            trace.write("holdfast-trace 1\nhosts 2\nhost 0\nsend 1 4096\nhost 1\nrecv 0\n")
            trace.flush()
            done = simulate("--fabric", "tree(4,2)", "--engine", "minhop", "--trace", trace.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 1 delivered", done.stdout)

    def test_bad_input_is_one_line_and_exit_code_2(self):
        for arguments, words in [
            ((), "--fabric"),
            (("--fabric", "tree(4,2)", "--traffic", "unifrom"), "uniform"),
            (("--fabric", "tree(4,2)", "--engine", "dfsp"), "dfsp"),
            (("--fabric", "tree(4,2)", "--limit", "5"), "unit"),
            (("--fabric", "tree(4,2)", "--trace", "/nonexistent"), "/nonexistent"),
            (("--fabric", "tree(4,2)", "--simulate.mtu", "9000"), "4096"),
        ]:
            done = simulate(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
