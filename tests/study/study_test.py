"""holdfast study, end to end: resuming after kill -9 and Ctrl-C, shares, ranks that die, the page in a real browser."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ["HOLDFAST_PROGRAM"]
REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))

STUDY = """
[study]
name = "end-to-end"
title = "A small cross product"
[[group]]
name = "all"
fabric = ["tree(4,2)", "torus(3,3) hosts=18"]
engine = ["dfsssp", "updn", "ftree"]
failures = ["none", "fail-link share 10%"]
traffic = ["exchange", "uniform messages=40"]
seeds = 3
"""
RUNS = 2 * 3 * ((1 + 3) + 2 * 3)

COLLECTIVES = """
[study]
kind = "collectives"
name = "collectives"
fabric = "xgft(2;4,4;1,4)"
collectives = 20
[[group]]
name = "random"
protection = ["temporal", "spatial"]
source = "link"
mean = ["10us", "100us"]
"""


def in_job(rank, size):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_"))}
    if size > 1:
        environment.update(PMI_RANK=str(rank), PMI_SIZE=str(size))
    return environment


class Studies(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="holdfast-study-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        with open(os.path.join(self.folder, "s.toml"), "w", encoding="utf-8") as file:
            file.write(STUDY)

    def study(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, "study", *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=200, env=in_job(0, 1))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def start(self, *arguments, rank=0, size=1):
        return subprocess.Popen([PROGRAM, "study", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=in_job(rank, size))

    def runs(self, name="s.sqlite"):
        with sqlite3.connect(os.path.join(self.folder, name)) as database:
            return sorted(database.execute("SELECT key, outcome, result FROM run").fetchall())

    def wait_for_runs(self, count, name="s.sqlite"):
        until = time.monotonic() + 100
        while time.monotonic() < until:
            try:
                if len(self.runs(name)) >= count:
                    return
            except sqlite3.Error:
                pass
            time.sleep(0.005)
        self.fail("no runs came")

    def children_of(self, process):
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            return [int(child) for child in file.read().split()]

    def expected(self):
        """All runs by a study that nothing disturbed."""
        self.study("run", "s.toml", "-q", "-d", "calm.sqlite")
        return self.runs("calm.sqlite")

    def test_kill_9_loses_nothing_and_repeats_nothing(self):
        going = self.start("run", "s.toml", "--workers", "2")
        self.wait_for_runs(3)
        workers = self.children_of(going.pid)
        self.assertTrue(workers)
        going.kill()
        going.communicate()
        kept = self.runs()
        self.assertGreaterEqual(len(kept), 3)
        for worker in workers:  # they die with their coordinator
            until = time.monotonic() + 20
            while os.path.exists(f"/proc/{worker}") and time.monotonic() < until:
                time.sleep(0.01)
            self.assertFalse(os.path.exists(f"/proc/{worker}"))
        summary = json.loads(self.study("run", "s.toml", "--json").stdout)
        self.assertEqual(summary["runs"], RUNS)
        self.assertEqual(summary["found"], len(kept))
        self.assertEqual(summary["added"], RUNS - len(kept))
        self.assertEqual(self.runs(), self.expected())
        again = json.loads(self.study("run", "s.toml", "--json").stdout)
        self.assertEqual((again["found"], again["added"]), (RUNS, 0))

    def test_ctrl_c_keeps_what_is_finished(self):
        going = self.start("run", "s.toml", "--workers", "1")
        self.wait_for_runs(2)
        going.send_signal(signal.SIGINT)
        out, _ = going.communicate(timeout=60)
        self.assertEqual(going.returncode, 128 + signal.SIGINT)
        self.assertIn("interrupted", out)
        self.assertGreaterEqual(len(self.runs()), 2)
        self.study("run", "s.toml", "-q")
        self.assertEqual(self.runs(), self.expected())

    def test_a_dead_worker_costs_nothing(self):
        going = self.start("run", "s.toml", "--workers", "1")
        self.wait_for_runs(2)
        killed = 0
        for worker in self.children_of(going.pid):
            os.kill(worker, signal.SIGKILL)
            killed += 1
        _, err = going.communicate(timeout=100)
        self.assertEqual(going.returncode, 0, err)
        self.assertEqual(self.runs(), self.expected())

    def test_shares_merge_into_the_whole(self):
        for share in (1, 2, 3):
            self.study("run", "s.toml", "-q", "--share", f"{share}/3")
        names = [f"s.share-{share}-of-3.sqlite" for share in (1, 2, 3)]
        self.study("merge", "s.sqlite", *names)
        self.assertEqual(self.runs(), self.expected())
        for text in ("0/3", "4/3", "3", "1/2x"):
            self.assertIn("--share", self.study("run", "s.toml", "--share", text, code=2).stderr)

    def test_ranks_of_a_job_share_the_runs_and_may_die(self):
        ranks = [self.start("run", "s.toml", rank=rank, size=3) for rank in (0, 1, 2)]
        self.wait_for_runs(3)
        ranks[2].kill()  # the whole rank
        for child in self.children_of(ranks[1].pid):
            os.kill(child, signal.SIGKILL)  # only the worker: its rank starts another
        for rank in (0, 1):
            out, err = ranks[rank].communicate(timeout=120)
            self.assertEqual(ranks[rank].returncode, 0, out + err)
        ranks[2].communicate()
        self.assertEqual(self.runs(), self.expected())
        self.assertFalse(os.path.exists(os.path.join(self.folder, "s.sqlite.coordinator")))

    def test_a_stranger_without_the_token_is_turned_away(self):
        import socket
        ranks = [self.start("run", "s.toml", rank=0, size=2)]
        place = os.path.join(self.folder, "s.sqlite.coordinator")
        until = time.monotonic() + 60
        while not os.path.exists(place) and time.monotonic() < until:
            time.sleep(0.01)
        self.assertEqual(os.stat(place).st_mode & 0o777, 0o600)
        with open(place, encoding="utf-8") as file:
            port = json.load(file)["port"]
        for nonsense in (b"\xff\xff\xff\xff", b"\x02\x00\x00\x00{}", b"GET / HTTP/1.0\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as stranger:
                stranger.sendall(nonsense)
                self.assertEqual(stranger.recv(100), b"")
        ranks.append(self.start("run", "s.toml", rank=1, size=2))
        for rank in ranks:
            out, err = rank.communicate(timeout=120)
            self.assertEqual(rank.returncode, 0, out + err)
        self.assertEqual(len(self.runs()), RUNS)

    @unittest.skipUnless(shutil.which("mpirun.openmpi"), "Open MPI is not installed")
    def test_under_mpirun(self):
        done = subprocess.run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "3", PROGRAM, "study",
                               "run", "s.toml"], cwd=self.folder, capture_output=True, text=True, timeout=200,
                              env=in_job(0, 1))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.runs(), self.expected())

    def test_bad_input_is_one_line(self):
        with open(os.path.join(self.folder, "bad.toml"), "w", encoding="utf-8") as file:
            file.write(STUDY.replace("dfsssp", "dfssp"))
        bad = self.study("run", "bad.toml", code=2)
        self.assertIn("bad.toml line 8", bad.stderr)
        self.assertIn("did you mean 'dfsssp'", bad.stderr)
        self.assertEqual(bad.stderr.count("\n"), 1)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "bad.sqlite")))
        self.assertIn("no group", self.study("run", "s.toml", "--group", "x", code=2).stderr)
        self.assertEqual(self.study("report", "none.sqlite", code=2).stderr.count("\n"), 1)

    def test_collectives_by_the_same_command(self):
        with open(os.path.join(self.folder, "c.toml"), "w", encoding="utf-8") as file:
            file.write(COLLECTIVES)
        self.study("run", "c.toml", "-q")
        self.assertEqual(len(self.runs("c.sqlite")), 4)
        report = json.loads(self.study("report", "c.sqlite", "--json").stdout)
        self.assertEqual(len(report["collectives"]), 4)
        for row in report["collectives"]:
            self.assertLess(row["root_ns"][1], row["last_host_ns"][1])
            self.assertEqual(row["wrong"], 0)

    def test_the_report_in_all_forms(self):
        self.study("run", "s.toml", "-q")
        report = json.loads(self.study("report", "s.sqlite", "--json").stdout)
        self.assertEqual(report["finished"], RUNS)
        self.assertEqual(len(report["panels"]), 4)
        torus = next(p for p in report["panels"] if p["fabric"].startswith("torus") and p["traffic"] == "exchange")
        refused = next(e for e in torus["engines"] if e["engine"] == "ftree")
        self.assertFalse(refused["always_measured"])
        self.assertNotIn("line", refused)
        self.study("report", "s.sqlite", "--html", "s.html", "--csv", "s.csv", "--plots", "plots")
        with open(os.path.join(self.folder, "s.csv"), encoding="utf-8") as file:
            self.assertEqual(len(file.readlines()), 1 + 4 * 3 * 2)
        self.assertEqual(len(os.listdir(os.path.join(self.folder, "plots"))), 8)

    @unittest.skipUnless(shutil.which("chromium"), "Chromium is not installed")
    def test_the_page_in_a_browser_without_a_network(self):
        self.study("run", "s.toml", "-q")
        self.study("report", "s.sqlite", "--html", "s.html")
        page = os.path.join(self.folder, "s.html")
        # What the browser made of it: parsed, with every plot in the tree; the proxy that is not there is its network.
        done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--proxy-server=127.0.0.1:9",
                               f"--user-data-dir={self.folder}/chromium", "--dump-dom", "file://" + page],
                              capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("<svg"), 8)
        self.assertEqual(done.stdout.count("</section>"), 4)
        self.assertIn("Take ", done.stdout)


if __name__ == "__main__":
    unittest.main()
