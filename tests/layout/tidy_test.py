"""Holds a few sources to .clang-tidy, which takes minutes for a folder (tools/tidy), and the tool to what it says."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCES = ["src/replicate/engine/vote.cc", "src/replicate/engine/inbox.cc", "src/replicate/engine/dispute.cc"]
WRONG = """#include <string>
int length(std::string text) {
  if (text.size() == 0) return 0;
  return 1;
}
"""


def run(root, *arguments):
    return subprocess.run([f"{root}/tools/tidy", "--plain", *arguments], capture_output=True, text=True)


def main():
    root = sys.argv[1]
    if not shutil.which("clang-tidy"):
        print("skipped: there is no clang-tidy here")
        return 77
    good = run(root, *(f"{root}/{name}" for name in SOURCES))
    print(good.stdout + good.stderr)
    with tempfile.TemporaryDirectory() as folder:
        wrong = pathlib.Path(folder) / "wrong.cc"
        wrong.write_text(WRONG)
        bad = run(root, str(wrong))
    print(bad.stdout + bad.stderr)
    missing = run(root, f"{root}/no-such-folder")
    found = "performance-unnecessary-value-param" in bad.stdout and "readability-container-size-empty" in bad.stdout
    return 0 if good.returncode == 0 and bad.returncode == 1 and found and missing.returncode == 2 else 1


if __name__ == "__main__":
    sys.exit(main())
