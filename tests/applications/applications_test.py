#!/usr/bin/env python3
"""Runs a program that is not ours natively and under `holdfast run`, and holds its answer to the native one.

Usage: applications_test.py HOLDFAST lammps|hpcc|espresso|mpi4py
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

LAMMPS_INPUT = """
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo_modify norm no
thermo 10
run 60
"""
ESPRESSO_INPUT = """
&control
  calculation = 'scf', prefix = 'si', pseudo_dir = '/usr/share/espresso/pseudo/', outdir = './out'
/
&system
  ibrav = 2, celldm(1) = 10.20, nat = 2, ntyp = 1, ecutwfc = 12.0
/
&electrons
  conv_thr = 1.0d-8
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.25 0.25 0.25
K_POINTS
 2
 0.25 0.25 0.25 1.0
 0.25 0.25 0.75 3.0
"""
PYTHON_SCRIPT = """#!/usr/bin/python3
from array import array
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
cells = array("d", [float((7 * i + rank) % 13) for i in range(64)])
for step in range(40):
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    before, after = array("d", [0.0]), array("d", [0.0])
    world.Sendrecv(cells[-1:], right, 1, before, left, 1)
    world.Sendrecv(cells[:1], left, 2, after, right, 2)
    padded = before + cells + after
    cells = array("d", [(padded[i - 1] + padded[i] + padded[i + 1]) / 3 for i in range(1, len(padded) - 1)])
total = world.allreduce(sum(cells), op=MPI.SUM)
told = world.gather({"rank": rank, "first": cells[0].hex(), "words": ["heat"] * rank}, root=0)
if rank == 0:
    print(total.hex(), told)
"""
IMPORTING_SCRIPT = """
import importlib, os, sys
from mpi4py import MPI

sys.dont_write_bytecode = False
world = MPI.COMM_WORLD
sys.path.insert(0, "made/inner")
for turn in range(3):
    if world.rank == 0:
        os.makedirs("made/inner", exist_ok=True)
        with open(f"made/inner/module_{turn}.py", "w") as source:
            source.write(f"value = {turn}\\n")
    world.Barrier()
    module = importlib.import_module(f"module_{turn}")
    world.Barrier()
    status = os.stat("made/inner")
    seen = [module.value, os.listdir("made/inner"), [entry.inode() for entry in os.scandir("made")], status.st_ino,
            status.st_mtime_ns, os.stat(module.__file__).st_mtime_ns]
    with open(module.__file__) as source:
        seen.append(os.fstat(source.fileno()).st_ino)
    everybodys = world.allgather(seen)
    if world.rank == 0:
        print(turn, module.value, sorted(os.listdir("made/inner/__pycache__")))
"""
HPCC_INPUT = "/usr/share/doc/hpcc/examples/_hpccinf.txt"


def run(words, folder, limit=240):
    """Its exit code, standard output and standard error; nothing of it is left running."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             start_new_session=True, cwd=folder, env=environment)
    try:
        out, err = child.communicate(timeout=limit)
        return child.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        sys.exit(f"FAILED: still running after {limit} s: {' '.join(words)}")


def expect(condition, what, detail=""):
    if not condition:
        sys.exit(f"FAILED: {what}\n{detail}")


def natively(program, folder):
    return run(["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", "2", *program], folder)


def replicated(holdfast, options, program, folder):
    code, out, err = run([holdfast, "run", "-n", "2", "--json", "record.json", *options, "--", *program], folder)
    expect(code == 0, f"{program[0]} {options} ended with {code}", err)
    record = json.loads((folder / "record.json").read_text())
    return out, record["counters"]


def thermodynamics(out):
    """The lines of numbers between the table's head and the loop time: the physics, without any timing."""
    return re.findall(r"^ *\d+(?: +-?[\d.e+-]+){5} *$", out, re.MULTILINE)


def lammps(holdfast, folder):
    (folder / "in.small").write_text(LAMMPS_INPUT)
    program = ["lmp", "-in", "in.small"]
    code, out, err = natively(program, folder)
    expect(code == 0, f"the native run ended with {code}", err)
    right = thermodynamics(out)
    expect(len(right) == 7, "a line for each ten steps", out)
    for options in (["--replicas", "2"], ["--replicas", "3"], ["--replicas", "3", "--protocol", "all-to-all"]):
        out, counters = replicated(holdfast, options, program, folder)
        expect(thermodynamics(out) == right, f"{options}: the answer is another one", out)
        expect(counters["messages"] > 100 and counters["mismatches"] == 0, f"{options}: verified and equal", counters)
    flips = ["--replicas", "3", "--inject", "rank 1 replica 1 message 40 bit 62"]
    out, counters = replicated(holdfast, flips, program, folder)
    expect(thermodynamics(out) == right, "the flip changed the answer", out)
    expect(counters["corrections"] >= 1, "the flip was not noticed", counters)


