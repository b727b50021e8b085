#!/usr/bin/env python3
"""Runs an example natively and under replication, and holds the two to each other.

Every case starts real MPI processes. What a replicated run must do depends on the flips that are injected into it:
  none        the same output as the native run, and nothing reported
  degree 2    a flip that reached a message is detected: exit code 3
  degree 3    the same output as the native run, with at least one correction and no mismatch left over
  partial     the same, where each rank has a degree of its own; a copy that is outvoted need not be replaced where
              nobody was given it
A flip in a control message (corrupt-header) is put right; nothing is taken for a mismatch.
"""
import argparse
import fractions
import hashlib
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time


def epoch(ahead, day_ahead):
    """The clocks of a launcher whose host was started so many seconds earlier and has a time of day so many seconds later
    (replicate/process/standing_clocks.h)."""
    since_start = [time.clock_gettime_ns(clock) + ahead * 10**9
                   for clock in (time.CLOCK_MONOTONIC, time.CLOCK_MONOTONIC_RAW, time.CLOCK_BOOTTIME)]
    ticks = int((os.times().elapsed + ahead) * os.sysconf("SC_CLK_TCK"))
    return ":".join(map(str, [time.time_ns() + day_ahead * 10**9, *since_start, ticks]))


def command(args, processes, environment, program):
    root = os.geteuid() == 0
    if args.mpi == "openmpi":
        line = ["mpirun.openmpi"] + (["--allow-run-as-root"] if root else [])
        line += ["--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", str(processes)]
        for name, value in environment.items():
            line += ["-x", f"{name}={value}"]
    else:
        line = ["mpiexec.mpich", "-np", str(processes)]
        for name, value in environment.items():
            line += ["-genv", name, value]
    return line + program


def end(child):
    """A launcher that is asked to end takes its processes with it."""
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def run(line, limit, directory):
    """Runs it in its own process group; nothing of it is left when this returns, and the kernel asks it to end where this
    program is killed."""
    child = subprocess.Popen(["setpriv", "--pdeathsig", "TERM"] + line, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                             cwd=directory)
    try:
        out, err = child.communicate(timeout=limit)
        return child.returncode, out, err
    except subprocess.TimeoutExpired:
        sys.exit(f"FAILED: still running after {limit} s: {' '.join(line)}")
    finally:
        end(child)


def expect(condition, what, detail=""):
    if not condition:
        sys.exit(f"FAILED: {what}\n{detail}")


def degrees_of(text, ranks):
    """How many processes play each rank: "2.5" is for every second rank a third, "1,3:0,2:4-7" names ranks."""
    base, *named = text.split(",")
    share = fractions.Fraction(base)
    whole = int(share)
    degrees = [whole + math.ceil((rank + 1) * (share - whole)) - math.ceil(rank * (share - whole))
               for rank in range(ranks)]
    for item in named:
        degree, _, places = item.partition(":")
        first, _, last = places.partition("-")
        for rank in range(int(first), int(last or first) + 1):
            degrees[rank] = int(degree)
    return degrees


def native_key(args):
    """Names what a native run's output depends on: its words, the files among them as they are now, and the MPI."""
    mpi = shutil.which("mpirun.openmpi" if args.mpi == "openmpi" else "mpiexec.mpich")
    stamps = [(os.stat(word).st_mtime_ns, os.stat(word).st_size) for word in [mpi, *args.program] if os.path.isfile(word)]
    whole = repr((args.mpi, args.ranks, args.environment, args.program, stamps))
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


def native(args, settings, directory):
    """What the program prints without replication. Three cases in four have a program and arguments that another has, too,
    so it is kept in the build folder and each is run natively once a build."""
    kept = pathlib.Path(args.library).resolve().parents[1] / "native-output" / native_key(args)
    if kept.is_file():
        return kept.read_text()
    code, out, err = run(command(args, args.ranks, settings, args.program), args.limit, directory)
    expect(code == 0, f"the native run ended with {code}", err)
    kept.parent.mkdir(exist_ok=True)
    part = kept.with_suffix(f".{os.getpid()}")
    part.write_text(out)
    part.rename(kept)
    return out


