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

    def test_what_if_writes_the_fabric_without_the_link(self):
        with tempfile.TemporaryDirectory() as folder:
            net = os.path.join(folder, "net")
            asked = run("fail", "tree(4,2)", "--what-if", "s-0-0 - s-1-0", "-o", net)
            self.assertEqual(asked.returncode, 0, asked.stderr)
            difference = run("diff", "tree(4,2)", net)
            self.assertIn("s-0-0", difference.stdout)
            self.assertIn("s-1-0", difference.stdout)

    def test_odd_files_are_read_and_refused_when_that_is_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            net, copy = os.path.join(folder, "net"), os.path.join(folder, "copy")
            self.assertEqual(run("generate", "tree(2,2)", "-o", net).returncode, 0)
            self.assertEqual(run("import", net, "--strict").returncode, 0)
            with open(net, "r+b") as file:
                text = file.read().replace(b"\n", b"\r\n").replace(b"host-0", b"h\xf4te-0")
                file.seek(0)
                file.write(b'DR path slid 0; dlid 0; 0 -> new Switch {0000000000200000} portnum 0 lid 0-0 ""\n' + text)
            read = run("import", net)
            self.assertEqual(read.returncode, 0, read.stderr)
            self.assertEqual(read.stdout.count("note "), 1, read.stdout)
            strict = run("import", net, "--strict", "-o", copy)
            self.assertEqual(strict.returncode, 2)
            self.assertEqual(strict.stderr.count("\n"), 1)
            self.assertIn("line 1: a line of another program", strict.stderr)
            self.assertFalse(os.path.exists(copy), "nothing is written of what is refused")

    def test_engines_over_renumberings(self):
        compared = run("compare", "tree(4,2)", "--engines", "minhop,ftree", "--renumber", "3", "--json", "--quiet")
        self.assertEqual(compared.returncode, 0, compared.stderr)
        for entry in json.loads(compared.stdout)["engines"]:
            self.assertEqual((entry["renumberings"], entry["routed"], entry["valid"]), (3, 3, 3))
            self.assertEqual(entry["edge_forwarding_index"], {"least": 12.0, "median": 12.0, "most": 12.0})
        self.assertEqual(run("compare", "tree(4,2)", "--seed", "3").returncode, 2)

    def test_a_refusal_is_one_line_and_2(self):
        refused = run("route", "torus(5,5) hosts=25", "--engine", "ftree")
        self.assertEqual(refused.returncode, 2)
        self.assertEqual(refused.stderr.count("\n"), 1)
        self.assertIn("not a fat tree", refused.stderr)
        self.assertIn("did you mean 'dfsssp'?", run("route", "tree(2,2)", "--engine", "dfsssp2").stderr)
        self.assertEqual(run("route", "tree(2,2)", "--engine", "updn", "--root", "nobody").returncode, 2)

    def test_roots_come_from_a_file_as_opensms(self):
        with tempfile.NamedTemporaryFile("w", suffix=".guids") as file:
            file.write(subprocess.run([HOLDFAST, "fabric", "export", "tree(3,3)", "--to", "root-guids"], check=True,
                                      capture_output=True, text=True, timeout=LIMIT).stdout)
            file.flush()
            listed = run("route", "tree(3,3)", "--engine", "updn", "--root-guids", file.name, "--json")
            self.assertEqual(listed.returncode, 0, listed.stderr)
            file.write("0xdead\n")
            file.flush()
            wrong = run("route", "tree(3,3)", "--engine", "updn", "--root-guids", file.name)
            self.assertEqual(wrong.returncode, 2)
            self.assertIn(file.name + " line", wrong.stderr)
        found = run("route", "tree(3,3)", "--engine", "updn", "--json")
        fields = ("edge_forwarding_index", "mean_hops")
        self.assertEqual([json.loads(listed.stdout)[f] for f in fields], [json.loads(found.stdout)[f] for f in fields])

    def test_a_torus_lies_as_its_file_says(self):
        with tempfile.TemporaryDirectory() as folder:
            net, config = os.path.join(folder, "net"), os.path.join(folder, "torus-2QoS.conf")
            for words in (("generate", "torus(4,5) hosts=20", "-o", net),
                          ("export", "torus(4,5) hosts=20", "--to", "torus-2qos", "-o", config)):
                subprocess.run([HOLDFAST, "fabric", *words], check=True, capture_output=True, timeout=LIMIT)
            placed = run("route", net, "--engine", "torus-2qos", "--torus-config", config, "--json")
            self.assertEqual(placed.returncode, 0, placed.stderr)
            generated = run("route", "torus(4,5) hosts=20", "--engine", "torus-2qos", "--json")
            fields = ("edge_forwarding_index", "mean_hops", "lanes")
            self.assertEqual([json.loads(placed.stdout)[f] for f in fields],
                             [json.loads(generated.stdout)[f] for f in fields])
            compared = run("compare", net, "--engines", "torus-2qos", "--torus-config", config, "--json", "--quiet")
            self.assertTrue(json.loads(compared.stdout)["engines"][0]["valid"], compared.stderr)
            with open(config) as file:
                text = file.read()
            for wrong, said in ((text.replace("torus 4 5 1", "torus 4 6 1"), "placing switches by torus-2QoS.conf"),
                                (text + "q_dateline 1\n", "there is no keyword 'q_dateline'")):
                with open(config, "w") as file:
                    file.write(wrong)
                refused = run("route", net, "--engine", "torus-2qos", "--torus-config", config)
                self.assertEqual(refused.returncode, 2)
                self.assertIn(said, refused.stderr)
                self.assertEqual(refused.stderr.count("\n"), 1)

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
        self.assertEqual(len(engines), 14)
        self.assertFalse(engines["minhop"]["good"])
        self.assertTrue(engines["nue"]["good"])

    def test_a_real_clusters_odds_and_ends(self):
        """A host with two adapters, one of them on both ports; a link that came up narrow; an aggregation node."""
        nodes = [("n1 HCA-1", 1, "4xHDR"), ("n1 HCA-1", 2, "4xHDR"), ("n1 HCA-2", 1, "1xHDR"),
                 ("n\u00e9 \"2\" mlx5_0", 1, "4xHDR"), ("Mellanox Technologies Aggregation Node", 1, "4xHDR")]
        guids = {}
        for name, _, _ in nodes:
            guids.setdefault(name, 0x100 * (len(guids) + 1))
        text = ('vendid=0x2c9\ndevid=0xd2f0\nswitchguid=0x10(10)\n'
                'Switch\t41 "S-0000000000000010"\t\t# "MF0;leaf:MQM8700/U1" enhanced port 0 lid 1 lmc 0\n')
        for i, (name, port, rate) in enumerate(nodes):
            text += f'[{i + 1}]\t"H-{guids[name]:016x}"[{port}]({guids[name] + port:x}) \t\t# "{name}" lid {i + 2} {rate}\n'
        for name, guid in guids.items():
            text += f'\nvendid=0x2c9\ndevid={"0xcf09" if "Agg" in name else "0x101b"}\ncaguid={guid:#x}\nCa\t2 "H-{guid:016x}"\t\t# "{name}"\n'
            for i, (other, port, rate) in enumerate(nodes):
                if other == name:
                    text += (f'[{port}]({guid + port:x}) \t"S-0000000000000010"[{i + 1}]\t\t'
                             f'# lid {i + 2} lmc 0 "MF0;leaf:MQM8700/U1" lid 1 {rate}\n')
        with tempfile.NamedTemporaryFile("w", suffix=".ibnetdiscover") as file:
            file.write(text)
            file.flush()
            check = run("check", file.name)
            record = json.loads(run("check", file.name, "--json").stdout)
            shown = json.loads(run("show", file.name, "--json").stdout)
        self.assertEqual(check.returncode, 1, "a narrow link is to be repaired")
        self.assertEqual(check.stderr, "")
        self.assertIn("hosts      2 with 4 ports of 3 adapters, 0 ports cut off; aggregation nodes: 1", check.stdout)
        self.assertIn("MF0;leaf:MQM8700/U1/3 - n1 HCA-2/1 came up as 1xHDR, its ports can do 4xHDR", check.stdout)
        self.assertEqual((record["hosts"], record["adapters"], record["aggregation_nodes"]), (2, 3, 1))
        self.assertEqual((shown["hosts"], shown["adapters"]), (2, 4))
        for engine in record["engines"]:
            self.assertTrue(engine["routed"] is False or engine["good"], engine)

    def test_bad_input_is_one_line_and_2(self):
        for words in (["check", "/no/such/file"], ["check", "tree(2,2)", "--engines", "updm"],
                      ["check", "tree(2,2)", "--tables", "/no/such/file"]):
            failed = run(*words)
            self.assertEqual(failed.returncode, 2, failed.stderr)
            self.assertEqual(failed.stderr.count("\n"), 1, failed.stderr)


if __name__ == "__main__":
    unittest.main()
