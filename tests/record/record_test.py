#!/usr/bin/env python3
"""Real programs recorded by `holdfast run --record`, and their totals against numbers that follow from their source."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

RANKS = 4
PYTHON_PROGRAM = """
from mpi4py import MPI
world = MPI.COMM_WORLD
for i in range(10):
    world.Sendrecv(bytearray(24), (world.rank + 1) % world.size, 1, bytearray(24), (world.rank - 1) % world.size, 1)
world.Barrier()
"""


def expect(condition, what, *detail):
    if not condition:
        sys.exit("\n".join(["FAILED: " + what, *map(str, detail)]))


def run(words, folder):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=folder)
    return done.returncode, done.stdout, done.stderr


def record(args, program, folder, options=(), ranks=RANKS):
    code, out, err = run([args.holdfast, "run", "--mpi", args.mpi, "-n", str(ranks), "--record", "job.trace", *options,
                          "--", *map(str, program)], folder)
    return code, out + err


def totals(args, folder):
    code, out, err = run([args.holdfast, "trace", "show", "job.trace", "--json", "-"], folder)
    expect(code == 0, f"trace show ended with {code}", err)
    return json.loads(out), err


def check(args, folder, expected=0):
    code, out, err = run([args.holdfast, "trace", "check", "job.trace"], folder)
    expect(code == expected, f"trace check ended with {code}, not {expected}", out, err)
    return out


def known_counts(args, folder, options=()):
    """The closed forms of known_counts.c."""
    rounds = 50
    code, said = record(args, [args.program, rounds, folder], folder, options)
    expect(code == 0, f"the program ended with {code}", said)
    check(args, folder)
    seen, _ = totals(args, folder)
    expect(seen["ranks"] == RANKS and seen["mpi"] == args.mpi, "the job", seen["ranks"], seen["mpi"])
    expect(not seen["not_recorded"], "all that communicates is recorded", seen["not_recorded"])
    expect(seen["local"]["MPI_Wtime"] >= RANKS, "MPI_Wtime is counted", seen["local"])
    calls = {"MPI_Irecv": rounds, "MPI_Isend": rounds + 1, "MPI_Waitall": 2 * rounds, "MPI_Sendrecv": rounds,
             "MPI_Startall": rounds, "MPI_Send_init": 1, "MPI_Recv_init": 1, "MPI_Request_free": 2, "MPI_Send": 1,
             "MPI_Recv": 1, "MPI_Wait": 2, "MPI_Allreduce": rounds, "MPI_Bcast": 3, "MPI_Alltoallv": 1,
             "MPI_Comm_split": 1, "MPI_Ibarrier": 1, "MPI_Comm_free": 1, "MPI_Win_create": 1, "MPI_Win_fence": 2,
             "MPI_Put": 1, "MPI_Win_free": 1, "MPI_File_open": 1, "MPI_File_write_at_all": 1, "MPI_File_close": 1,
             "MPI_Finalize": 1}
    volume = {"MPI_Isend": 1000 * rounds + 5, "MPI_Sendrecv": 64 * rounds, "MPI_Allreduce": 8 * rounds,
              "MPI_Bcast": 3 * 4096, "MPI_Alltoallv": 4 * RANKS * (RANKS + 1) // 2, "MPI_Put": 32,
              "MPI_File_write_at_all": 128, "MPI_Startall": 16 * rounds}
    for rank, own in enumerate(seen["by_rank"]):
        functions = own["functions"]
        for name, times in calls.items():
            expect(functions.get(name, {}).get("calls") == times, f"rank {rank}: {name} {times} times", functions.get(name))
        answered = functions["MPI_Iprobe"]["calls"] - functions["MPI_Iprobe"]["in_vain"]
        expect(answered == 1, f"rank {rank}: one MPI_Iprobe found a message", functions["MPI_Iprobe"])
        expect(set(functions) == set(calls) | {"MPI_Iprobe"}, f"rank {rank}: no other function", sorted(functions))
        for name, number in volume.items():
            expect(functions[name]["bytes"] == number, f"rank {rank}: {name} {number} bytes", functions[name])
        flow = {"messages": 3 * rounds + 1, "bytes": (1000 + 64 + 16) * rounds + 5}
        expect(own["sent"] == [{"rank": (rank + 1) % RANKS, **flow}], f"rank {rank} sent", own["sent"])
        expect(own["received"] == [{"rank": (rank - 1) % RANKS, **flow}], f"rank {rank} received", own["received"])
        expect(own["put"] == [{"rank": (rank + 1) % RANKS, "messages": 1, "bytes": 32}], f"rank {rank} put", own["put"])
    return seen


def damaged(args, folder):
    """What is intact is used; a line names the place."""
    path = pathlib.Path(folder, "job.trace", "rank-000002.rec")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    seen, said = totals(args, folder)
    expect(said.count("\n") == 1 and "rank-000002.rec: byte " in said, "one line names the place", said)
    expect(seen["by_rank"][2]["functions"]["MPI_Isend"]["calls"] == 51, "the calls before are there")
    check(args, folder, 1)
    path.unlink()
    expect("rank-000002.rec: there is no such file" in check(args, folder, 1), "the missing file is named")
    path.write_bytes(whole)
    check(args, folder)


def damages_told(args, folder, what):
    """Of rank files, as `trace show` and `trace check` both tell them; what is intact is used, so that show ends with 0."""
    told = []
    for words, wrong in ("show", 0), ("check", 1):
        code, out, err = run([args.holdfast, "trace", words, "job.trace"], folder)
        expect(code in (0, wrong), f"{what}: {words} ended with {code}", out, err)
        lines = [line for line in (out + err).splitlines() if ".rec: " in line]
        told.append([line[line.index("rank-"):].split(": what is intact")[0] for line in lines])
    expect(told[0] == told[1], f"{what}: show and check say the same", told)
    return told[0]


def damaged_everywhere(args, folder):
    """Another version, a byte in each block, and ends at each 64th of the file."""
    path = pathlib.Path(folder, "job.trace", "rank-000002.rec")
    whole = path.read_bytes()
    blocks = [at.start() for at in re.finditer(b"HOLDFREC", whole)]
    newer = bytearray(whole)
    for at in blocks:
        newer[at + 16] = 2
    path.write_bytes(newer)
    lines = damages_told(args, folder, "version 2")
    expect(len(lines) == 1 and "version 2 of the format, this program reads version 1" in lines[0], "the version", lines)
    for begin, end in zip(blocks, [*blocks[1:], len(whole)]):
        path.write_bytes(whole[:end - 1] + bytes([whole[end - 1] ^ 1]) + whole[end:])
        lines = damages_told(args, folder, f"block at {begin}")
        expect(len(lines) == 1 and f"byte {begin}" in lines[0], f"a byte of the block at {begin}", lines)
    for part in range(64):
        path.write_bytes(whole[:len(whole) * part // 64])
        lines = damages_told(args, folder, f"{part}/64")
        expect(len(lines) == 1, f"{part}/64 of the file", lines)
    path.write_bytes(whole)
    expect(damages_told(args, folder, "whole") == [], "it is whole again")


def of_another_version(args, folder):
    """A recording of which no file can be read: one line, and 2 from every command that reads it."""
    newer = pathlib.Path(folder, "newer.trace")
    shutil.copytree(pathlib.Path(folder, "job.trace"), newer)
    for path in newer.glob("*.rec"):
        path.write_bytes(re.sub(rb"(?s)(HOLDFREC.{8})\x01", b"\\g<1>\x02", path.read_bytes()))
    fabric = ["--fabric", "tree(4,2)"]
    for words in (["trace", "show", "newer.trace"], ["trace", "check", "newer.trace"],
                  ["trace", "convert", "newer.trace", "newer.goal"],
                  ["simulate", "--trace", "newer.trace", "--engine", "updn", *fabric],
                  ["predict", "newer.trace", "-q", "-d", "newer.sqlite", *fabric]):
        code, out, err = run([args.holdfast, *words], folder)
        expect(code == 2 and err.count("\n") == 1 and "of version 2 of the format" in err, f"{words}: {code}", out, err)


def converted(args, folder):
    code, out, err = run([args.holdfast, "trace", "convert", "job.trace", "job.goal"], folder)
    expect(code == 0, f"trace convert ended with {code}", out, err)
    text = pathlib.Path(folder, "job.goal").read_text()
    expect("MPI_Put" in text.split("num_ranks")[0], "what is left out is named", text[:500])
    code, out, err = run([args.holdfast, "simulate", "--fabric", "tree(4,2)", "--engine", "updn", "--trace", "job.goal"],
                         folder)
    expect(code == 0, f"the schedule runs to its end: {code}", out, err)


def simulated(args, folder, *options, expected=0):
    code, out, err = run([args.holdfast, "simulate", "--fabric", "tree(4,2)", "--engine", "updn", "--trace", "job.trace",
                          "--json", "-", *options], folder)
    expect(code == expected, f"simulate {' '.join(options)} ended with {code}", out[-500:], err)
    return json.loads(out) if code == 0 else err, out


def replayed(args, folder, rounds=50):
    """The recording on a fabric, by its MPI's rules; each rank on a host, all on one, and two jobs at once."""
    rules = ("--mpi.collectives", args.mpi)
    seen, text = simulated(args, folder, *rules)
    job = seen["jobs"][0]
    expect(seen["ending"] == "complete" and job["ended"] and job["ranks"] == RANKS, "it runs to its end", job)
    expect(job["time_ps"] > 0 and job["rules"] == args.mpi and job["hosts"] == RANKS, "the job", job)
    expect(any("MPI_File_write_at_all 4" in note for note in job["notes"]), "what took its recorded time", job["notes"])
    reductions = [one for one in job["algorithms"] if one["operation"] == "allreduce"]
    expect([one["algorithm"] for one in reductions] == ["recursive-doubling"], "how it reduced", job["algorithms"])
    expect(reductions[0]["calls"] >= rounds, "how often", reductions)
    point_to_point = RANKS * (3 * rounds + 1)
    expect(job["messages"] > point_to_point and job["shared_messages"] == 0, "all through the network", job)
    expect(simulated(args, folder, *rules)[1] == text, "equal runs are equal to the byte")

    together = simulated(args, folder, *rules, "--ranks-per-host", str(RANKS))[0]["jobs"][0]
    expect(together["messages"] == 0 and together["shared_messages"] > point_to_point, "all inside a host", together)
    slow = simulated(args, folder, *rules, "--compute-scale", "1000")[0]["jobs"][0]
    expect(slow["time_ps"] > 10 * job["time_ps"], "computing a thousand times as long", slow["time_ps"], job["time_ps"])
    two = simulated(args, folder, *rules, "--trace", "job.trace", "--place", "random", "--seed", "7")[0]["jobs"]
    hosts = [rank["host"] for one in two for rank in one["by_rank"]]
    expect(len(two) == 2 and len(set(hosts)) == 2 * RANKS, "two jobs have hosts of their own", hosts)

    for options, said in ((("--hosts", "nowhere[1-4]"), "the fabric has no host 'nowhere1'"),
                          (("--place", "anyhow"), "'anyhow'"),
                          (4 * ("--trace", "job.trace"), "there are 4 ranks and 0 places"),
                          (("--place", "block", "--place", "block"), "2 times for 1 traces"),
                          (("--trace", "job.goal"), "job.goal"), (("--sweep",), "a trace has its own rate")):
        err = simulated(args, folder, *options, expected=2)[0]
        expect(err.count("\n") == 1 and (said is None or said in err), f"one line about {options}", err)


