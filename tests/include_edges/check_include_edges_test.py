"""Proves that tools/check_include_edges.py finds what it is for, on small trees made here."""

import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TOOL = os.path.join(ROOT, "tools", "check_include_edges.py")
sys.path.insert(0, os.path.dirname(TOOL))
import check_include_edges as edge_check  # noqa: E402


def check(files):
    """Runs the tool on a tree of these files (path -> text); gives its exit code and its lines."""
    with tempfile.TemporaryDirectory() as tree:
        os.mkdir(os.path.join(tree, "src"))
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
            with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                file.write(text)
        run = subprocess.run([sys.executable, TOOL, tree], capture_output=True, text=True, timeout=60, check=False)
        return run.returncode, run.stdout.splitlines()


def including(path, *targets):
    return {path: "".join(f"#include {target}\n" for target in targets)}


class GoodTree(unittest.TestCase):
    def assert_good(self, path, *targets):
        code, lines = check(including(path, *targets))
        self.assertEqual((code, lines), (0, ["include edges: all good"]))

    def test_edges_of_the_table(self):
        self.assert_good("src/core/status/a.h", "<string>", '"core/status/status.h"')
        self.assert_good("src/core/status/a_test.cc", "<gtest/gtest.h>")
        self.assert_good("src/core/fault/a.cc", '"core/random/stream.h"', '"core/time/clock.h"', "<sys/time.h>")
        self.assert_good("src/core/event/a.cc", '"core/stats/mean.h"', "<nlohmann/json.hpp>")
        self.assert_good("src/simulate/study/mpi/a.cc", "<mpi.h>")
        self.assert_good("src/replicate/mpi/agree/a.cc", "<mpi.h>", '"replicate/engine/vote.h"', '"core/fault/fault.h"')
        self.assert_good("src/replicate/libc/a.cc", '"replicate/mpi/context/runtime.h"', '"replicate/engine/vote.h"')
        self.assert_good("src/replicate/launch/a.cc", '"replicate/engine/replica_map.h"', '"core/config/table.h"')
        self.assert_good("src/transport/ofi/a.cc", "<rdma/fabric.h>", '"transport/engine/peer.h"')
        self.assert_good("src/transport/rail/a.cc", "<rdma/fabric.h>", '"transport/wire/packet.h"')
        self.assert_good("src/simulate/world/a.cc", '"transport/engine/peer.h"', '"replicate/engine/vote.h"',
                         '"fabric/topology/graph.h"', '"simulate/kernel/queue.h"')
        self.assert_good("src/report/a.cc", '"simulate/study/record.h"', '"plan/plan_record.h"')
        self.assert_good("src/cli/run.cc", '"replicate/launch/job.h"', '"fabric/check/lost.h"', "<holdfast/digest.h>")

    def test_the_repository_itself(self):
        run = subprocess.run([sys.executable, TOOL, ROOT], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stdout), (0, "include edges: all good\n"))


