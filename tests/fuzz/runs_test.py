#!/usr/bin/env python3
"""Two runs of tools/fuzz in one checkout: the second one is turned away, and the first one's corpus stays as it is.
Fuzzers side by side, until each has had its time, and a run that is ended early: what they did is added up. An input
that took long by the clock is a finding only if it takes long by itself, and one that an implicit conversion changes
a value of is one.

The checkout is a folder of the test's with the tool and two fuzzers in it, programs that keep to what the tool asks of
libFuzzer: they end at SIGUSR1, and merge corpora.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FUZZER = """#!/usr/bin/env python3
import os, pathlib, signal, sys
folders = [word for word in sys.argv[1:] if not word.startswith("-")]
if pathlib.Path(folders[-1]).is_file():
    sys.exit(1 if "slow" in pathlib.Path(folders[-1]).read_text() else 0)
if "-merge=1" in sys.argv:
    for path in [path for folder in folders[1:] for path in pathlib.Path(folder).iterdir()]:
        pathlib.Path(folders[0], path.name).write_bytes(path.read_bytes())
    sys.exit(0)
for path in pathlib.Path(folders[-1]).glob("times-out-*"):
    prefix, = [word.partition("=")[2] for word in sys.argv if word.startswith("-artifact_prefix=")]
    path.rename(f"{prefix}timeout-{path.name}")
    print("stat::number_of_executed_units: 100", flush=True)
    sys.exit(70)
if list(pathlib.Path(folders[-1]).glob("converts-*")):
    print("runtime error: implicit conversion", flush=True)
    if "halt_on_error=1" in os.environ.get("UBSAN_OPTIONS", ""):
        sys.exit(1)
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(print("stat::number_of_executed_units: 7", flush=True)))
print("begun", flush=True)
while True:
    sum(range(1000))
