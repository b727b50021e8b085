#!/usr/bin/env python3
"""The completions of packaging/completions in the shells themselves. completion_test.py bash|zsh|fish; 77 where that shell
is not installed. Each case is what stands on the command line, and words that must, and must not, be offered."""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMPLETIONS = os.path.join(SOURCE, "packaging/completions")

CASES = [
    ("holdfast ", ["run", "doctor", "fabric", "reference"], ["check"]),
    ("holdfast fab", ["fabric"], ["run"]),
    ("holdfast fabric ch", ["check"], ["compare", "a-folder"]),
    ("holdfast fabric ", ["check", "compare", "diff", "route"], ["doctor"]),
    ("holdfast fabric route --lost", ["--lost-routes"], ["--lanes"]),
    ("holdfast fabric route --lost-routes ", ["links", "switches"], ["a-folder"]),
    ("holdfast fabric check --tab", ["--tables"], []),
    ("holdfast fabric show a-f", ["a-fabric.lst"], []),
    ("holdfast run --replicate.digest ", ["xxh3-128", "xxh3-64", "crc32c"], ["a-fabric.lst"]),
    ("holdfast run --replicate.clocks ", ["on", "off"], []),
    ("holdfast run --hostf", ["--hostfile"], []),
    ("holdfast run --hostfile a-f", ["a-fabric.lst"], []),
    ("holdfast run -n 2 -- ./a-p", ["a-program"], []),
    ("holdfast run -n 2 -- ./a-program --hostf", [], ["--hostfile"]),
]

BASH = """
source "$1"
COMP_LINE=$2
read -ra COMP_WORDS <<< "$2"
[[ $2 != *' ' ]] || COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"); }
_holdfast
printf '%s\\n' "${COMPREPLY[@]}"
"""

# An interactive zsh below this one: what it would show is what compadd is given.
ZSH = """
zmodload zsh/zpty
print -n > $3
zpty shell 'zsh -f -i'
say() { zpty -w shell "$1"; }
say 'PS1=; PS2=; unsetopt zle_bracketed_paste; stty -echo; TERM=dumb'
say 'fpath=('$1' $fpath); autoload -U compinit; compinit -u -D'
say 'zstyle ":completion:*" list-grouped false; zstyle ":completion:*" verbose false; LISTMAX=0'
say 'compadd() {
  case " $* " in (*" -O "*|*" -A "*|*" -D "*) builtin compadd "$@"; return ;; esac
  local -a offered
  builtin compadd -O offered "$@"
  (( ! $#offered )) || print -rl -- "<offered>"$^offered > '$3'.part && cat '$3'.part >> '$3'
  builtin compadd "$@"
}'
say 'bindkey "^I" complete-word; shown() { print -r -- over >> '$3' }; zle -N shown; bindkey "^G" shown'
zpty -w -n shell $2$'\\t\\a'
for try in {1..200}; do
  sleep 0.05
  zpty -r -t shell said 2> /dev/null
  grep -qx over $3 2> /dev/null && break
done
zpty -d shell
sed -n 's/^<offered>//p' $3
"""


def run(command, folder):
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return ended.stdout.splitlines(), ended.stderr


def offered(shell, line, folder):
    if shell == "bash":
        return run(["bash", "--norc", "-c", BASH, "bash", f"{COMPLETIONS}/holdfast.bash", line], folder)
    if shell == "zsh":
        with tempfile.TemporaryDirectory() as answers:
            return run(["zsh", "-f", "-c", ZSH, "zsh", COMPLETIONS, line, f"{answers}/answer"], folder)
    words, said = run(["fish", "--no-config", "-c", f"source {COMPLETIONS}/holdfast.fish; complete -C $argv[1]", line],
                      folder)
    return [word.split("\t")[0] for word in words], said


def main():
    shell = sys.argv[1]
    if shutil.which(shell) is None:
        print(f"{shell} is not installed")
        return 77
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/a-folder")
        for name in ("a-fabric.lst", "a-program"):
            with open(f"{folder}/{name}", "w", encoding="utf-8"):
                os.chmod(f"{folder}/{name}", 0o755)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = pool.map(lambda case: offered(shell, case[0], folder), CASES)
        for (line, present, absent), (words, said) in zip(CASES, answers):
            words = [re.sub(r"^\./|[/ ]$", "", word) for word in words]
            lost = [word for word in present if word not in words]
            extra = [word for word in absent if word in words]
            if lost or extra or said:
                print(f"'{line}': misses {lost}, has besides {extra}, of {words} {said}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