def hpcc_input():
    """Debian's example with a matrix of 200 rather than 1,000 rows in blocks of 20, and a process grid of 1 x 2."""
    lines = pathlib.Path(HPCC_INPUT).read_text().splitlines(keepends=True)
    for number, old, new in ((6, "1000", "200"), (8, "80", "20"), (11, "2", "1")):
        expect(lines[number - 1].split()[0] == old, f"line {number} of {HPCC_INPUT} is as known")
        lines[number - 1] = lines[number - 1].replace(old, new, 1)
    return "".join(lines)


def hpcc(holdfast, folder):
    (folder / "hpccinf.txt").write_text(hpcc_input())
    result = folder / "hpccoutf.txt"
    # HPCC sends parts of its buffers that it has never set (RandomAccess's verification, the latency test).
    for options in (["--replicas", "2"], ["--replicas", "3", "--inject", "replica 1 rate 1/2000", "--seed", "3"]):
        result.unlink(missing_ok=True)
        out, counters = replicated(holdfast, ["--same-memory", *options], ["hpcc"], folder)
        text = result.read_text()
        expect("Success=1" in text, f"{options}: HPCC says that its tests failed", text[-2000:])
        expect("FAILED" not in text, f"{options}: one of HPCC's tests failed", text[-2000:])
        expect(counters["messages"] > 1000, f"{options}: messages were verified", counters)
        if "--inject" in options:
            expect(counters["corrections"] >= 1, "no flip was corrected", counters)
        else:
            expect(counters["mismatches"] == 0, "copies differed without a fault", counters)


def espresso(holdfast, folder):
    """Silicon's energy. Strings of which it has set a part are broadcast from the stack (docs/design/same-memory.md)."""
    (folder / "si.in").write_text(ESPRESSO_INPUT)
    program = ["pw.x", "-in", "si.in"]
    code, out, err = natively(program, folder)
    energy = re.findall(r"^! .*$", out, re.MULTILINE)
    expect(code == 0 and len(energy) == 1, f"the native run ended with {code}", out + err)
    for options in (["--replicas", "2"], ["--replicas", "3"],
                    ["--replicas", "3", "--inject", "flip rank 1 replica 1 message 20 bit 5"]):
        out, counters = replicated(holdfast, ["--same-memory", *options], program, folder)
        expect(re.findall(r"^! .*$", out, re.MULTILINE) == energy, f"{options}: the answer is another one", out)
        expect(counters["messages"] > 50, f"{options}: messages were verified", counters)
        expect((counters["corrections"] > 0) == ("--inject" in options), f"{options}: a flip, and nothing else, is corrected",
               counters)


def mpi4py(holdfast, folder):
    """Python loads its MPI by itself. Objects go pickled; the script is run by its own first line."""
    script = folder / "heat.py"
    script.write_text(PYTHON_SCRIPT)
    script.chmod(0o755)
    code, right, err = natively([str(script)], folder)
    expect(code == 0 and "words" in right, f"the native run ended with {code}", right + err)
    for options, program in ((["--replicas", "2"], [str(script)]), (["--replicas", "3"], ["/usr/bin/python3", str(script)]),
                             (["--replicas", "3", "--inject", "flip rank 1 replica 1 message 9 bit 5"], [str(script)])):
        out, counters = replicated(holdfast, ["--mpi", "openmpi", *options], program, folder)
        expect(out == right, f"{options}: the answer is another one", out)
        expect(counters["messages"] > 100, f"{options}: messages were verified", counters)
        expect((counters["corrections"] > 0) == ("--inject" in options), f"{options}: a flip, and nothing else, is corrected",
               counters)

    # A job's script starts Python, after something else: MPI's library is preloaded there alone.
    job = folder / "job.sh"
    for shell in ("sh", "bash"):
        job.write_text(f"#!/bin/{shell}\n/usr/bin/python3 -c pass\n/usr/bin/python3 {script} > answer.$OMPI_COMM_WORLD_RANK\n")
        job.chmod(0o755)
        for replicas in ("2", "3"):
            out, counters = replicated(holdfast, ["--mpi", "openmpi", "--replicas", replicas], [str(job)], folder)
            expect(out == "" and (folder / "answer.0").read_text() == right, f"{shell}, {replicas} replicas: another answer", out)
            expect(counters["messages"] > 100 and counters["mismatches"] == 0, "messages were verified", counters)

    # A module that the job writes is found, compiled and compared: replicas agree on times, numbers and order of files.
    script.write_text(IMPORTING_SCRIPT)
    for replicas in ("2", "3"):
        place = folder / f"importing-{replicas}"
        place.mkdir()
        out, counters = replicated(holdfast, ["--mpi", "openmpi", "--replicas", replicas], ["/usr/bin/python3", str(script)],
                                   place)
        expect(out.splitlines()[-1].startswith("2 2 ['module_0"), "modules are found", out)
        expect(counters["mismatches"] == 0, "and all replicas saw the same", counters)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as name:
        {"lammps": lammps, "hpcc": hpcc, "espresso": espresso, "mpi4py": mpi4py}[sys.argv[2]](sys.argv[1], pathlib.Path(name))
