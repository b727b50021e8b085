"""holdfast study, end to end: resuming after kill -9 and Ctrl-C, shares, ranks that die under mpirun, mpiexec and srun, the
page in a real browser."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "slurm"))
import cluster

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
LONG = STUDY.replace("seeds = 3", "seeds = 15")  # for what is to be met while it goes on
LONG_RUNS = 2 * 3 * ((1 + 15) + 2 * 15)

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


LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"],
    "mpich": ["mpiexec.mpich"],
}


def without_job():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_"))}


def rank_of(process):
    """Its rank in a job; None when it has none, or has ended."""
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            for line in file.read().split(b"\0"):
                name, _, value = line.partition(b"=")
                if name in (b"OMPI_COMM_WORLD_RANK", b"PMI_RANK", b"SLURM_PROCID"):
                    return int(value)
    except OSError:
        pass
    return None


def parent_of(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return None


class StudyCase(unittest.TestCase):
    environment = {}  # besides this process's

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="holdfast-study-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        with open(os.path.join(self.folder, "s.toml"), "w", encoding="utf-8") as file:
            file.write(STUDY)
        with open(os.path.join(self.folder, "l.toml"), "w", encoding="utf-8") as file:
            file.write(LONG)

    def study(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, "study", *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=200, env=without_job())
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def start(self, *arguments, launcher=()):
        return subprocess.Popen([*launcher, PROGRAM, "study", *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env={**without_job(), **self.environment})

    def runs(self, name="s.sqlite"):
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, name))) as database:
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
        try:
            with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
                return [int(child) for child in file.read().split()]
        except OSError:
            return []

    def rank(self, number):
        """The process of a rank of the study in this folder, without its worker, in a list; empty when it has ended."""
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{process}/cwd") != os.path.realpath(self.folder):
                    continue
                if os.path.basename(os.readlink(f"/proc/{process}/exe")) != "holdfast-commands":
                    continue  # a launcher, or `holdfast` before it has become the program that has `study`
            except OSError:
                continue
            if rank_of(process) == number:
                found.append(int(process))
        return [process for process in found if parent_of(process) not in found]

    def expected(self, study="s.toml"):
        """All runs by a study that nothing disturbed."""
        self.study("run", study, "-q", "-d", "calm.sqlite")
        return self.runs("calm.sqlite")

    def meet(self, disturb, *arguments, launcher=(), database="l.sqlite"):
        """Starts the long study and disturbs it when it has some runs. A study that had ended before that is started
        anew: disturb() says whether it came in time."""
        for _ in range(20):
            for name in os.listdir(self.folder):
                if name.startswith(database):
                    os.unlink(os.path.join(self.folder, name))
            going = self.start("run", "l.toml", "-d", database, *arguments, launcher=launcher)
            self.wait_for_runs(3, database)
            if disturb(going):
                return going
            going.communicate(timeout=200)
        self.fail("the study was always over too soon")

    @staticmethod
    def kill(processes):
        """Whether there was one."""
        killed = 0
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
        return killed > 0


class Studies(StudyCase):
    def test_kill_9_loses_nothing_and_repeats_nothing(self):
        workers = []

        def disturb(going):
            workers[:] = self.children_of(going.pid)
            going.kill()
            going.communicate(timeout=200)
            return going.returncode == -signal.SIGKILL and workers

        self.meet(disturb, "--workers", "2")
        kept = self.runs("l.sqlite")
        self.assertGreaterEqual(len(kept), 3)
        for worker in workers:  # they die with their coordinator
            until = time.monotonic() + 100
            while os.path.exists(f"/proc/{worker}") and time.monotonic() < until:
                time.sleep(0.01)
            self.assertFalse(os.path.exists(f"/proc/{worker}"))
        summary = json.loads(self.study("run", "l.toml", "--json").stdout)
        self.assertEqual(summary["runs"], LONG_RUNS)
        self.assertEqual(summary["found"], len(kept))
        self.assertEqual(summary["added"], LONG_RUNS - len(kept))
        self.assertEqual(self.runs("l.sqlite"), self.expected("l.toml"))
        again = json.loads(self.study("run", "l.toml", "--json").stdout)
        self.assertEqual((again["found"], again["added"]), (LONG_RUNS, 0))

    def test_ctrl_c_keeps_what_is_finished(self):
        said = []

        def disturb(going):
            going.send_signal(signal.SIGINT)
            said[:] = going.communicate(timeout=200)
            return going.returncode != 0

        going = self.meet(disturb, "--workers", "1")
        self.assertEqual(going.returncode, 128 + signal.SIGINT)
        self.assertIn("interrupted", said[0])
        self.assertGreaterEqual(len(self.runs("l.sqlite")), 3)
        self.study("run", "l.toml", "-q")
        self.assertEqual(self.runs("l.sqlite"), self.expected("l.toml"))

    def test_a_dead_worker_costs_nothing(self):
        going = self.meet(lambda going: self.kill(self.children_of(going.pid)), "--workers", "1")
        _, err = going.communicate(timeout=200)
        self.assertEqual(going.returncode, 0, err)
        self.assertEqual(self.runs("l.sqlite"), self.expected("l.toml"))

    def test_shares_merge_into_the_whole(self):
        for share in (1, 2, 3):
            self.study("run", "s.toml", "-q", "--share", f"{share}/3")
        names = [f"s.share-{share}-of-3.sqlite" for share in (1, 2, 3)]
        self.study("merge", "s.sqlite", *names)
        self.assertEqual(self.runs(), self.expected())
        for text in ("0/3", "4/3", "3", "1/2x"):
            self.assertIn("--share", self.study("run", "s.toml", "--share", text, code=2).stderr)

    def launchers(self):
        found = {mpi: command for mpi, command in LAUNCHERS.items() if shutil.which(command[0])}
        if not found:
            self.skipTest("no MPI is installed")
        return found

    def test_ranks_of_an_mpi_job_share_the_runs(self):
        expected = self.expected()
        for mpi, command in self.launchers().items():
            with self.subTest(mpi=mpi):
                job = self.start("run", "s.toml", "-d", mpi + ".sqlite", launcher=[*command, "-n", "3"])
                out, err = job.communicate(timeout=200)
                self.assertEqual(job.returncode, 0, out + err)
                self.assertEqual(self.runs(mpi + ".sqlite"), expected)

    def test_the_worker_of_a_rank_may_die(self):
        expected = self.expected("l.toml")
        for mpi, command in self.launchers().items():
            with self.subTest(mpi=mpi):
                job = self.meet(lambda job: self.kill(worker for rank in self.rank(1)
                                                      for worker in self.children_of(rank)),
                                launcher=[*command, "-n", "3"])
                out, err = job.communicate(timeout=200)
                self.assertEqual(job.returncode, 0, out + err)
                self.assertEqual(self.runs("l.sqlite"), expected)

    @unittest.skipUnless(shutil.which("mpirun.openmpi"), "Open MPI is not installed")
    def test_a_rank_may_die_where_the_launcher_lets_the_others_live(self):
        job = self.meet(lambda job: self.kill(self.rank(2)), "--silence", "15s",
                        launcher=[*LAUNCHERS["openmpi"], "--enable-recovery", "-n", "3"])
        out, err = job.communicate(timeout=200)
        self.assertIn(f"{LONG_RUNS} of {LONG_RUNS} runs", out, err)
        self.assertEqual(self.runs("l.sqlite"), self.expected("l.toml"))

    def test_a_job_that_its_launcher_ends_is_gone_on_with(self):
        expected = self.expected("l.toml")
        for mpi, command in self.launchers().items():
            with self.subTest(mpi=mpi):
                job = self.meet(lambda job: self.kill(self.rank(0)), launcher=[*command, "-n", "3"])
                job.communicate(timeout=200)
                kept = self.runs("l.sqlite")
                self.assertGreaterEqual(len(kept), 3)
                summary = json.loads(self.study("run", "l.toml", "--json").stdout)
                self.assertEqual((summary["found"], summary["added"]), (len(kept), LONG_RUNS - len(kept)))
                self.assertEqual(self.runs("l.sqlite"), expected)

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

    def write_fabric(self, topology):
        done = subprocess.run([PROGRAM, "fabric", "generate", topology, "-o", "fabric.net"], cwd=self.folder,
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_file_that_was_replaced_is_computed_anew(self):
        with open(os.path.join(self.folder, "f.toml"), "w", encoding="utf-8") as file:
            file.write('[study]\nname = "f"\n[[group]]\nfabric = "fabric.net"\nengine = "updn"\n'
                       'traffic = "exchange"\n')
        self.write_fabric("tree(4,2)")
        self.study("run", "f.toml", "-q")
        first = json.loads(self.study("report", "f.sqlite", "--json").stdout)
        self.write_fabric("torus(3,3) hosts=18")
        stale = json.loads(self.study("report", "f.sqlite", "--json").stdout)
        self.assertEqual(stale["stale"], {"fabric.net has other contents now": 1})
        self.assertIn("Stale: 1 of the runs", stale["panels"][0]["advice"][0])
        self.assertIn("fabric.net has other contents now", self.study("report", "f.sqlite").stdout)
        summary = self.study("run", "f.toml").stdout
        self.assertIn("(0 found, 1 added)", summary)
        self.assertIn("1 run is not used: fabric.net has other contents now", summary)
        second = json.loads(self.study("report", "f.sqlite", "--json").stdout)
        self.assertEqual((second["stale"], second["outdated"]), ({}, {"fabric.net has other contents now": 1}))
        figure = lambda report: report["panels"][0]["engines"][0]["scenarios"][0]["gbytes_per_s"]
        self.assertNotEqual(figure(first), figure(second))
        again = json.loads(self.study("run", "f.toml", "--json").stdout)
        self.assertEqual((again["found"], again["added"]), (1, 0))
        self.write_fabric("tree(4,2)")  # what was known of these contents still holds
        back = json.loads(self.study("run", "f.toml", "--json").stdout)
        self.assertEqual((back["found"], back["added"]), (1, 0))
        self.assertEqual(figure(first), figure(json.loads(self.study("report", "f.sqlite", "--json").stdout)))

    def make_old(self, name):
        """As a program wrote it that kept neither contents nor versions in its keys."""
        with contextlib.closing(sqlite3.connect(os.path.join(self.folder, name))) as database:
            for table in ("point", "run"):
                database.execute(f"UPDATE {table} SET key = json_remove(key, '$.inputs', '$.computed_by')")
            database.commit()

    def test_an_old_database_is_read_and_says_what_is_stale(self):
        self.study("run", "s.toml", "-q")
        new = self.runs()
        self.make_old("s.sqlite")
        why = "computed before versions were kept"
        report = json.loads(self.study("report", "s.sqlite", "--json").stdout)
        self.assertEqual((report["finished"], report["stale"]), (RUNS, {why: RUNS}))
        with open(os.path.join(self.folder, "machine.toml"), "w", encoding="utf-8") as file:
            file.write('[machine]\nname = "m"\nnodes = 18\n[fabric]\nlinks = 18\nswitches = 9\n'
                       'link_failures = "5 %/y"\nswitch_failures = "0 %/y"\nregression = "s.sqlite"\n')
        with open(os.path.join(self.folder, "s.toml"), "w", encoding="utf-8") as file:
            file.write(STUDY.replace('"tree(4,2)", ', "").replace(', "uniform messages=40"', ""))
        os.rename(os.path.join(self.folder, "s.sqlite"), os.path.join(self.folder, "old.sqlite"))
        self.study("run", "s.toml", "-q")
        self.make_old("s.sqlite")
        done = subprocess.run([PROGRAM, "plan", "machine.toml"], cwd=self.folder, capture_output=True, text=True,
                              timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"s.sqlite are stale ({why})", done.stderr)
        with open(os.path.join(self.folder, "s.toml"), "w", encoding="utf-8") as file:
            file.write(STUDY)
        summary = json.loads(self.study("run", "s.toml", "-d", "old.sqlite", "--json").stdout)
        self.assertEqual((summary["found"], summary["added"], summary["outdated"]), (0, RUNS, {why: RUNS}))
        self.assertEqual([row for row in self.runs("old.sqlite") if "computed_by" in row[0]], new)

    def test_only_one_writes_however_often_others_try(self):
        going = self.start("run", "l.toml", "--workers", "1")
        self.addCleanup(going.communicate)
        self.addCleanup(going.kill)
        lock = os.path.join(self.folder, "l.sqlite.lock")
        self.wait_for_runs(1, "l.sqlite")
        going.send_signal(signal.SIGSTOP)
        for attempt in range(3):
            refused = self.study("run", "l.toml", code=2)
            self.assertIn("another process is writing to it", refused.stderr, attempt)
            self.assertEqual(refused.stderr.count("\n"), 1)
            self.assertTrue(os.path.exists(lock), attempt)
        going.kill()
        going.communicate()
        self.assertTrue(os.path.exists(lock), "left by who was killed")
        self.study("run", "l.toml", "-q")
        self.assertFalse(os.path.exists(lock))

    def test_anothers_database_is_left_as_it_is(self):
        for mode in ("delete", "wal"):
            for command in (("run", "s.toml", "-d"), ("report",), ("merge",)):
                with self.subTest(mode=mode, command=command[0]):
                    folder = tempfile.mkdtemp(dir=self.folder)
                    path = os.path.join(folder, "theirs.sqlite")
                    database = sqlite3.connect(path)
                    database.execute(f"PRAGMA journal_mode = {mode}")
                    database.execute("CREATE TABLE study (a)")
                    database.commit()
                    database.close()
                    os.chmod(path, 0o640)
                    def look():
                        with open(path, "rb") as file:
                            return sorted(os.listdir(folder)), file.read(), os.stat(path).st_mode

                    before = look()
                    extra = ("s.sqlite",) if command[0] == "merge" else ()
                    if extra:
                        self.study("run", "s.toml", "-q")
                    refused = self.study(*command, path, *extra, code=2)
                    self.assertIn("it is not one of 'holdfast study'", refused.stderr)
                    self.assertEqual(refused.stderr.count("\n"), 1)
                    self.assertEqual(look(), before)

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

    def test_the_planner_takes_the_database(self):
        with open(os.path.join(self.folder, "one.toml"), "w", encoding="utf-8") as file:
            file.write(STUDY.replace('"tree(4,2)", ', "").replace(', "uniform messages=40"', ""))
        self.study("run", "one.toml", "-q")
        with open(os.path.join(self.folder, "machine.toml"), "w", encoding="utf-8") as file:
            file.write('[machine]\nname = "m"\nnodes = 18\n[fabric]\nlinks = 18\nswitches = 9\n'
                       'link_failures = "5 %/y"\nswitch_failures = "0 %/y"\nregression = "one.sqlite"\n')
        done = subprocess.run([PROGRAM, "plan", "machine.toml"], cwd=self.folder, capture_output=True, text=True,
                              timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Route with", done.stdout)
        self.assertIn("one.sqlite", done.stdout)
        line = json.loads(self.study("report", "one.sqlite", "--json").stdout)["panels"][0]["engines"][0]["line"]
        self.assertIn(f"{line['intercept_gbytes_per_s']:.1f}", done.stdout)
        self.study("run", "s.toml", "-q")  # two fabrics in its group: which one is meant?
        with open(os.path.join(self.folder, "machine.toml"), "a", encoding="utf-8") as file:
            file.write('group = "all"\n')
        os.replace(os.path.join(self.folder, "s.sqlite"), os.path.join(self.folder, "one.sqlite"))
        done = subprocess.run([PROGRAM, "plan", "machine.toml"], cwd=self.folder, capture_output=True, text=True,
                              timeout=100)
        self.assertEqual(done.returncode, 2)
        self.assertIn("several fabrics", done.stderr)

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


@unittest.skipIf(cluster.missing(), cluster.missing())
class UnderSlurm(StudyCase):
    """Two nodes of a Slurm that the test starts for itself, with three ranks."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster.Cluster().__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        # two nodes that are one host confuse Open MPI's shared memory
        cls.environment = {"SLURM_CONF": cls.cluster.environment["SLURM_CONF"], "OMPI_MCA_btl": "self,tcp",
                           "OMPI_MCA_btl_tcp_if_include": "lo"}

    def test_a_rank_may_die_under_srun(self):
        expected = self.expected("l.toml")
        for plugin in ("pmix", "pmi2"):  # Open MPI, MPICH
            with self.subTest(plugin=plugin):
                job = self.meet(lambda job: self.kill(self.rank(2)), "--silence", "15s",
                                launcher=["srun", "-N", "2", "-n", "3", "--mpi=" + plugin, "--no-kill",
                                          "--kill-on-bad-exit=0"])
                out, err = job.communicate(timeout=250)
                if plugin == "pmix" and cluster.slurm_version() >= 23 and "step aborted" in err:
                    self.study("run", "l.toml", "-q")  # its plugin ends the step with a rank: the command goes on
                else:
                    self.assertIn(f"{LONG_RUNS} of {LONG_RUNS} runs", out, err)
                self.assertEqual(self.runs("l.sqlite"), expected)

    def test_tasks_without_mpi_are_told_so(self):
        done = subprocess.run(["srun", "-n", "2", "--mpi=none", PROGRAM, "study", "run", "s.toml"], cwd=self.folder,
                              capture_output=True, text=True, timeout=250, env={**without_job(), **self.environment})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("srun --mpi=pmix or --mpi=pmi2", done.stderr)


if __name__ == "__main__":
    unittest.main()
