#!/usr/bin/env python3
"""Runs MPI programs of others natively and under `holdfast run`, and holds the answers to each other.

Every program of the list (program_survey.toml, which explains itself) is run natively, with two and with three replicas
without a fault, and with three replicas and one flipped bit. A run is right where it ends with 0 and the answer is the
native one; without a fault, nothing may have been reported either. Programs that are not installed are left out.

Usage: program_survey.py --holdfast PATH [--only WORD]... [--markdown FILE] [--repeat N] [--keep FOLDER]
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib

LIST = pathlib.Path(__file__).with_suffix(".toml")
RUNS = (
    ("two replicas", ["--replicas", "2"]),
    ("three replicas", ["--replicas", "3"]),
    ("three, a flip", ["--replicas", "3", "--inject", "flip rank 1 replica 1 message {flip} bit 5"]),
)


def end(child):
    """A launcher that is asked to end takes its processes with it."""
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def run(words, folder, limit, program):
    """Exit code (None: it had to be killed), standard output and standard error; nothing of it is left running."""
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **program.get("environment", {})}
    with open(folder / "survey.out", "w+b") as out, open(folder / "survey.err", "w+b") as err, \
            open(folder / program.get("input", os.devnull), "rb") as given:
        child = subprocess.Popen(words, stdin=given, stdout=out, stderr=err, start_new_session=True, cwd=folder,
                                 env=environment)
        try:
            code = child.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            end(child)
    text = [(folder / f"survey.{name}").read_text(errors="replace") for name in ("out", "err")]
    return code, *text


def prepare(program, place):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=place))
    for name, text in program.get("files", {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.removeprefix("\n"))
    if "prepare" in program:
        done = subprocess.run(["bash", "-c", program["prepare"]], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, **program.get("environment", {})})
        if done.returncode != 0:
            raise RuntimeError(f"{program['name']}: preparing failed: {done.stderr.strip()[-300:]}")
    return folder


def answer_of(program, folder, out):
    text = out
    if "from" in program:
        path = folder / program["from"]
        text = path.read_text(errors="replace") if path.exists() else ""
    return [match.group(0).rstrip() for match in re.finditer(program["answer"], text)]


def ranks(program):
    return program.get("ranks", 2)


def launcher(program):
    processes = ranks(program)
    if program.get("mpi", "openmpi") == "mpich":
        return ["mpiexec.mpich", "-np", str(processes)]
    return ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-np", str(processes)]


def last_words(err):
    lines = [line for line in err.splitlines() if line.startswith("holdfast: ") and "output of the other" not in line]
    words = lines[-1].removeprefix("holdfast: ") if lines else err.strip()[-200:]
    return words if len(words) <= 160 else words[:160] + " ..."


def replicated(program, options, holdfast, place, native, limit):
    """What the table says of one run: "right", or what went wrong, and whether --same-memory cures it."""
    plain = replicated_once(program, options, holdfast, place, native, limit)
    if plain.startswith("right") or "--same-memory" in program.get("options", []):
        return plain
    cured = replicated_once(program, [*options, "--same-memory"], holdfast, place, native, limit)
    return f"{plain}; with `--same-memory`: {cured}"


def replicated_once(program, options, holdfast, place, native, limit):
    folder = prepare(program, place)
    flip = str(program.get("flip", 40))
    options = [option.replace("{flip}", flip) for option in options] + program.get("options", [])
    mpi = program.get("mpi", "openmpi")
    code, out, err = run([holdfast, "run", "--mpi", mpi, "-n", str(ranks(program)), "--json", "record.json", *options, "--",
                          *program["command"]], folder, limit, program)
    if code is None:
        return "not ended"
    if code != 0:
        return f"{code}: {last_words(err)}"
    answer = answer_of(program, folder, out)
    if answer != native:
        differs = next((f"{a!r} for {b!r}" for a, b in zip(answer, native) if a != b), f"{len(answer)} of {len(native)} lines")
        return f"another answer: {differs}"
    counters = json.loads((folder / "record.json").read_text())["counters"]
    if "--inject" in options:
        if counters["injected"] == 0:
            return "right (no such message)"
        return "right" if counters["corrections"] >= 1 else "right, not corrected"
    return "right" if counters["mismatches"] == 0 else f"{counters['mismatches']} copies differ"


def survey(program, args, place):
    folder = prepare(program, place)
    code, out, err = run([*launcher(program), *program["command"]], folder, args.limit, program)
    native = answer_of(program, folder, out)
    if code != 0 or not native:
        return [f"ends with {code}, {len(native)} lines of an answer: {(err or out).strip()[-200:]!r}"]
    again = prepare(program, place)
    _, out, _ = run([*launcher(program), *program["command"]], again, args.limit, program)
    results = ["right" if answer_of(program, again, out) == native else "two native runs differ"]
    for _, options in RUNS:
        tries = [replicated(program, options, args.holdfast, place, native, args.limit) for _ in range(args.repeat)]
        wrong = [result for result in tries if not result.startswith("right")]
        results.append(f"{len(wrong)} of {len(tries)}: {wrong[0]}" if wrong and args.repeat > 1 else (wrong or tries)[0])
    return results


def installed(program):
    names = program["package"].split()
    return all(subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", name], capture_output=True,
                              text=True).stdout == "installed" for name in names)


def version(program):
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", program["package"].split()[0]], capture_output=True,
                          text=True).stdout


def table(rows):
    lines = ["| program | package | native | two replicas | three replicas | three, a flip |", "|---|---|---|---|---|---|"]
    for program, results in rows:
        options = f" (`{' '.join(program['options'])}`)" if "options" in program else ""
        cells = [program["name"] + options, f"{program['package'].split()[0]} {version(program)}", *results]
        cells += [""] * (6 - len(cells))
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--holdfast", required=True)
    parser.add_argument("--only", action="append", default=[], help="programs whose name has this word")
    parser.add_argument("--markdown", type=pathlib.Path, help="where to write the table")
    parser.add_argument("--repeat", type=int, default=1, help="how often each replicated run is made")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one run")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder in which the runs are left")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("asked to end"))
    args.holdfast = str(pathlib.Path(args.holdfast).resolve())
    programs = tomllib.loads(LIST.read_text())["program"]
    chosen = [p for p in programs if not args.only or any(word.lower() in p["name"].lower() for word in args.only)]
    place = args.keep or pathlib.Path(tempfile.mkdtemp(prefix="holdfast-survey-"))
    place.mkdir(parents=True, exist_ok=True)
    rows = []
    try:
        for program in chosen:
            if not installed(program):
                print(f"{program['name']}: not installed ({program['package']})", flush=True)
                continue
            try:
                results = survey(program, args, place)
            except RuntimeError as error:
                results = [str(error)]
            rows.append((program, results))
            print(f"{program['name']}: {'; '.join(results)}", flush=True)
            if args.markdown:
                args.markdown.write_text(table(rows))
    finally:
        if not args.keep:
            shutil.rmtree(place, ignore_errors=True)
    wrong = [p["name"] for p, results in rows if len(results) < 4 or not all(r.startswith("right") for r in results)]
    if wrong:
        sys.exit(f"not right: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