class BadTree(unittest.TestCase):
    def assert_bad(self, path, target, said):
        code, lines = check(including(path, "<vector>", target))
        self.assertEqual(code, 1)
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith(path + ":2: "), lines[0])
        self.assertIn(said, lines[0])

    def test_edges_that_are_not_in_the_table(self):
        for path, target in [
                ("src/core/status/a.h", "core/time/clock.h"), ("src/core/time/a.h", "core/config/table.h"),
                ("src/core/config/a.h", "core/random/stream.h"), ("src/core/integrity/a_test.cc", "core/random/a.h"),
                ("src/core/fault/a.h", "core/config/table.h"), ("src/core/event/a.h", "replicate/engine/vote.h"),
                ("src/fabric/check/a.h", "simulate/kernel/queue.h"), ("src/plan/a.h", "fabric/topology/graph.h"),
                ("src/replicate/engine/a.h", "replicate/mpi/context/runtime.h"), ("src/replicate/mpi/agree/a.h", "transport/wire/a.h"),
                ("src/replicate/mpi/agree/a.h", "replicate/libc/time.h"), ("src/replicate/launch/a.h", "replicate/mpi/a.h"),
                ("src/replicate/process/a.h", "replicate/mpi/context/runtime.h"),
                ("src/transport/engine/a.h", "transport/rail/rail.h"), ("src/transport/wire/a.h", "transport/engine/a.h"),
                ("src/simulate/a.h", "transport/ofi/provider.h"), ("src/simulate/a.h", "replicate/mpi/a.h"),
                ("src/report/a.h", "simulate/kernel/queue.h"), ("src/cli/a.cc", "replicate/mpi/a.h"),
                ("src/cli/a.cc", "replicate/libc/a.h"), ("src/cli/a.cc", "transport/ofi/a.h"),
                ("src/report/a.h", "cli/run.h"), ("src/transport/ofi/a.cc", "cli/run.h")]:
            with self.subTest(path=path, target=target):
                self.assert_bad(path, f'"{target}"', f"may not include {target}")
                self.assert_bad(path, f"<{target}>", f"may not include {target}")

    def test_headers_that_belong_to_one_place(self):
        owners = "only replicate/mpi and simulate/study/mpi and simulate/predict/mpi and record/mpi may include mpi.h"
        self.assert_bad("src/replicate/engine/a.h", "<mpi.h>", owners)
        self.assert_bad("src/replicate/libc/a.h", '"mpi.h"', owners)
        self.assert_bad("src/transport/engine/a.h", "  <rdma/fi_domain.h>", "may include rdma/fi_domain.h")

    def test_the_ground_floor_takes_the_standard_library_alone(self):
        self.assert_bad("src/core/status/a.h", "<fmt/format.h>", "standard library alone")
        self.assert_bad("src/core/time/a.h", "<xxhash.h>", "standard library alone")
        self.assert_bad("src/core/time/a.cc", "<gtest/gtest.h>", "standard library alone")

    def test_includes_not_written_from_src(self):
        self.assert_bad("src/core/config/a.cc", '"table.h"', "write the include of table.h from src/")
        self.assert_bad("src/core/config/a.cc", '"../status/status.h"', "from src/")

    def test_folders_that_leave_the_system_to_others(self):
        for path, target in [("src/replicate/engine/a.h", "unistd.h"), ("src/transport/engine/a.cc", "sys/socket.h"),
                             ("src/transport/wire/a.cc", "chrono"), ("src/fabric/check/a.cc", "fstream"),
                             ("src/fabric/routing/engines/a.cc", "thread")]:
            with self.subTest(path=path, target=target):
                self.assert_bad(path, f"<{target}>", f"leaves the system to others: no {target}")
        for path, target in [("src/transport/engine/a.cc", "sys/uio.h"), ("src/replicate/engine/a_test.cc", "unistd.h"),
                             ("src/replicate/process/a.cc", "unistd.h")]:
            self.assertEqual(check(including(path, f"<{target}>")), (0, ["include edges: all good"]))

    def test_circles(self):
        files = {"src/plan/a.h": '#include "plan/b.h"\n', "src/plan/b.h": '#include "plan/c.h"\n',
                 "src/plan/c.h": '#include "plan/a.h"\n', "src/plan/d.h": '#include "plan/a.h"\n'}
        self.assertEqual(check(files), (1, ["files that include each other in a circle: plan/a.h, plan/b.h, plan/c.h"]))
        files = {"src/plan/a.h": "", "src/plan/a.cc": '#include "plan/b.h"\n', "src/plan/b.h": '#include "plan/a.h"\n'}
        self.assertEqual(check(files), (0, ["include edges: all good"]))

    def test_circles_of_modules(self):
        files = {"src/replicate/mpi/agree/a.h": "", "src/replicate/mpi/agree/a.cc": '#include "replicate/mpi/agree/b.h"\n',
                 "src/replicate/mpi/agree/b.h": '#include "replicate/mpi/agree/a.h"\n'}
        self.assertEqual(check(files), (1, ["modules that include each other in a circle: "
                                            "replicate/mpi/agree/a, replicate/mpi/agree/b"]))

    def test_circles_of_folders(self):
        folders = {"fabric/formats": "fabric/routing/graph", "fabric/routing/graph": "fabric/tables",
                   "fabric/routing/engines": "fabric/check"}
        edges = {folder: {target} for folder, target in folders.items()}
        for target in folders.values():
            edges.setdefault(target, set())
        self.assertEqual(edge_check.circles(edges), [])
        edges["fabric/check"] = {"fabric/formats"}
        edges["fabric/tables"] = {"fabric/routing/engines"}
        self.assertEqual(edge_check.circles(edges), [["fabric/check", "fabric/formats", "fabric/routing/engines",
                                                      "fabric/routing/graph", "fabric/tables"]])

    def test_rooms_have_an_order(self):
        self.assert_bad("src/fabric/check/a.cc", '"fabric/routing/engines/engine.h"', "fabric/check may not include")
        self.assert_bad("src/fabric/formats/a.cc", '"fabric/routing/engines/engine.h"', "fabric/formats may not include")
        self.assert_bad("src/simulate/packet/a.h", '"simulate/traffic/pattern.h"', "simulate/packet may not include")
        self.assert_bad("src/simulate/collective/a.h", '"simulate/study/study.h"', "simulate/collective may not include")
        self.assert_bad("src/replicate/launch/detect/a.h", '"replicate/launch/plan/hosts.h"', "may not include")
        self.assert_bad("src/replicate/mpi/agree/a.cc", '"replicate/mpi/pointtopoint/send.h"', "mpi/agree may not include")
        self.assert_bad("src/replicate/mpi/context/a.h", '"replicate/mpi/life/team.h"', "mpi/context may not include")
        self.assertEqual(check(including("src/fabric/check/a_test.cc", '"fabric/routing/engines/engine.h"')),
                         (0, ["include edges: all good"]))

    def test_a_folder_without_a_row(self):
        self.assertEqual(check(including("src/replicate/extra/a.h", "<vector>")),
                         (1, ["src/replicate/extra/a.h: no row says what this folder may include"]))

    def test_folder_names_that_say_nothing(self):
        for name in ["util", "common", "helpers", "misc"]:
            code, lines = check({f"src/core/{name}/a.h": "", f"tests/{name}/x.txt": "", f"build/{name}/x": ""})
            self.assertEqual(code, 1)
            self.assertEqual(lines, [f"src/core/{name}: name the folder after what it holds",
                                     f"tests/{name}: name the folder after what it holds"])

    def test_a_tree_without_sources(self):
        with tempfile.TemporaryDirectory() as tree:
            run = subprocess.run([sys.executable, TOOL, tree], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(run.returncode, 2)


if __name__ == "__main__":
    unittest.main()