def replicated(args, degrees, settings, silence, directory):
    """Runs the program in replicas; its exit code, output, standard error and incidents."""
    environment = {
        **settings,
        "LD_PRELOAD": " ".join(filter(None, [args.library, args.also_preload])),
        "HOLDFAST_REPLICATE_DEGREE": args.degree,
        "HOLDFAST_REPLICATE_PROTOCOL": args.protocol,
        "HOLDFAST_REPLICATE_COLLECTIVES": args.collectives,
        "HOLDFAST_REPLICATE_SILENCE_LIMIT": silence,
        "HOLDFAST_RUN_RANKS": str(args.ranks),
        "HOLDFAST_RUN_EPOCH": epoch(args.launcher_ahead, args.launcher_day_ahead),
        "HOLDFAST_RUN_ENTROPY": str(time.time_ns() % 2**64),
        "HOLDFAST_RUN_CLEAR_BLOCKS": "1",
        "HOLDFAST_RUN_IDENTITY": str(time.time_ns() % 2**64),
        "HOLDFAST_RUN_PROGRAM": os.path.realpath(args.program[0]),
        "HOLDFAST_RUN_DIRECTORY": str(directory),
        "HOLDFAST_TEST_REPLICAS": ",".join(str(replica) for replica in range(max(degrees))
                                           for degree in degrees if replica < degree),
    }
    if args.same_thread_order:
        environment["HOLDFAST_REPLICATE_SAME_THREAD_ORDER"] = "on"
    if args.inject:
        environment["HOLDFAST_REPLICATE_INJECT"] = args.inject
    code, out, err = run(command(args, sum(degrees), environment, args.program), args.limit, directory)
    return code, out, err, [json.loads(f.read_text()) for f in directory.glob("incident-*.json")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], required=True)
    parser.add_argument("--library", required=True, help="the preloaded library")
    parser.add_argument("--also-preload", default="", help="a library loaded behind it")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--degree", required=True, help="replicas, as holdfast run --replicas takes them")
    parser.add_argument("--protocol", default="msg-plus-hash")
    parser.add_argument("--collectives", default="native")
    parser.add_argument("--inject", default="", help="faults, as in docs/spec/faults.md")
    parser.add_argument("--same-thread-order", action="store_true", help="let threads call MPI in one order everywhere")
    parser.add_argument("--deviates", action="store_true", help="the program itself sends wrong data in some replica")
    parser.add_argument("--silence", default="45s",
                        help="how long one replica may lag behind another; of several with ',' between them each is tried in "
                             "turn while the job ends as diverged, which on a busy machine says no more than that it was "
                             "too short")
    parser.add_argument("--environment", default="", help="NAME=VALUE, for both runs")
    parser.add_argument("--launcher-ahead", type=int, default=0,
                        help="seconds by which the monotonic clock of the launcher's host is ahead of this one's")
    parser.add_argument("--launcher-day-ahead", type=int, default=0,
                        help="seconds by which the time of day of the launcher's host is ahead of this one's")
    parser.add_argument("--limit", type=float, default=120)
    parser.add_argument("--outcome", choices=["same", "detected", "diverged", "refused", "bad-input"], default="same")
    parser.add_argument("--says", default="", help="what an incident must say, where the outcome is not the same")
    parser.add_argument("--right", default="", help="the line that the program prints, where the MPI alone does not come to "
                        "its end each time: it is not run natively")
    parser.add_argument("program", nargs="+")
    args = parser.parse_args()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit("FAILED: asked to end"))
    degrees = degrees_of(args.degree, args.ranks)
    partial = min(degrees) != max(degrees)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="holdfast-test-"))
    try:
        settings = dict([args.environment.split("=", 1)] if args.environment else [])
        right = args.right + "\n" if args.right else native(args, settings, directory)
        wanted = {"same": 0, "detected": 3, "diverged": 4, "refused": 6, "bad-input": 2}[args.outcome]
        for number, silence in enumerate(args.silence.split(",")):
            place = directory / str(number)
            place.mkdir()
            code, out, err, incidents = replicated(args, degrees, settings, silence, place)
            if code != 4 or wanted == 4:
                break
        reasons = "".join(f"{incident['kind']}: {incident['message']}\n" for incident in incidents)
        expect(code == wanted, f"the replicated run ended with {code}, not {wanted}", reasons + out + err)
        if args.outcome != "same":
            kinds = {incident["kind"] for incident in incidents}
            names = {"detected": "uncorrected", "diverged": "diverged", "refused": "refused",
                     "bad-input": "bad_input"}
            expect(names[args.outcome] in kinds, f"incidents are {kinds}", err)
            expect(args.says in reasons, f"no incident says '{args.says}'", reasons)
            return
        expect(out == right, "the output differs from the native run's", f"native:\n{right}\nreplicated:\n{out}")
        counters = json.loads((place / "record.json").read_text())["counters"]
        expect(counters["messages"] + counters["collectives"] > 0, "nothing was verified", str(counters))
        expect(partial and min(degrees) == 1 or counters["unverified"] == 0, "something was not verified", str(counters))
        expect(bool(args.inject) == (counters["injected"] > 0), "flips and the injector's count disagree", str(counters))
        kinds = {fault.split()[0] for fault in args.inject.split(";") if fault.strip()}
        if "corrupt-header" in kinds:
            expect(1 <= counters["records_repaired"] <= counters["injected"], "no control message was repaired", str(counters))
        else:
            expect(counters["records_repaired"] == 0, "control messages were damaged without a fault", str(counters))
        if kinds - {"corrupt-header"} or args.deviates:
            settled = counters["corrections"] == counters["mismatches"] >= 1
            outvoted = partial and counters["mismatches"] >= max(counters["corrections"], 1)
            expect(settled or outvoted, "a flip was not corrected", str(counters))
        else:
            expect(counters["mismatches"] == 0, "copies differ without a fault", str(counters))
        left = {name: counters[name] for name in counters if name.endswith("_left")}
        expect(len(left) == 5 and not any(left.values()), "something was left over at MPI_Finalize", str(left))
        print(json.dumps(counters))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
