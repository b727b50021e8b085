#!/usr/bin/env python3
"""`holdfast fabric compare` and `fabric route` with the real OpenSM on the real ibsim: what it prints, how it ends, what it leaves."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

HOLDFAST = os.environ["HOLDFAST_PROGRAM"]


def compare(*words, **options):
    return subprocess.run([HOLDFAST, "fabric", "compare", *words], capture_output=True, text=True, timeout=300, **options)


def processes_with(text):
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (process / "cmdline").read_bytes() + (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            pass
    return found


class Compare(unittest.TestCase):
    def test_ranks_engines_of_both_kinds(self):
        run = compare("torus(5,5) hosts=25", "--engines", "minhop,opensm:minhop,updn,opensm:ftree,opensm:dfsssp", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        record = json.loads(run.stdout)
        self.assertEqual(record["record"], "holdfast.fabric.compare")
        self.assertEqual((record["switches"], record["adapters"]), (25, 25))
        engines = {entry["engine"]: entry for entry in record["engines"]}
        self.assertEqual(engines["opensm:ftree"]["verdict"], "refused")
        self.assertIn("root", engines["opensm:ftree"]["reason"])
        for name in ("minhop", "opensm:minhop"):
            self.assertEqual(engines[name]["verdict"], "routed")
            self.assertEqual(engines[name]["lost_pairs"], 0)
            self.assertGreater(engines[name]["credit_loops"], 0, "shortest paths on a torus with one lane")
            self.assertFalse(engines[name]["valid"])
        self.assertEqual(engines["minhop"]["mean_path"], engines["opensm:minhop"]["mean_path"])
        for name in ("updn", "opensm:dfsssp"):
            self.assertTrue(engines[name]["valid"], name)
        order = [entry["valid"] for entry in record["engines"]]
        self.assertEqual(order, sorted(order, reverse=True), "valid ones first")
        self.assertEqual(record["engines"][-1]["engine"], "opensm:ftree", "the refused one last")

    def test_prints_a_table_alone_when_piped(self):
        run = compare("tree(3,2)", "--engines", "ftree,opensm:ftree")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("opensm:ftree", run.stdout)
        self.assertEqual(run.stderr, "")

    def test_takes_a_file(self):
        net = subprocess.run([HOLDFAST, "fabric", "generate", "tree(3,2)"], capture_output=True, text=True, check=True)
        with tempfile.NamedTemporaryFile("w", suffix=".net") as file:
            file.write(net.stdout)
            file.flush()
            run = compare(file.name, "--engines", "opensm:updn", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(json.loads(run.stdout)["engines"][0]["valid"])


class Route(unittest.TestCase):
    def route(self, *words):
        return subprocess.run([HOLDFAST, "fabric", "route", *words], capture_output=True, text=True, timeout=300)

    def test_by_opensm_with_a_live_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            lfts = os.path.join(folder, "lfts")
            run = self.route("tree(4,3)", "--engine", "opensm:updn", "--faults", "fail-link link s-0-0/5", "--json",
                             "--out", lfts)
            self.assertEqual(run.returncode, 0, run.stderr)
            record = json.loads(run.stdout)
            self.assertEqual(record["engine"], "opensm:updn")
            failure = record["failure"]
            self.assertGreater(failure["routes_cut"], 0)
            self.assertGreater(failure["rerouted"]["entries_changed"], 0)
            self.assertGreater(failure["sweep_wall_ns"], 0)
            self.assertTrue(failure["after"]["good"])
            check = subprocess.run([HOLDFAST, "fabric", "check", "tree(4,3)", "--tables", lfts, "--engines", "minhop", "--json"],
                                   capture_output=True, text=True, timeout=300)
            self.assertEqual(json.loads(check.stdout)["tables"]["lost_pairs"], 0, "they also fit the whole fabric")

    def test_opensm_follows_a_torus_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            net, config = os.path.join(folder, "fabric.net"), os.path.join(folder, "torus-2QoS.conf")
            for words in (("generate", "torus(4,5) hosts=20", "-o", net),
                          ("export", "torus(4,5) hosts=20", "--to", "torus-2qos", "-o", config)):
                subprocess.run([HOLDFAST, "fabric", *words], check=True, capture_output=True, timeout=300)
            run = self.route(net, "--engine", "opensm:torus-2QoS", "--torus-config", config, "--json")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(json.loads(run.stdout)["lost_pairs"], 0)
            run = self.route(net, "--engine", "opensm:torus-2QoS", "--torus-config", config, "--faults",
                             "fail-link share 3%")
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_ours_is_mended_and_routed_in_full(self):
        run = self.route("tree(4,3)", "--engine", "ftree", "--faults", "fail-link link s-0-0/5", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        failure = json.loads(run.stdout)["failure"]
        self.assertLessEqual(failure["rerouted"]["entries_changed"], failure["routed_in_full"]["entries_changed"])

    def test_exit_codes(self):
        self.assertEqual(self.route("torus(5,5)", "--engine", "opensm:ftree").returncode, 2, "refused")
        run = self.route("torus-7x7x7", "--engine", "opensm:lash", "--time-limit", "1s")
        self.assertEqual(run.returncode, 124)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertEqual(self.route("torus(5,5)", "--engine", "opensm:minhop").returncode, 1, "credit loops")
        self.assertEqual(self.route("torus(5,5)", "--engine", "minhop,updn").returncode, 2)


class BadInput(unittest.TestCase):
    def expect(self, code, words, *said):
        run = compare(*words)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for text in said:
            self.assertIn(text, run.stderr)

    def test_says_what_is_wrong(self):
        self.expect(2, ["tree(3,2)", "--engines", "opensm:updm"], "opensm:updm", "opensm:updn")
        self.expect(2, ["tree(3,2)", "--engines", ""], "engine")
        self.expect(2, ["tree(3,2)", "--time-limit", "5"], "unit")
        self.expect(2, ["tree(3,2)", "--lanes", "9"], "--lanes")
        self.expect(2, [], "FABRIC")
        self.expect(2, ["tree(3,2)", "--paper-tables"], "--paper-tables")


class Interrupted(unittest.TestCase):
    def interrupted_by(self, number):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, TMPDIR=folder)
            words = [HOLDFAST, "fabric", "compare", "torus-7x7x7", "--engines", "opensm:dfsssp,opensm:nue", "--jobs", "2"]
            run = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + 200
            while time.monotonic() < deadline and not any(
                    b"opensm.conf" in pathlib.Path(f"/proc/{p}/cmdline").read_bytes() for p in processes_with(folder)
                    if pathlib.Path(f"/proc/{p}/cmdline").exists()):
                time.sleep(0.05)
            self.assertTrue(list(pathlib.Path(folder).iterdir()), "a session runs")
            run.send_signal(number)
            run.wait(200)
            deadline = time.monotonic() + 200
            while time.monotonic() < deadline and (processes_with(folder) or list(pathlib.Path(folder).iterdir())):
                time.sleep(0.05)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [], "no file is left")
            self.assertEqual(processes_with(folder), [], "no process is left")

    def test_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(signal=number):
                self.interrupted_by(number)


if __name__ == "__main__":
    unittest.main()
