#!/usr/bin/env python3
"""holdfast fabric generate, import, export, show, fail and diff, as a user meets them and as the programs of the field
do: ibsim runs the nets that are written, ibnetdiscover, OpenSM, ibroute and saquery look at them, and what they print is
read back. Usage: fabric_model_test.py SUITE; HOLDFAST_PROGRAM names the program. Ends with 77 when a program is
missing."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

HOLDFAST = os.environ.get("HOLDFAST_PROGRAM", "holdfast")
SIM_LIBRARY = glob.glob("/usr/lib/*/umad2sim/libumad2sim.so") + glob.glob("/usr/lib*/umad2sim/libumad2sim.so")


def holdfast(*arguments, stdin=None):
    return subprocess.run([HOLDFAST, "fabric", *arguments], capture_output=True, text=True, timeout=100, input=stdin)


class WithFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="holdfast-fabric-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def good(self, *arguments, stdin=None):
        run = holdfast(*arguments, stdin=stdin)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def record(self, *arguments, code=0):
        run = holdfast(*arguments, "--json")
        self.assertEqual(run.returncode, code, run.stderr)
        return json.loads(run.stdout)


class CommandLine(WithFolder):
    def test_generate_writes_what_the_other_commands_read(self):
        net = self.path("net")
        self.good("generate", "torus-5x5", "-o", net)
        self.assertEqual(self.good("diff", net, "torus-5x5"), "no difference\n")
        record = self.record("show", net)
        self.assertEqual((record["switches"], record["hosts"], record["switch_links"]), (25, 275, 300))
        self.assertEqual(record["edge_connectivity"], 24)
        formulas = self.record("generate", "torus-5x5")["closed_form"]
        self.assertEqual(formulas["edge_connectivity"], 24)
        self.assertIn("18-ary-3-tree", self.good("generate", "--list"))

    def test_every_export_format_can_be_read_by_its_kind_of_program(self):
        for text in (self.good("export", "kautz(2,3) hosts=20", "--to", "graphml"),
                     self.good("export", "deimos", "--to", "svg"), self.good("export", "random(20,4)", "--to", "svg"),
                     self.good("export", "mesh(2,2,2,2)", "--to", "svg")):
            xml.etree.ElementTree.fromstring(text)
        graph = xml.etree.ElementTree.fromstring(self.good("export", "tree(3,2)", "--to", "graphml"))
        space = "{http://graphml.graphdrawing.org/xmlns}"
        self.assertEqual(len(graph.findall(f".//{space}edge")), 9 + 9)
        if shutil.which("dot"):
            dot = self.write("graph.dot", self.good("export", "tree(3,2)", "--to", "dot"))
            self.assertEqual(subprocess.run(["dot", "-Tplain", dot], capture_output=True, timeout=60).returncode, 0)
        for name in ("ibnetdiscover", "ibsim", "subnet-lst"):
            file = self.path(name)
            self.good("export", "dragonfly(4,2,2,9)", "--to", name, "-o", file)
            self.assertEqual(self.good("diff", "dragonfly(4,2,2,9)", file), "no difference\n", name)

    def test_slurm_topology(self):
        text = self.good("export", "tree(2,3)", "--to", "slurm")
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        self.assertEqual(lines[0], "SwitchName=leaf0 Nodes=host-[0-1]")
        self.assertEqual(lines[4:], ["SwitchName=level1-0 Switches=leaf[0-1]", "SwitchName=level1-1 Switches=leaf[2-3]",
                                     "SwitchName=level2-0 Switches=level1-[0-1]"])
        text = self.good("export", "dragonfly(2,1,1,3)", "--to", "slurm")
        self.assertIn("SwitchName=level1-2 Switches=leaf[4-5]\nSwitchName=level2-0 Switches=level1-[0-2]\n", text)
        self.assertIn("SwitchName=level1-0 Switches=leaf[0-8]\n", self.good("export", "torus(3,3)", "--to", "slurm"))

    def test_failures_are_reproducible_and_seen_by_diff(self):
        def fail(seed, name):
            return self.record("fail", "torus-5x5", "--faults", "fail-link share 3%", "--seed", str(seed), "-o", self.path(name))
        first = fail(7, "a")
        self.assertEqual(first, fail(7, "b"))
        self.assertNotEqual(first["failed"], fail(8, "c")["failed"])
        self.assertEqual(len(first["failed"]), 9)
        self.assertFalse(any(failure["critical"] for failure in first["failed"]))
        found = self.record("diff", "torus-5x5", self.path("a"), code=1)
        self.assertEqual(sorted(found["lost_links"]), sorted(failure["links"][0] for failure in first["failed"]))
        self.assertEqual(found["lost_nodes"], [])

    def test_ageing(self):
        record = self.record("fail", "10-ary-3-tree", "--years", "5", "--link-rate", "0.9%", "--switch-link-ratio", "1:13",
                             "--shape", "1.07")
        years = [failure["years"] for failure in record["failed"]]
        self.assertEqual(years, sorted(years))
        self.assertTrue(all(0 < year <= 5 for year in years))
        self.assertIn("switch", {failure["component"] for failure in record["failed"]})

    def test_what_if(self):
        self.assertEqual(holdfast("fail", "tree(4,2)", "--what-if", "s-0-0 - s-1-0").returncode, 0)
        run = holdfast("fail", "tree(4,2)", "--what-if", "s-0-0/1")
        self.assertEqual(run.returncode, 1)
        self.assertTrue(run.stdout.startswith("no: isolating it is critical"), run.stdout)
        self.assertIn("hosts lost (1):\n  host-0\n", run.stdout)
        record = self.record("fail", "tree(2,2)", "--faults", "fail-switch switch s-1-0", "--what-if", "s-0-0/4", code=1)
        self.assertTrue(record["critical"])
        self.assertEqual(len(record["hosts_lost"]), 2, "half of the hosts")
        self.good("route", "torus(4,4) links=2 hosts=32", "--engine", "dfsssp", "--out", self.path("lfts"), "--paths",
                  self.path("paths"))
        record = self.record("fail", "torus(4,4) links=2 hosts=32", "--what-if", "s-0-0/1", "--tables", self.path("lfts"),
                             "--path-records", self.path("paths"))
        self.assertTrue(record["allowed"] and record["tables_given"])
        self.assertEqual(record["parallel_links_left"], 1)
        self.assertEqual(record["before"]["credit_loops"], [])
        self.assertGreater(record["entries_changed"], 0)
        self.assertEqual(self.record("fail", "mesh(3,3) hosts=9", "--what-if", "s-0-0/1", "--engine", "torus-2qos",
                                     code=1)["critical"], False, "routable no more by this engine")

    def test_pipes(self):
        degraded = self.good("fail", "tree(4,2)", "--faults", "fail-link link s-0-0/5", "-o", "-")
        self.assertIn("15 between switches", self.good("show", "/dev/stdin", stdin=degraded))

    def test_bad_input_gets_one_line_and_exit_code_2(self):
        broken = self.write("broken", "Switch\t36 \"S-1\"\n[1]\tnonsense\n")
        for arguments, message in ((("show", broken), "line 2 column 5: expected the id of the node at the other end"),
                                   (("show", "torus(5"), "column 8: expected ',', ';' or ')'"),
                                   (("show", "/no/such"), "there is no such file"),
                                   (("show", self.folder), "it is a directory"),
                                   (("export", "deimos", "--to", "grafml"), "did you mean 'graphml'?"),
                                   (("export", "deimos", "--to", "slurm", "-o", "/no/such/folder/x"), "No such file"),
                                   (("export", "deimos", "--to", "root-guids"), "the fabric is no tree"),
                                   (("export", "deimos", "--to", "torus-2qos"), "no mesh or torus"),
                                   (("export", "deimos", "--to", "lfts"), "no forwarding tables are given"),
                                   (("import", "deimos", "--sl2vl", "x"), "belong to --tables"),
                                   (("generate",), "no topology is given"),
                                   (("fail", "deimos"), "nothing is to fail"),
                                   (("fail", "deimos", "--years", "3"), "--years and annual rates belong together"),
                                   (("fail", "deimos", "--years", "3", "--link-rate", "1"), "give a percentage"),
                                   (("fail", "deimos", "--years", "3", "--link-rate", "1%", "--switch-link-ratio", "2"),
                                    "as in 1:13"),
                                   (("fail", "deimos", "--faults", "fail-link any mean 1h"), "say until when"),
                                   (("fail", "deimos", "--what-if", "x/1"), "the fabric has nothing of the name"),
                                   (("fail", "deimos", "--faults", "flip rate 1/2"), "this does not happen to a fabric")):
            run = holdfast(*arguments)
            self.assertIn(run.returncode, (2, 5), arguments)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            self.assertIn(message, run.stderr)
            self.assertEqual(run.stdout, "", arguments)


class Simulated(WithFolder):
    """A net that runs in the real ibsim, and programs that attach to it."""

    programs = ("ibsim",)

    @classmethod
    def setUpClass(cls):
        missing = [program for program in cls.programs if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin") is None]
        if missing or not SIM_LIBRARY:
            print("not installed:", ", ".join(missing) or "libumad2sim0")
            sys.exit(77)

    def setUp(self):
        super().setUp()
        self.simulator = None
        self.addCleanup(self.stop)

    def start(self, topology):
        """Runs the topology in ibsim until the test ends."""
        self.stop()
        for cache in ("guid2lid", "guid2mkey", "neighbors"):  # OpenSM would give the LIDs of the last fabric again
            if os.path.exists(self.path(cache)):
                os.remove(self.path(cache))
        net = self.path("net")
        self.good("generate", topology, "--to", "ibsim", "-o", net)
        self.environment = dict(os.environ, IBSIM_SOCKNAME=f"holdfast-{os.getpid()}-{time.monotonic_ns()}",
                                PATH=os.environ["PATH"] + ":/usr/sbin")
        self.log = open(self.path("ibsim.log"), "w+", encoding="utf-8")
        self.simulator = subprocess.Popen(["ibsim", "-s", "-N", "8192", "-S", "2048", "-P", "65536", net], stdin=subprocess.PIPE,
                                          stdout=self.log, stderr=subprocess.STDOUT, env=self.environment, cwd=self.folder)
        deadline = time.monotonic() + 30
        while "sim>" not in self.read("ibsim.log"):
            self.assertIsNone(self.simulator.poll(), self.read("ibsim.log"))
            self.assertLess(time.monotonic(), deadline, "ibsim did not start")
            time.sleep(0.05)

    def stop(self):
        if self.simulator is not None:
            self.simulator.kill()
            self.simulator.wait()
            self.simulator.stdin.close()
            self.log.close()
            self.simulator = None

    def run_in(self, *command, code=0):
        environment = dict(self.environment, LD_PRELOAD=SIM_LIBRARY[0], OSM_TMP_DIR=self.folder, OSM_CACHE_DIR=self.folder)
        run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, cwd=self.folder,
                             stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, code, run.stdout[-2000:] + run.stderr[-2000:])
        return run.stdout

    def route(self, engine, *options):
        """One sweep of OpenSM with its dumps in the folder."""
        self.run_in("opensm", "-R", engine + ",no_fallback", "-o", "-e", "-f", self.path("opensm.log"), "-D", "0x43", *options)


class Discovery(Simulated):
    programs = ("ibsim", "ibnetdiscover")

    def test_what_ibnetdiscover_prints_of_a_generated_net_is_that_net(self):
        for topology in ("torus-3x3x3", "xgft-1-22-11", "kautz(2,3) links=3 hosts=24 rate=4xDDR", "deimos",
                         "mesh(2) hosts=3 rate=12xSDR"):
            self.start(topology)
            for options in ((), ("--full",), ("--grouping",)):
                file = self.write("discovered", self.run_in("ibnetdiscover", *options))
                self.assertEqual(self.good("diff", topology, file), "no difference\n", (topology, options))

    def test_our_text_is_theirs_but_for_the_order_of_nodes(self):
        self.start("tree(3,2) hosts=7")

        def blocks(text):
            lines = [line for line in text.splitlines() if not line.startswith("#")]
            return sorted(block.strip() for block in "\n".join(lines).split("\n\n") if block.strip())
        self.assertEqual(blocks(self.run_in("ibnetdiscover")), blocks(self.good("generate", "tree(3,2) hosts=7")))

    def test_links_that_fail_in_the_simulator_are_found(self):
        self.start("tree(3,2)")
        before = self.write("before", self.run_in("ibnetdiscover"))
        link = self.record("diff", "tree(3,2)", "tree(3,2)")
        self.assertTrue(link["same_network"])
        first = self.good("generate", "tree(3,2)").split("Switch\t36 \"")[1].split("\"")[0]
        self.simulator.stdin.write(f'Unlink "{first}"[4]\n'.encode())
        self.simulator.stdin.flush()
        deadline = time.monotonic() + 30
        while True:
            after = self.write("after", self.run_in("ibnetdiscover"))
            if holdfast("diff", before, after).returncode == 1:
                break
            self.assertLess(time.monotonic(), deadline, "ibsim did not take the link down")
            time.sleep(0.1)
        lost = self.record("diff", before, after, code=1)["lost_links"]
        self.assertEqual([sorted(link.split(" - ")) for link in lost], [["s-0-0/4", "s-1-0/1"]])


class OpenSm(Simulated):
    programs = ("ibsim", "ibnetdiscover", "opensm", "ibroute")

    def test_tables_of_every_dump_are_complete_and_alike(self):
        topology = "torus(3,3) hosts=18"
        self.start(topology)
        self.route("minhop")
        dumps = [self.path("opensm-lfts.dump"), self.path("opensm.fdbs"),
                 self.write("ibroute", "".join(self.run_in("ibroute", str(lid)) for lid in range(1, 10)))]
        texts = set()
        for dump in dumps:
            record = self.record("import", topology, "--tables", dump)
            self.assertEqual(record["notes"], [])
            self.assertEqual(record["tables"]["entries"], 9 * 27, dump)
            texts.add(self.good("export", topology, "--to", "lfts", "--tables", dump))
        self.assertEqual(len(texts), 1)
        ours = texts.pop()
        with open(dumps[0], encoding="utf-8") as theirs:
            self.assertEqual(sorted(theirs.read().splitlines()), sorted(ours.splitlines()), "the text is OpenSM's own")
        self.assertEqual(self.good("diff", topology, self.path("opensm-subnet.lst")), "no difference\n")

    def test_opensm_takes_tables_that_were_written(self):
        topology = "tree(3,2)"
        self.start(topology)
        self.route("minhop")
        file = self.path("tables")
        self.good("export", topology, "--to", "lfts", "--tables", self.path("opensm-lfts.dump"), "-o", file)
        # Another route for one host, so that the tables can only be those of the file.
        with open(file, encoding="utf-8") as text:
            lines = text.read().split("\n")
        at = next(i for i, line in enumerate(lines) if line.startswith("0x000f 00"))
        port = int(lines[at][7:10])
        lines[at] = lines[at][:7] + f"{4 + (port - 3) % 3:03}" + lines[at][10:]
        self.write("tables", "\n".join(lines))
        self.start(topology)
        self.route("file", "-U", file)
        ours = self.good("export", topology, "--to", "lfts", "--tables", file)
        theirs = self.good("export", topology, "--to", "lfts", "--tables", self.path("opensm-lfts.dump"))
        self.assertEqual(ours, theirs)

    def test_lanes_and_path_records(self):
        topology = "torus(3,3) hosts=9"
        self.start(topology)
        self.route("dfsssp", "-Q")
        tables = ("--tables", self.path("opensm-lfts.dump"), "--sl2vl", self.path("opensm-sl2vl.dump"))
        self.assertEqual(self.record("import", topology, *tables)["notes"], [])
        ours = self.good("export", topology, "--to", "sl2vl", *tables)
        with open(self.path("opensm-sl2vl.dump"), encoding="utf-8") as theirs:
            switches = theirs.read().split("Switch ")[1:]
        for block in switches:
            self.assertIn("Switch " + block.split("Channel Adapter")[0].strip(), ours)

    def test_configuration_files_are_taken(self):
        topology = "tree(4,2)"
        roots = self.path("roots")
        self.good("export", topology, "--to", "root-guids", "-o", roots)
        self.start(topology)
        self.route("updn", "-a", roots)
        with open(self.path("opensm.log"), encoding="utf-8") as log:
            self.assertNotIn("ERR", log.read())
        for topology in ("torus(4,4,4) links=2 hosts=64", "torus(5,5)", "mesh(3,4)"):
            config = self.path("torus-2QoS.conf")
            self.good("export", topology, "--to", "torus-2qos", "-o", config)
            self.start(topology)
            self.route("torus-2QoS", "-Q", "--torus_config", config)
            tables = self.record("import", topology, "--tables", self.path("opensm-lfts.dump"))["tables"]
            self.assertEqual(tables["entries"], tables["entries_of_full_tables"], topology)


class Ibdmchk(Simulated):
    programs = ("ibsim", "opensm", "ibdmchk")

    def judge(self, topology, tables):
        """What ibdmchk says of our files; it may crash after its verdict."""
        self.good("export", topology, "--to", "subnet-lst", "-o", self.path("ours.lst"))
        self.good("export", topology, "--to", "fdbs", "--tables", tables, "-o", self.path("ours.fdbs"))
        run = subprocess.run(["ibdmchk", "-s", self.path("ours.lst"), "-f", self.path("ours.fdbs"), "-m", self.path("opensm.mcfdbs")],
                             capture_output=True, text=True, timeout=100, cwd=self.folder)
        return run.stdout + run.stderr

    def test_our_files_are_read_and_judged_as_opensms_own(self):
        topology = "tree(3,2)"
        self.start(topology)
        self.route("minhop")
        verdict = self.judge(topology, self.path("opensm-lfts.dump"))
        theirs = subprocess.run(["ibdmchk", "-s", self.path("opensm-subnet.lst"), "-f", self.path("opensm.fdbs"), "-m",
                                 self.path("opensm.mcfdbs")], capture_output=True, text=True, timeout=100, cwd=self.folder)

        def facts(text):
            return [line for line in text.splitlines() if line.startswith("-") and "Parsing" not in line and "/" not in line]
        self.assertTrue(any("lid to lid" in line or "CA to CA" in line.replace("  ", " ") for line in facts(verdict)), verdict)
        self.assertEqual(facts(verdict), facts(theirs.stdout + theirs.stderr))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=1)
