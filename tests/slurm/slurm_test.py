#!/usr/bin/env python3
"""`holdfast run --launcher srun` under a real Slurm: both MPIs, with flips; placement in an allocation of two nodes; what
fails, and what the user ends.

Usage: slurm_test.py HOLDFAST EXAMPLES_FOLDER PROGRAM_FOLDER
"""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import cluster

HOLDFAST, EXAMPLES, PROGRAMS = sys.argv[1:4]
FLIP = ["--inject", "flip rank 1 replica 1 message 5 bit 62"]
# Two nodes that are one host confuse Open MPI's shared memory.
BETWEEN_NODES = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}


class Slurm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = cluster.Cluster().__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-slurm-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def tearDown(self):
        self.cluster.until("no job is left", lambda: not self.cluster.run("squeue", "-h").stdout)

    def line(self, *words):
        return [HOLDFAST, "run", "--launcher", "srun", "--json", str(self.folder / "record.json"), *words]

    def record(self):
        return json.loads((self.folder / "record.json").read_text())

    def test_flips_are_corrected(self):
        for mpi in ("openmpi", "mpich"):
            with self.subTest(mpi):
                program = f"{EXAMPLES}/{mpi}/cg"
                alone = self.cluster.run(HOLDFAST, "run", "-n", "2", "--replicas", "1", "--", program, cwd=self.folder)
                done = self.cluster.run(*self.line("-n", "2", "--replicas", "3", *FLIP, "--", program), cwd=self.folder)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, alone.stdout)
                self.assertIn("verified", done.stdout)
                self.assertGreaterEqual(self.record()["counters"]["corrections"], 1)

    def test_two_replicas_detect(self):
        done = self.cluster.run(*self.line("-n", "2", "--replicas", "2", *FLIP, "--", f"{EXAMPLES}/openmpi/cg"),
                                cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_replicas_of_a_rank_run_on_different_nodes(self):
        for mpi in ("openmpi", "mpich"):
            with self.subTest(mpi):
                out = self.folder / mpi
                done = self.cluster.run("salloc", "-Q", "-N", "2", "--ntasks-per-node", "2",
                                        *self.line("-n", "2", "--replicas", "2", "--output", str(out), "--keep",
                                                   "--files-may-differ", "*.stderr", "--",
                                                   f"{PROGRAMS}/{mpi}/where"),
                                        cwd=self.folder, env={**self.cluster.environment, **BETWEEN_NODES})
                self.assertEqual(done.returncode, 0, done.stderr)
                first = dict(re.findall(r"^rank (\d+) on node (\w+)$", done.stderr, re.M))
                self.assertEqual(sorted(first), ["0", "1"], done.stderr)
                for rank, node in first.items():
                    second = (out / f"rank-{rank}.replica-1.err").read_text()
                    self.assertRegex(second, f"^rank {rank} on node (one|two)$")
                    self.assertNotIn(f"node {node}", second, "replicas of one rank are on different nodes")

    def test_a_map_file_puts_replicas_on_one_node(self):
        """Rank 0's replicas are native ranks 0 and 1, rank 1's are 2 and 3: two tasks a node, in that order."""
        (self.folder / "near").write_text("0 0 0\n1 0 1\n2 1 0\n3 1 1\n")
        for mpi in ("openmpi", "mpich"):
            with self.subTest(mpi):
                out = self.folder / mpi
                done = self.cluster.run("salloc", "-Q", "-N", "2", "--ntasks-per-node", "2",
                                        *self.line("--map", "near", "--colocate", "--output", str(out), "--keep",
                                                   "--files-may-differ", "*.stderr", "--",
                                                   f"{PROGRAMS}/{mpi}/where"),
                                        cwd=self.folder, env={**self.cluster.environment, **BETWEEN_NODES})
                self.assertEqual(done.returncode, 0, done.stderr)
                first = dict(re.findall(r"^rank (\d+) on node (\w+)$", done.stderr, re.M))
                self.assertEqual(len(set(first.values())), 2, "the two ranks are on different nodes: " + done.stderr)
                for rank, node in first.items():
                    second = (out / f"rank-{rank}.replica-1.err").read_text()
                    self.assertEqual(second.splitlines()[0], f"rank {rank} on node {node}")

    def test_a_job_that_slurm_cannot_start(self):
        done = self.cluster.run(*self.line("-n", "2", "--replicas", "2", "--", f"{EXAMPLES}/mpich/cg"), cwd=self.folder,
                                env={**self.cluster.environment, "SLURM_PARTITION": "none-such"})
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("no process of the job began", done.stderr)

    def test_the_user_ends_it(self):
        job = subprocess.Popen(self.line("-n", "2", "--replicas", "2", "--", f"{EXAMPLES}/mpich/cg", "--iterations", "100000000"),
                               env=self.cluster.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.cluster.until("the job runs", lambda: list(self.folder.glob("holdfast-run-*/rank-1.replica-1.other.out")))
        job.send_signal(signal.SIGINT)
        _, err = job.communicate(timeout=200)
        self.assertEqual(job.returncode, 128 + signal.SIGINT, err)


if __name__ == "__main__":
    if cluster.missing():
        print(f"skipped: {cluster.missing()}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
