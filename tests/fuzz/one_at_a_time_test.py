#!/usr/bin/env python3
"""Two runs of tools/fuzz in one checkout: the second one is turned away, and the first one's corpus stays as it is.

The checkout is a folder of the test's with the tool and one fuzzer in it, a program that keeps to what the tool asks of
libFuzzer: it ends at SIGUSR1, and merges corpora.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FUZZER = """#!/usr/bin/env python3
import pathlib, signal, sys
folders = [word for word in sys.argv[1:] if not word.startswith("-")]
if "-merge=1" in sys.argv:
    for path in [path for folder in folders[1:] for path in pathlib.Path(folder).iterdir()]:
        pathlib.Path(folders[0], path.name).write_bytes(path.read_bytes())
    sys.exit(0)
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
    pathlib.Path(folder, "src", "still_fuzz.cc").touch()
    pathlib.Path(folder, "docs/results/sanitizers.md").write_text(PAGE)
    program = pathlib.Path(folder, "build/fuzz/bin/still_fuzz")
    program.write_text(FUZZER)
    program.chmod(0o755)
    pathlib.Path(folder, "tests/corpora/still_fuzz", "a" * 40).write_text("kept")


def fuzz(folder, seconds):
    return subprocess.Popen([sys.executable, f"{folder}/tools/fuzz", "--built", "--seconds", str(seconds), "still_fuzz"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def begun(folder):
    log = pathlib.Path(folder, "build/fuzz/findings/still_fuzz.log")
    return log.exists() and "begun" in log.read_text()


def turned_away(folder, holder):
    second = fuzz(folder, 1)
    out, err = second.communicate(timeout=60)
    expect(second.returncode == 3, f"the second run ends with 3, not {second.returncode}", out, err)
    expect(err.count("\n") == 1 and f"process {holder}, still_fuzz, since " in err, "one line says who has the lock", err)
    expect(pathlib.Path(folder, "tests/corpora/still_fuzz", "a" * 40).exists(), "the corpus stays")


def main():
    tool = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as folder:
        checkout(folder, tool)
        first = fuzz(folder, 1000)
        wait_until(lambda: begun(folder), "the first run's fuzzer")
        fuzzer = int(pathlib.Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text())
        try:
            turned_away(folder, fuzzer)
            first.kill()
            first.wait()
            turned_away(folder, fuzzer)  # it goes on without its tools/fuzz
        finally:
            first.kill()
            os.kill(fuzzer, signal.SIGUSR1)
        wait_until(lambda: not pathlib.Path(f"/proc/{fuzzer}/exe").exists(), "the end of the fuzzer")
        third = fuzz(folder, 1)
        out, err = third.communicate(timeout=60)
        expect(third.returncode == 0 and "| `still_fuzz` | 7 |" in out, "who comes after it runs", out, err)
        expect("still_fuzz" in pathlib.Path(folder, "docs/results/sanitizers.md").read_text(), "the table is written")


if __name__ == "__main__":
    main()
