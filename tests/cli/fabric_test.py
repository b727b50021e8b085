#!/usr/bin/env python3
"""Tests of `holdfast fabric route` and `holdfast fabric check` as a user meets them. Usage: fabric_test.py [SUITE]..."""

import json
import os
import subprocess
import tempfile
import unittest

HOLDFAST = os.environ["HOLDFAST_PROGRAM"]
LIMIT = 100  # seconds for one command: far more than any needs


def run(*words):
    return subprocess.run([HOLDFAST, "fabric", *words], capture_output=True, text=True, timeout=LIMIT)


class FabricRoute(unittest.TestCase):
    def test_good_routes_end_with_0_and_loops_with_1(self):
        self.assertEqual(run("route", "torus(5,5) hosts=25", "--engine", "updn").returncode, 0)
        looping = run("route", "torus(5,5) hosts=25", "--engine", "minhop")
        self.assertEqual(looping.returncode, 1)
        self.assertIn("lane 0: s-", looping.stdout)

    def test_a_refusal_is_one_line_and_2(self):
        refused = run("route", "torus(5,5) hosts=25", "--engine", "ftree")
        self.assertEqual(refused.returncode, 2)
        self.assertEqual(refused.stderr.count("\n"), 1)
        self.assertIn("not a fat tree", refused.stderr)
        self.assertIn("did you mean 'dfsssp'?", run("route", "tree(2,2)", "--engine", "dfsssp2").stderr)
        self.assertEqual(run("route", "tree(2,2)", "--engine", "updn", "--root", "nobody").returncode, 2)

    def test_tables_come_back_as_they_were_written(self):
        with tempfile.TemporaryDirectory() as folder:
            tables, lanes, paths = (os.path.join(folder, name) for name in ("lfts", "sl2vl", "paths"))
            written = run("route", "torus(4,5) hosts=20", "--engine", "torus-2qos", "--out", tables, "--sl2vl", lanes,
                          "--paths", paths)
            self.assertEqual(written.returncode, 0, written.stderr)
            whole = run("check", "torus(4,5) hosts=20", "--engines", "updn", "--tables", tables, "--sl2vl", lanes,
                        "--paths", paths)
            self.assertEqual(whole.returncode, 0, whole.stdout + whole.stderr)
            without_lanes = run("check", "torus(4,5) hosts=20", "--engines", "updn", "--tables", tables)
            self.assertEqual(without_lanes.returncode, 1, "one lane closes the rings")

    def test_lost_routes_are_counted(self):
        counted = run("route", "tree(3,2)", "--engine", "ftree", "--lost-routes", "links", "--seeds", "5", "--json")
        self.assertEqual(counted.returncode, 0, counted.stderr)
        counts = json.loads(counted.stdout)["lost_routes_of_failed_links"]
        self.assertEqual(counts[0]["failures"], 1)
        self.assertAlmostEqual(counts[0]["expected"], 12)  # 9 hosts, 6 of them elsewhere, over 9 links with 2 ends


class FabricCheck(unittest.TestCase):
    def test_a_whole_fabric_is_in_order(self):
        good = run("check", "10-ary-3-tree", "--engines", "minhop,ftree")
        self.assertEqual(good.returncode, 0, good.stderr)
        self.assertIn("The fabric is in order.", good.stdout)
        self.assertIn("hosts      1100, 0 cut off", good.stdout)

    def test_the_record_says_the_same(self):
        record = json.loads(run("check", "kautz-2-4", "--json").stdout)
        self.assertEqual(record["record"], "holdfast.fabric.check")
        self.assertTrue(record["good"])
        engines = {engine["engine"]: engine for engine in record["engines"]}
        self.assertEqual(len(engines), 10)
        self.assertFalse(engines["minhop"]["good"])
        self.assertTrue(engines["nue"]["good"])

    def test_bad_input_is_one_line_and_2(self):
        for words in (["check", "/no/such/file"], ["check", "tree(2,2)", "--engines", "updm"],
                      ["check", "tree(2,2)", "--tables", "/no/such/file"]):
            failed = run(*words)
            self.assertEqual(failed.returncode, 2, failed.stderr)
            self.assertEqual(failed.stderr.count("\n"), 1, failed.stderr)


if __name__ == "__main__":
    unittest.main()