def faulted(args, folder):
    """The same job while parts fail: a switch that its traffic crosses is away for a millisecond, and comes back."""
    placed = ("--mpi.collectives", args.mpi, "--place", "random", "--seed", "7")
    healthy = simulated(args, folder, *placed)[0]["jobs"][0]
    timeout = 4_096_000 * 2**14  # ps: InfiniBand's Local ACK Timeout of 14
    delays = []
    for switch in range(4):
        fault = (*placed, "--fault", f'fail-switch switch "s-1-{switch}" time 30us for 1ms')
        seen, text = simulated(args, folder, *fault)
        expect(simulated(args, folder, *fault)[1] == text, "equal runs with faults are equal to the byte")
        during = seen["faults_during_run"]
        expect(seen["jobs"][0]["ended"] and seen["ending"] == "complete", "connections send again", seen["ending"])
        expect(during["retransmitted"] >= during["lost"]["link_down"], "what was lost was sent again", during["lost"])
        expect((during["timeouts"] > 0) == (during["lost"]["link_down"] > 0), "by a timeout", during["timeouts"])
        delays.append((seen["jobs"][0]["time_ps"] - healthy["time_ps"], during["timeouts"]))
        if during["lost"]["link_down"] == 0:
            continue
        code, out, _ = run([args.holdfast, "simulate", "--fabric", "tree(4,2)", "--engine", "updn", "--trace", "job.trace",
                            *fault, "--unreliable"], folder)
        expect(code == 1 and "came to a halt" in out and "waits for ever for a message" in out,
               "a job whose messages are lost comes to a halt, and says at what", code, out[-1500:])
    expect(any(timeouts for _, timeouts in delays), "one of the switches carries the job's messages", delays)
    for delay, timeouts in delays:
        # The job waits for a timeout and no longer: other routes may make what is left slower or faster by a little.
        expect(abs(delay - min(timeouts, 1) * timeout) < timeout / 50, "it is late by a timeout", delays)


