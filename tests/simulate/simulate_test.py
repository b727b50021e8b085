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

    def test_a_goal_schedule_is_replayed(self):
        with tempfile.NamedTemporaryFile("w", suffix=".goal") as goal:
            goal.write("num_ranks 2\nrank 0 {\nl1: calc 1000\nl2: send 4096b to 1 tag 5\nl2 requires l1\n}\n"
                       "rank 1 {\nrecv 4096b from 0 tag 5\n}\n")
            goal.flush()
            done = simulate("--fabric", "tree(4,2)", "--engine", "minhop", "--trace", goal.name, "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        record = json.loads(done.stdout)
        self.assertEqual(record["messages"]["delivered"], 1)
        self.assertGreater(record["completion_ps"], 1_000_000)  # after the calculation

    def test_files_give_what_the_engine_gives(self):
        with tempfile.TemporaryDirectory() as folder:
            net, lfts, lanes, paths = (os.path.join(folder, name) for name in ("net", "lfts", "sl2vl", "paths"))
            self.fabric("generate", "torus(3,3) hosts=18", "-o", net)
            self.fabric("route", net, "--engine", "dfsssp", "--out", lfts, "--sl2vl", lanes, "--paths", paths)
            traffic = ("--fabric", net, "--traffic", "all-to-all size=5000", "--json", "-")
            from_files = simulate(*traffic, "--tables", lfts, "--sl2vl", lanes, "--path-records", paths)
            from_engine = simulate(*traffic, "--engine", "dfsssp")
        self.assertEqual(from_files.returncode, 0, from_files.stderr)
        records = [json.loads(done.stdout) for done in (from_files, from_engine)]
        self.assertEqual(records[0].pop("tables"), lfts)
        self.assertEqual(records[1].pop("engine"), "dfsssp")
        self.assertGreater(records[0]["lanes"], 1)
        self.assertEqual(*records)

    def test_faults_are_routed_around_or_cost_packets(self):
        arguments = ("--fabric", "tree(4,2)", "--engine", "ftree", "--traffic", "exchange size=4096", "--json", "-",
                     "--fault", "fail-link share 10%", "--fault-seed", "3")
        rerouted = json.loads(simulate(*arguments).stdout)
        self.assertEqual(len(rerouted["failed"]), 1)
        self.assertTrue(rerouted["rerouted"])
        self.assertEqual(rerouted["messages"]["delivered"], 240)
        stale = json.loads(simulate(*arguments, "--not-rerouted").stdout)
        self.assertEqual(stale["failed"], rerouted["failed"])
        self.assertFalse(stale["rerouted"])
        self.assertGreater(stale["packets"]["dropped_unroutable"], 0)
        self.assertLess(stale["messages"]["delivered"], 240)

    def test_a_sweep_finds_the_saturation_point(self):
        done = simulate("--fabric", "tree(4,2)", "--engine", "ftree", "--sweep", "--steps", "4", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        record = json.loads(done.stdout)
        self.assertEqual(record["record"], "holdfast.simulation-sweep")
        loads = [point["load"] for point in record["points"]]
        self.assertEqual(loads, sorted(loads))
        kept = [point["load"] for point in record["points"] if point["kept_up"]]
        self.assertEqual(record["saturation_load"], max(kept))
        self.assertTrue(0.5 <= record["saturation_load"] < 1, record["saturation_load"])
        for point in record["points"]:
            self.assertLessEqual(point["run"]["host_bytes_per_s"]["mean"], point["offered_bytes_per_s"] * 1.02)

    def test_a_sweep_that_deadlocks_says_so(self):
        done = simulate("--fabric", "torus(5,5) hosts=100", "--engine", "dor", "--sweep", "--steps", "4")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("DEADLOCK", done.stdout)
        self.assertIn("waits in a circle", done.stdout)
        self.assertNotIn("keeps up to load 0.250", done.stdout)

    def test_the_transport_carries_any_traffic(self):
        words = ("--fabric", "rails(2,2,2,2)", "--engine", "updn", "--traffic", "exchange size=30000", "--transport")
        done = simulate(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("transport             4 hosts, 2 rails; 48 of 48 messages delivered, 8 inside hosts", done.stdout)
        self.assertIn("assumed             datagram.rails 16", done.stdout)
        self.assertIn("exchange", json.loads(simulate(*words, "--json", "-").stdout)["traffic"])
        self.assertEqual(simulate(*words, "--json", "-").stdout, simulate(*words, "--json", "-").stdout)
        flipped = simulate(*words, "--fault", "flip rate 1/20", "--json", "-")
        record = json.loads(flipped.stdout)["transport"]
        self.assertGreater(record["engines"]["corrupt_fragments"], 0)
        self.assertEqual(record["wrong_messages"], 0)
        self.assertEqual(record["messages"], {"sent": 48, "delivered": 48, "inside_hosts": 8})

    def test_a_peer_that_the_transport_gives_up_ends_the_run(self):
        done = simulate("--fabric", "tree(2,1)", "--engine", "updn", "--traffic", "exchange size=1000000 messages=99",
                        "--transport", "--transport.unreachable-after", "50ms", "--fault",
                        "fail-hca hca host-1 time 1ms", "--not-rerouted", "--critical")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("BROKEN", done.stdout)
        self.assertRegex(done.stdout, r"LOST +after .* ms host-. gave up host-.: unreachable")

    def test_faults_of_packets_need_the_transport(self):
        done = simulate("--fabric", "tree(2,1)", "--engine", "updn", "--fault", "flip rate 1/2")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("--transport", done.stderr)
        for words in (["--sweep"], ["--simulate.mtu", "512"], ["--transport.secret-file", "x"], ["--datagram.rails", "0"]):
            done = simulate("--fabric", "tree(2,1)", "--engine", "updn", "--transport", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    @unittest.skipUnless(os.path.exists(os.environ.get("HOLDFAST_OPENSM_TAP", "")), "OpenSM's tap is not built")
    def test_tables_of_the_real_opensm(self):
        done = simulate("--fabric", "tree(4,2)", "--engine", "opensm:ftree", "--traffic", "exchange", "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["messages"]["delivered"], 240)
        refused = simulate("--fabric", "random(8,4) hosts=16", "--engine", "opensm:ftree")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("refused", refused.stderr)

    def fabric(self, *arguments):
        done = subprocess.run([PROGRAM, "fabric", *arguments], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_bad_input_is_one_line_and_exit_code_2(self):
        for arguments, words in [
            ((), "--fabric"),
            (("--fabric", "tree(4,2)", "--traffic", "unifrom"), "uniform"),
            (("--fabric", "tree(4,2)", "--engine", "dfsp"), "dfsp"),
            (("--fabric", "tree(4,2)", "--limit", "5"), "unit"),
            (("--fabric", "tree(4,2)", "--trace", "/nonexistent"), "/nonexistent"),
            (("--fabric", "tree(4,2)", "--simulate.mtu", "9000"), "4096"),
            (("--fabric", "tree(4,2)", "--engine", "native"), "more than one"),
            (("--fabric", "tree(4,2)", "--fault", "fail-link share"), "percentage"),
            (("--fabric", "tree(4,2)", "--fault", "drop rate 1/2"), "fail-link"),
            (("--fabric", "tree(4,2)", "--tables", "/nonexistent"), "/nonexistent"),
            (("--fabric", "tree(4,2)", "--sl2vl", "/nonexistent"), "--tables"),
            (("--fabric", "tree(4,2)", "--tables", "x", "--engine", "ftree"), "--engine"),
            (("--fabric", "tree(4,2)", "--sweep", "--traffic", "exchange"), "uniform"),
        ]:
            done = simulate(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