"""
PAGE = "<!-- table of tools/fuzz -->\n<!-- end of the table -->\n"


def expect(condition, what, *detail):
    if not condition:
        sys.exit("\n".join(["FAILED: " + what, *map(str, detail)]))


def wait_until(condition, what):
    end = time.monotonic() + 60
    while not condition():
        expect(time.monotonic() < end, f"{what}: not within 60 s")
        time.sleep(0.02)


def checkout(folder, tool):
    for name in ("tools", "src", "build/fuzz/bin", "tests/corpora/still_fuzz", "docs/results"):
        pathlib.Path(folder, name).mkdir(parents=True)
    shutil.copy(tool, pathlib.Path(folder, "tools", "fuzz"))
    for name in ("still_fuzz", "other_fuzz"):
        pathlib.Path(folder, "src", f"{name}.cc").touch()
        program = pathlib.Path(folder, "build/fuzz/bin", name)
        program.write_text(FUZZER)
        program.chmod(0o755)
    pathlib.Path(folder, "docs/results/sanitizers.md").write_text(PAGE)
    pathlib.Path(folder, "tests/corpora/still_fuzz", "a" * 40).write_text("kept")


def fuzz(folder, *words):
    return subprocess.Popen([sys.executable, f"{folder}/tools/fuzz", "--built", *words], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def begun(folder, name="still_fuzz"):
    log = pathlib.Path(folder, f"build/fuzz/findings/{name}.log")
    return log.exists() and "begun" in log.read_text()


def children(process):
    """Of all threads of the process."""
    return [int(pid) for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir()
            for pid in (task / "children").read_text().split()]


def inputs(folder):
    ledger = json.loads(pathlib.Path(folder, "docs/results/fuzzing.json").read_text())
    return {name: row["inputs"] for name, row in ledger.items()}


def turned_away(folder, holder):
    second = fuzz(folder, "--seconds", "1", "still_fuzz")
    out, err = second.communicate(timeout=60)
    expect(second.returncode == 3, f"the second run ends with 3, not {second.returncode}", out, err)
    expect(err.count("\n") == 1 and f"process {holder}, still_fuzz, since " in err, "one line says who has the lock", err)
    expect(pathlib.Path(folder, "tests/corpora/still_fuzz", "a" * 40).exists(), "the corpus stays")


def one_at_a_time(folder):
    first = fuzz(folder, "--seconds", "1000", "still_fuzz")
    wait_until(lambda: begun(folder), "the first run's fuzzer")
    fuzzer, = children(first)
    try:
        turned_away(folder, fuzzer)
        first.kill()
        first.wait()
        turned_away(folder, fuzzer)  # it goes on without its tools/fuzz
    finally:
        first.kill()
        os.kill(fuzzer, signal.SIGUSR1)
    wait_until(lambda: not pathlib.Path(f"/proc/{fuzzer}/exe").exists(), "the end of the fuzzer")
    third = fuzz(folder, "--seconds", "1", "still_fuzz")
    out, err = third.communicate(timeout=60)
    expect(third.returncode == 0 and "| `still_fuzz` | 7 |" in out, "who comes after it runs", out, err)
    expect("still_fuzz" in pathlib.Path(folder, "docs/results/sanitizers.md").read_text(), "the table is written")


def until_its_time_in_parts(folder):
    """After one_at_a_time(), in which still_fuzz had a second of CPU time at least."""
    enough = fuzz(folder, "--until", "0.01", "still_fuzz")
    expect(enough.wait(60) == 0 and inputs(folder) == {"still_fuzz": 7}, "it has had its time", inputs(folder))
    shutil.rmtree(pathlib.Path(folder, "build/fuzz/findings"))
    more = fuzz(folder, "--until", "1000", "--jobs", "2")
    for name in ("still_fuzz", "other_fuzz"):
        wait_until(lambda name=name: begun(folder, name), f"{name}, beside the other")
    expect(len(children(more)) == 2, "both run", children(more))
    more.send_signal(signal.SIGTERM)
    out, err = more.communicate(timeout=60)
    expect(more.returncode == 0 and inputs(folder) == {"still_fuzz": 14, "other_fuzz": 7}, "what both did is added up",
           inputs(folder), out, err)


def slow_by_the_clock(folder):
    """After until_its_time_in_parts()."""
    corpus, findings = (pathlib.Path(folder, part, "other_fuzz") for part in ("tests/corpora", "build/fuzz/findings"))
    (corpus / "times-out-1").write_text("without a core for long")
    out, err = (run := fuzz(folder, "--seconds", "1", "other_fuzz")).communicate(timeout=60)
    expect(run.returncode == 0 and "other_fuzz: clean" in out and inputs(folder)["other_fuzz"] == 7 + 100 + 7,
           "an input that is not slow by itself is none, and the fuzzer goes on", inputs(folder), out, err)
    expect(not list(findings.glob("timeout-*")), "nothing is kept of it")
    (corpus / "times-out-2").write_text("slow")
    out, err = (run := fuzz(folder, "--seconds", "1", "other_fuzz")).communicate(timeout=60)
    expect(run.returncode == 1 and "other_fuzz: FOUND" in out and len(list(findings.glob("timeout-*"))) == 1,
           "one that is slow is a finding", out, err)


def changed_by_a_conversion(folder):
    """After slow_by_the_clock(). clang's checks of conversions are reports that a program survives by itself."""
    corpus = pathlib.Path(folder, "tests/corpora/still_fuzz")
    (corpus / "converts-1").write_text("a value that its type does not hold")
    out, err = (run := fuzz(folder, "--seconds", "1", "still_fuzz")).communicate(timeout=60)
    expect(run.returncode == 1 and "still_fuzz: FOUND" in out, "a value changed by a conversion is a finding", out, err)


def end_all(folder):
    """Fuzzers outlive a tools/fuzz that was killed, and so a test that failed."""
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if folder in path.read_text(errors="replace"):
                os.kill(int(path.parent.name), signal.SIGKILL)
        except OSError:
            pass  # gone meanwhile


def main():
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as folder:
        checkout(folder, sys.argv[1])
        try:
            one_at_a_time(folder)
            until_its_time_in_parts(folder)
            slow_by_the_clock(folder)
            changed_by_a_conversion(folder)
        finally:
            end_all(folder)


if __name__ == "__main__":
    main()