def killed(args, folder):
    """All but the last block is there, and that one where time for it came: more than one is full before the end."""
    rounds = 12_000
    code, _ = record(args, [args.program, rounds, folder, "kill"], folder, ranks=2)
    expect(code != 0, "a job with a killed rank fails")
    check(args, folder, 1)
    seen, _ = totals(args, folder)
    kept = seen["by_rank"][1]["functions"]["MPI_Isend"]["calls"]
    expect(rounds - 32768 / 4 <= kept <= rounds + 1, "all but the last block is kept", kept)


def two_jobs(args, folder):
    """The second is turned away, and the first one's recording is whole."""
    shutil.rmtree(pathlib.Path(folder, "job.trace"))
    words = [args.holdfast, "run", "--mpi", args.mpi, "-n", "2", "--record", "job.trace", "--", args.program, "12000", folder]
    first = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             cwd=folder)
    while first.poll() is None and not pathlib.Path(folder, "job.trace", "rank-000001.rec").exists():
        time.sleep(0.01)
    code, said = record(args, [args.program, 50, folder], folder, ranks=2)
    expect(code == 2 and "another job is recording to it" in said, f"the second job is refused: {code}", said)
    _, err = first.communicate()
    expect(first.returncode == 0, f"the first job ended with {first.returncode}", err)
    check(args, folder)


