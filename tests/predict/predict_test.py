"""holdfast predict and calibrate, end to end, on recordings of a real program.

Usage: predict_test.py MPI HOLDFAST PROGRAM    (MPI: openmpi or mpich; PROGRAM: an example of that MPI)
"""
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
import unittest

MPI, HOLDFAST, PROGRAM = sys.argv[1:4]
FABRIC = ("--fabric", "torus(3,3)")


def holdfast(*words, code=0, **environment):
    done = subprocess.run([HOLDFAST, *words], capture_output=True, text=True, timeout=200,
                          env={**os.environ, **environment}, cwd=FOLDER)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


class Predict(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holdfast("run", "-n", "4", "--record", "job.trace", "--", PROGRAM)

    def predict(self, *words, code=0, database="runs.sqlite"):
        done = holdfast("predict", "job.trace", *FABRIC, "--json", "-", "-q", "-d", database, *words, code=code)
        return done, json.loads(done.stdout)

    def test_same_bytes_whatever_the_number_of_workers(self):
        words = ("--engines", "dfsssp,updn", "--placements", "block,random", "--fail", "fail-link share 20%", "--seeds", "3")
        answers, pages = set(), set()
        for workers in "1", "3":
            done, _ = self.predict(*words, "--workers", workers, "--page", "page.html", database=f"{workers}.sqlite")
            answers.add(done.stdout)
            pages.add((FOLDER / "page.html").read_text())
        self.assertEqual(len(answers), 1)
        self.assertEqual(len(pages), 1)
        record = json.loads(answers.pop())
        # block on the healthy fabric is not random: one run; the others have 3 seeds.
        self.assertEqual(record["runs"], record["finished"])
        self.assertEqual(record["runs"], 2 * (1 + 3 + 3 + 3))
        page = pages.pop()
        for words in "What ranks do", "Fullest links", "assumed", "mpi.eager_limit 12288", "fail-link share 20%":
            self.assertIn(words, page.replace("Assumed", "assumed"))
        # nothing from outside: no address but the name of SVG itself, no sheet, image or script of another file
        for outside in ("<link", "src=", "url(", "import ", "fetch("):
            self.assertNotIn(outside, page)
        self.assertEqual(page.count("http"), page.count("http://www.w3.org/2000/svg"))
        self.assertEqual(page.count('<svg class="fabric"'), 2, "the fabric as given, and with the failures that cost most")

    def test_same_bytes_with_every_protection_and_failure(self):
        """Engines, replicas, both senders, random placements and failures before and in the run, by 1, 2 and 4 workers."""
        answers, pages = set(), set()
        for workers in "1", "2", "4":
            done = holdfast("predict", "job.trace", "--fabric", "xgft(2;2,4;1,2)", "--engines", "updn,minhop", "--replicas",
                            "1,2", "--senders", "plain,transport", "--placements", "random", "--seeds", "2", "--fail",
                            "fail-link share 10%", "--fail", "fail-switch switch s-1-0 time 100us for 200us",
                            "--compute-scale", "0", "--json", "-", "-q", "--workers", workers, "--page", "all.html", "-d",
                            f"all-{workers}.sqlite")
            answers.add(done.stdout)
            pages.add((FOLDER / "all.html").read_text())
        self.assertEqual((len(answers), len(pages)), (1, 1))
        record = json.loads(answers.pop())
        self.assertEqual((record["runs"], record["finished"]), (2 * 2 * 2 * 3 * 2, 2 * 2 * 2 * 3 * 2))
        self.assertTrue(any(each["measured"] == 2 and "interruption" in each for each in record["scenarios"]))

    def test_a_link_that_dies_while_the_job_runs(self):
        """Without computing all messages follow each other within a millisecond or two: some are on their way."""
        dies = "fail-link link s-0-0/3 time 20us"
        done = holdfast("predict", "job.trace", "--fabric", "xgft(2;2,2;1,2)", "--engines", "updn", "--compute-scale", "0",
                        "--fail", dies, "--fail", dies + " for 30us", "--json", "-", "-q", "-d", "dies.sqlite")
        record = json.loads(done.stdout)
        healthy, dead, away = record["scenarios"]
        self.assertNotIn("interruption", healthy)
        timeout_s = 4.096e-6 * 2 ** 14
        for scenario in dead, away:
            self.assertEqual(scenario["measured"], 1, scenario)  # a named link: nothing is random
            self.assertGreaterEqual(scenario["interruption"]["packets_lost"], 1)
            self.assertGreaterEqual(scenario["time_s"]["mean"], healthy["time_s"]["mean"] + timeout_s / 2)
        self.assertTrue(any("subnet manager" in line for line in record["assumed"]), record["assumed"])
        wrong = holdfast("predict", "job.trace", *FABRIC, "--fail", "fail-link mean 1s", "-q", code=2)
        self.assertIn("no failure of a fabric from the start or at a moment", wrong.stderr)

    def test_the_transport_beside_plain_connections(self):
        """A root is away for a while, and so packets are lost, whoever sends them."""
        words = ("--engines", "updn", "--compute-scale", "0", "--replicas", "1,2", "--fail",
                 "fail-switch switch s-1-0 time 100us for 200us", "--json", "-", "-q")
        fabric = ("--fabric", "xgft(2;2,4;1,2)")
        done = holdfast("predict", "job.trace", *fabric, *words, "--senders", "plain,transport", "--page", "page.html",
                        "-d", "senders.sqlite")
        record = json.loads(done.stdout)
        found = {(each["replicas"], each["sender"], each["failures"] == "none"): each for each in record["scenarios"]}
        self.assertEqual(len(found), 8)
        for (replicas, sender, healthy), each in found.items():
            self.assertEqual(each["measured"], 1, each)
            self.assertEqual("ratio_to_plain" in each, sender == "transport")
            self.assertEqual("replication" in each, replicas == 2)
            if sender == "transport":
                plain = found[replicas, "plain", healthy]
                self.assertAlmostEqual(each["ratio_to_plain"]["mean"], each["time_s"]["mean"] / plain["time_s"]["mean"])
                if replicas == 2:  # what is compared does not depend on who carries it
                    self.assertEqual(each["replication"], plain["replication"])
            if not healthy:
                self.assertGreaterEqual(each["interruption"]["packets_lost"], 1)
        self.assertIn("over the transport", (FOLDER / "page.html").read_text())
        self.assertTrue(any(line.startswith("datagram.queue") for line in record["assumed"]), record["assumed"])
        alone = holdfast("predict", "job.trace", *fabric, *words, "-d", "senders.sqlite")  # plain runs are kept
        plain = [each for each in record["scenarios"] if each["sender"] == "plain"]
        self.assertEqual(json.loads(alone.stdout)["scenarios"], plain)

    def test_rails_have_loads_of_their_own(self):
        """Two planes: the transport uses both, and the page's links are of both; plain connections have the first."""
        done = holdfast("predict", "job.trace", "--fabric", "rails(2,4,2,2)", "--engines", "updn", "--compute-scale", "0",
                        "--senders", "plain,transport", "--ranks-per-host", "1", "--json", "-", "-q", "--page", "planes.html",
                        "-d", "planes.sqlite")
        record = json.loads(done.stdout)
        self.assertTrue(any("8 hosts have more" in note for note in record["notes"]), record["notes"])
        plain, transport = record["scenarios"]
        self.assertEqual(transport["measured"], 1, transport)
        rails = {link["name"].split("mlx5_")[1][0] for link in plain["links"]}
        self.assertEqual(rails, {"0"}, plain["links"])  # and simulate_transport_test.cc holds each rail's bytes to it
        self.assertNotEqual(transport["links"], plain["links"])

    def test_collectives_of_switches(self):
        done = holdfast("predict", "job.trace", *FABRIC, "--engines", "updn", "--compute-scale", "0", "--collectives",
                        "mpi,in-network", "--replicas", "1,2", "--json", "-", "-q", "--page", "switches.html", "-d",
                        "switches.sqlite")
        record = json.loads(done.stdout)
        found = {(each["replicas"], each["collectives"]): each for each in record["scenarios"]}
        self.assertEqual(len(found), 4)
        for replicas in 1, 2:
            mpi, switches = found[replicas, "mpi"], found[replicas, "in-network"]
            self.assertNotIn("ratio_to_mpi_collectives", mpi)
            self.assertAlmostEqual(switches["ratio_to_mpi_collectives"]["mean"],
                                   switches["time_s"]["mean"] / mpi["time_s"]["mean"])
        self.assertTrue(any("With collectives of switches" in words for words in record["advice"]), record["advice"])
        self.assertIn("collectives of switches", (FOLDER / "switches.html").read_text())
        replayed = holdfast("simulate", *FABRIC, "--trace", "job.trace", "--collectives", "in-network")
        self.assertIn("in-network (switches)", replayed.stdout)
        self.assertNotIn("in-network", holdfast("simulate", *FABRIC, "--trace", "job.trace").stdout)

    def test_a_link_that_gets_slow(self):
        """All of the job's links have a hundredth of their rate for a while, or for good."""
        slow = "; ".join(f"slow-link 1/100 link s-0-0/{port}" for port in (1, 2, 3))
        done = holdfast("predict", "job.trace", "--fabric", "xgft(2;2,2;1,2)", "--engines", "updn", "--compute-scale", "0",
                        "--fail", slow, "--fail", "; ".join(f"{one} for 100us" for one in slow.split("; ")), "--json", "-",
                        "-q", "-d", "slow.sqlite")
        healthy, always, awhile = (each["time_s"]["mean"] for each in json.loads(done.stdout)["scenarios"])
        self.assertGreater(awhile, healthy)
        self.assertGreater(always, awhile)

    def test_a_study_file_has_several_recordings_and_fabrics(self):
        shutil.copytree(FOLDER / "job.trace", FOLDER / "other.trace")
        (FOLDER / "both.toml").write_text("""[study]
name = "both"
kind = "prediction"
[mpi]
eager_limit = 4096
[[group]]
trace = ["job.trace", "other.trace"]
fabric = ["torus(3,3)", "xgft(2;2,4;1,2)"]
engine = "updn"
placement = "random"
failures = "fail-link any time 100us"
replicas = [1, 2]
sender = ["plain", "transport"]
seeds = 2
""")
        first = holdfast("study", "run", "both.toml", "--workers", "2")
        self.assertIn("64 of 64 runs", first.stdout)
        self.assertIn("64 found, 0 added", holdfast("study", "run", "both.toml").stdout)
        told = holdfast("study", "report", "both.sqlite").stdout
        for words in ("1, plain", "2, transport", "torus(3,3)", "other.trace", "fail-link any time 100us", "- Over the transport"):
            self.assertIn(words, told)
        record = json.loads(holdfast("study", "report", "both.sqlite", "--json").stdout)
        self.assertEqual(len(record["predictions"]), 4)
        for each in record["predictions"]:
            self.assertEqual((each["runs"], each["finished"], len(each["scenarios"])), (16, 16, 8))
            self.assertFalse(any(line.startswith("mpi.eager_limit") for line in each["assumed"]))
        # as the command has them
        alone = holdfast("predict", "job.trace", "--fabric", "torus(3,3)", "--engines", "updn", "--placements", "random",
                         "--fail", "fail-link any time 100us", "--replicas", "1,2", "--senders", "plain,transport", "--seeds",
                         "2", "--mpi.eager-limit", "4096", "--json", "-", "-q", "-d", "alone.sqlite")
        same = [each for each in record["predictions"] if (each["trace"], each["fabric"]) == ("job.trace", "torus(3,3)")]
        self.assertEqual(json.loads(alone.stdout)["scenarios"], same[0]["scenarios"])
        holdfast("study", "report", "both.sqlite", "--html", "both.html", "--csv", "both.csv")
        self.assertEqual((FOLDER / "both.csv").read_text().count("\n"), 1 + 4 * 8)
        self.assertIn("other.trace on torus(3,3)", (FOLDER / "both.html").read_text())
        self.assertIn("to healthy", holdfast("study", "report", "alone.sqlite").stdout)

    def test_a_study_file_that_is_wrong_is_one_line(self):
        head = '[study]\nname = "x"\nkind = "prediction"\n[[group]]\n'
        for text, said in (
            (head, "line 4: the group has no trace"),
            (head + 'trace = "job.trace"\n', "no fabric"),
            (head + 'trace = "none.trace"\nfabric = "torus(3,3)"\n', "none.trace"),
            (head + 'trace = "job.trace"\nfabric = "torus(3,3)"\nfailures = "flip rate 1/2"\n', "no failure of a fabric"),
            (head + 'trace = "job.trace"\nfabric = "torus(3,3)"\nreplicas = 17\n', "line 7"),
            (head + 'trace = "job.trace"\nfabric = "torus(3,3)"\nsenders = "plain"\n', "did you mean 'sender'"),
            (head + 'trace = "job.trace"\nfabric = ["torus(3,3)", "torus(3,3)"]\n', "stands twice"),
            ('[study]\nname = "x"\nkind = "prediction"\n[mpi]\neager_limt = 1\n', "eager_limit"),
            ('[study]\nname = "x"\nkind = "predictoin"\n', "did you mean 'prediction'"),
        ):
            (FOLDER / "wrong.toml").write_text(text)
            done = subprocess.run([HOLDFAST, "study", "run", "wrong.toml"], capture_output=True, text=True, timeout=60,
                                  cwd=FOLDER)
            self.assertIn(done.returncode, (2, 3), (text, done))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(said, done.stderr)

    def test_finished_runs_are_kept(self):
        words = ("--fail", "fail-link share 20%", "--seeds", "2")
        first, _ = self.predict(*words, database="kept.sqlite")
        done = holdfast("predict", "job.trace", *FABRIC, "--json", "-", "-d", "kept.sqlite", *words)
        self.assertEqual(done.stdout, first.stdout)
        self.assertEqual(done.stderr, "")  # no run, no progress
        more = holdfast("predict", "job.trace", *FABRIC, "--json", "-", "-d", "kept.sqlite", *words[:2], "--seeds", "3")
        self.assertEqual(more.stderr, "")
        with contextlib.closing(sqlite3.connect(FOLDER / "kept.sqlite")) as kept:
            self.assertEqual(kept.execute("SELECT count(*) FROM run").fetchone(), (4,))

    def test_ratio_is_to_the_same_engine_without_failures(self):
        _, record = self.predict("--engines", "updn", "--fail", "fail-link share 20%", "--seeds", "2", database="r.sqlite")
        healthy, failed = record["scenarios"]
        self.assertEqual(healthy["failures"], "none")
        self.assertEqual(healthy["ratio_to_healthy"]["mean"], 1)
        self.assertAlmostEqual(failed["ratio_to_healthy"]["mean"], failed["time_s"]["mean"] / healthy["time_s"]["mean"])
        low, high = failed["time_s"]["interval_95"]
        self.assertLessEqual(low, failed["time_s"]["mean"])
        self.assertGreaterEqual(high, failed["time_s"]["mean"])
        self.assertGreater(healthy["links"][0]["bytes"], 0)
        self.assertLessEqual(healthy["computing_share"] + healthy["waiting_share"], 1.0001)

    def test_old_tables_lose_what_goes_over_a_failed_link(self):
        holdfast("fabric", "route", "torus(3,3)", "--engine", "updn", "-o", "lfts.dump")
        done, record = self.predict("--tables", "lfts.dump", "--fail", 'fail-link link "s-0-0" "s-0-1"', code=1,
                                    database="t.sqlite")
        healthy, failed = record["scenarios"]
        self.assertEqual(healthy["outcomes"], {"measured": 1})
        self.assertEqual(failed["outcomes"], {"lost messages": 1})
        self.assertIn("No engine helps", " ".join(record["advice"]))

    def test_a_fabric_that_the_failures_cut_in_two(self):
        cut = 'fail-link link "s-0-0" "s-0-1"; fail-link link "s-0-0" "s-1-0"'
        mesh = ("--fabric", "mesh(2,2)")
        for sender in "plain", "transport":
            done = holdfast("predict", "job.trace", *mesh, "--senders", sender, "--fail", cut, "--json", "-", "-q", "-d",
                            "parted.sqlite", code=1)
            healthy, failed = json.loads(done.stdout)["scenarios"]
            self.assertEqual(healthy["outcomes"], {"measured": 1})
            self.assertEqual(failed["outcomes"], {"cut off": 1})
            self.assertIn("no way leads from 'host-0' to 'host-1'", failed["reason"])
        told = holdfast("simulate", "--trace", "job.trace", *mesh, "--fault", cut, code=2).stderr
        self.assertEqual(told.count("\n"), 1, told)
        self.assertIn("the fabric is cut in two: no way leads from 'host-0' to 'host-1'", told)
        later = "; ".join(f"{one} time 1ms" for one in cut.split("; "))
        for words in (("simulate", "--trace", "job.trace", "--fault", later), ("predict", "job.trace", "--fail", later)):
            told = holdfast(*words, *mesh, code=2).stderr
            self.assertEqual(told.count("\n"), 1, told)
            self.assertIn("cut in two", told)

    def test_whether_to_isolate_a_slow_link(self):
        fabric = (*FABRIC, "--engines", "updn", "--compute-scale", "0")
        one, gone = 'slow-link 1/100 link "s-0-0" "s-0-1"', 'fail-link link "s-0-0" "s-0-1"'
        done = holdfast("predict", "job.trace", *fabric, "--fail", one, "--json", "-", "-q", "-d", "slow-or-not.sqlite")
        self.assertIn(f"Whether to isolate the links of '{one}': --fail '{gone}' beside it would tell.",
                      json.loads(done.stdout)["advice"])
        done = holdfast("predict", "job.trace", *fabric, "--fail", one, "--fail", gone, "--json", "-", "-q", "-d",
                        "slow-or-not.sqlite")
        record = json.loads(done.stdout)
        with_it, without = (each["time_s"]["mean"] for each in record["scenarios"][1:])
        ratio = f"with them the job takes {with_it / without:.3f} times as long as without"
        self.assertTrue(any("solate the links of" in words and ratio in words for words in record["advice"]), record["advice"])

    def test_bad_input_is_one_line(self):
        for words, said in (
            (("--fabric", "torus(1,2) hosts=2"), ""),
            (("--fail", "flip rate 1%"), "--fail"),
            (("--fail", ""), "--fail"),
            (("--placements", "here"), "here"),
            (("--engines", "quickest"), "quickest"),
            (("--senders", "pigeon"), "'pigeon' is no sender"),
            (("--senders", "plain,"), "'' is no sender"),
            (("--senders", "transport", "--simulate.mtu", "256"), "no room for its headers"),
            (("--senders", "transport", "--transport.secret-file", "/nonexistent"), "secret_file"),
            (("--senders", "transport", "--datagram.queue", "0"), "datagram.queue"),
            (("--replicas", "1.5"), "'1.5' is no number of replicas"),
            (("--collectives", "in-netwrok"), "did you mean 'in-network'"),
            (("--collectives", "in-network", "--senders", "transport"), "over the transport"),
            (("--collectives", "in-network", "--fail", "fail-link time 1ms"), "fails during the run"),
            (("--hosts", "node[1-4]"), "node"),
            (("--config", "/nonexistent"), "/nonexistent"),
            (("--tables", "job.trace/rank-000000.rec"), "rank-000000"),
            (("-d", "job.trace/rank-000000.rec"), "database"),
        ):
            fabric = () if "--fabric" in words else FABRIC
            done = subprocess.run([HOLDFAST, "predict", "job.trace", *fabric, *words], capture_output=True, text=True,
                                  timeout=60, cwd=FOLDER)
            self.assertIn(done.returncode, (2, 3), (words, done))
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(said, done.stderr)

    def test_a_broken_recording_is_told(self):
        shutil.copytree(FOLDER / "job.trace", FOLDER / "cut.trace")
        rank = FOLDER / "cut.trace" / "rank-000001.rec"
        rank.write_bytes(rank.read_bytes()[: rank.stat().st_size // 2])
        done = subprocess.run([HOLDFAST, "predict", "cut.trace", *FABRIC, "-q", "-d", "cut.sqlite"], capture_output=True,
                              text=True, timeout=60, cwd=FOLDER)
        self.assertIn(done.returncode, (0, 1, 2), done)
        self.assertIn("cut.trace", done.stdout + done.stderr)
        self.assertNotIn("terminate", done.stderr)


class Calibrate(unittest.TestCase):
    def calibrate(self, name, **environment):
        holdfast("calibrate", "--mpi", MPI, "-o", name, **environment)
        with open(FOLDER / name, "rb") as file:
            return tomllib.load(file)["mpi"]

    def test_what_is_measured_is_not_assumed(self):
        found = self.calibrate("machine.toml")
        self.assertEqual(found["collectives"], MPI)
        self.assertGreater(found["shared_eager_limit"], 0)
        holdfast("run", "-n", "2", "--record", "short.trace", "--", PROGRAM)
        done = holdfast("predict", "short.trace", *FABRIC, "--config", "machine.toml", "--json", "-", "-q", "-d", "s.sqlite")
        assumed = [words.split()[0] for words in json.loads(done.stdout)["assumed"]]
        self.assertNotIn("mpi.send_overhead", assumed)
        self.assertNotIn("mpi.shared_latency", assumed)
        self.assertIn("mpi.eager_limit", assumed)
        replayed = holdfast("simulate", "--trace", "short.trace", *FABRIC, "--config", "machine.toml")
        self.assertIn("assumed, not measured", replayed.stdout)
        self.assertNotIn("mpi.send_overhead", replayed.stdout)

    def test_it_finds_the_eager_limit_that_the_mpi_was_given(self):
        if MPI != "openmpi":
            self.skipTest("Open MPI's parameter")
        found = self.calibrate("far.toml", OMPI_MCA_pml="ob1", OMPI_MCA_btl="self,tcp",
                               OMPI_MCA_btl_tcp_if_include="lo", OMPI_MCA_btl_tcp_eager_limit="20000")
        # Open MPI counts its own header, too.
        self.assertGreater(found["shared_eager_limit"], 19000)
        self.assertLessEqual(found["shared_eager_limit"], 20000)

    def test_bad_input_is_one_line(self):
        for words, code in ((("--mpi", "lam"), 2), (("--launcher", "qsub"), 2), (("-o", "no-such-folder/file"), None),
                            (("--", "--nonsense-option"), None)):
            done = subprocess.run([HOLDFAST, "calibrate", *words], capture_output=True, text=True, timeout=200, cwd=FOLDER)
            self.assertNotIn(done.returncode, (0, 1), (words, done))
            if code is not None:
                self.assertEqual(done.returncode, code)
                self.assertEqual(done.stderr.count("\n"), 1)
            self.assertIn("holdfast: ", done.stderr)


with tempfile.TemporaryDirectory() as folder:
    FOLDER = pathlib.Path(folder)
    unittest.main(argv=sys.argv[:1])