def limited(args, folder):
    """A limit of file size ends the recording, and not the program by a signal."""
    code, said = record(args, [args.program, 12_000, folder, "limit"], folder, ranks=2)
    expect(code == 5 and "File too large" in said and "has no end" in said, f"the recording ends: {code}", said)


def full_disk(args, folder):
    """A recording that has no room is none, whatever the program said."""
    disk = pathlib.Path(folder, "disk")
    disk.mkdir()
    codes = []
    for kibibytes in (4, 8, 12, 4096):
        mount = f'mount -t tmpfs -o size={kibibytes}k none "$1" && shift && exec "$@"'
        code, out, err = run(["unshare", "-m", "sh", "-c", mount, "sh", str(disk), args.holdfast, "run", "--mpi", args.mpi, "-n",
                              "2", "--record", f"{disk}/job.trace", "--", args.program, "3000", folder], folder)
        codes.append(code)
        told = "has no end" in err or "left a recording" in err
        expect(code == 0 or (code == 5 and told), f"{kibibytes} KiB: {code}", err)
    expect(codes[0] == 5 and codes[-1] == 0, "a full disk is 5", codes)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("mpi", "holdfast", "program", "fortran", "python"):
        parser.add_argument("--" + name, default="")
    args = parser.parse_args()
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as folder:
        without = known_counts(args, folder)
        damaged(args, folder)
        damaged_everywhere(args, folder)
        of_another_version(args, folder)
        converted(args, folder)
        replayed(args, folder)
        faulted(args, folder)
        with_replicas = known_counts(args, folder, ["--replicas", "2"])
        expect(without["by_rank"][0]["sent"] == with_replicas["by_rank"][0]["sent"], "replicas change nothing")
        killed(args, folder)
        two_jobs(args, folder)
        if args.mpi == "openmpi":  # MPICH by UCX may make its shared memory larger at any time
            limited(args, folder)
        if os.geteuid() == 0:  # who may mount a small disk
            full_disk(args, folder)
        if args.fortran:
            code, said = record(args, [args.fortran, "--size", "12"], folder)
            expect(code == 0, f"the Fortran program ended with {code}", said)
            check(args, folder)
            expect(totals(args, folder)[0]["functions"]["MPI_Allreduce"]["calls"] > 0, "Fortran's calls are recorded")
        if args.python:
            program = pathlib.Path(folder, "job.py")
            program.write_text(PYTHON_PROGRAM)
            code, said = record(args, [args.python, program], folder)
            expect(code == 0, f"the Python program ended with {code}", said)
            check(args, folder)
            for own in totals(args, folder)[0]["by_rank"]:
                expect(own["sent"][0]["bytes"] == 240, "ten messages of 24 bytes", own["sent"])


if __name__ == "__main__":
    main()
