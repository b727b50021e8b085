#!/usr/bin/env python3
"""Writes the completions of bash, zsh and fish in packaging/completions from `holdfast reference commands`.

    tools/shell_completions.py --holdfast build/release/bin/holdfast            # writes them
    tools/shell_completions.py --holdfast build/release/bin/holdfast --check    # says which have drifted; exit status 1"""

import argparse
import json
import os
import re
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = {"FILE", "FABRIC", "DATABASE"}  # placeholders that a file may stand for
FOLDERS = {"DIR", "FOLDER"}
GENERATED = "Written by tools/shell_completions.py from `holdfast reference commands`; do not edit."


def commands_of(command, path=()):
    """(path, command) of the command and of all below it; the path without "holdfast"."""
    yield path, command
    for below in command["commands"]:
        yield from commands_of(below, path + (below["name"],))


def flags_of(command):
    return [option for option in command["options"] if "names" in option]


def positionals_of(command):
    return [option for option in command["options"] if "positional" in option]


def choices_of(option):
    return option.get("choices") or (["on", "off"] if option.get("value") == "BOOLEAN" else [])


def kind(option):
    """none (a switch), choices, folder, file or other: what can be completed behind the option."""
    if "value" not in option:
        return "none"
    if choices_of(option):
        return "choices"
    value = option["value"].upper()
    return "folder" if value in FOLDERS else "file" if value in FILES else "other"


def first_sentence(text):
    """Of a help text; a default stays with it."""
    return re.split(r"\.\s(?!Default)", text, maxsplit=1)[0].rstrip(".")


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


# --- bash

BASH = """\
# bash completion of holdfast(1). %(generated)s

# The commands and flags below a command, in $commands and $flags.
_holdfast_words() {
  case $1 in
%(words)s
  esac
}

# What follows a flag of a command, in $value: a list, or FILE, FOLDER or OTHER; empty for a switch.
_holdfast_value() {
  case "$1 $2" in
%(values)s
  esac
}

_holdfast() {
  local word=${COMP_WORDS[COMP_CWORD]} path=holdfast commands flags value at before
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; ++at)); do
    before=${COMP_WORDS[at]}
    if [[ $before == -- ]]; then  # the program and its arguments
      compopt -o default 2> /dev/null
      return
    fi
    commands='' flags=''
    _holdfast_words "$path"
    [[ " $commands " != *" $before "* ]] || path+=" $before"
  done
  commands='' flags='' value=''
  _holdfast_words "$path"
  _holdfast_value "$path" "${COMP_WORDS[COMP_CWORD - 1]}"
  case $value in
    OTHER) return ;;
    FILE) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    FOLDER) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    '')
      if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
      elif [[ -n $commands ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$value" -- "$word") ;;
  esac
}
complete -o filenames -F _holdfast holdfast
"""


def bash(table):
    words, values = [], []
    for path, command in commands_of(table):
        name = " ".join(("holdfast",) + path)
        below = " ".join(sub["name"] for sub in command["commands"])
        flags = " ".join(word for option in flags_of(command) for word in option["names"])
        words.append(f"    {quoted(name)})\n      commands={quoted(below)}\n      flags={quoted(flags)}\n      ;;")
        for option in flags_of(command):
            if kind(option) != "none":
                patterns = " | ".join(quoted(f"{name} {word}") for word in option["names"])
                value = " ".join(choices_of(option)) if kind(option) == "choices" else kind(option).upper()
                values.append(f"    {patterns}) value={quoted(value)} ;;")
    return BASH % {"generated": GENERATED, "words": "\n".join(words), "values": "\n".join(values)}


# --- zsh

def zsh_text(text):
    text = first_sentence(text)
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh_action(option):
    name = zsh_text(option.get("value") or option.get("positional", "word"))
    action = {"none": "", "choices": f"({' '.join(choices_of(option))})", "folder": "_files -/", "file": "_files",
              "other": "( )" if "names" in option else "_files"}[kind(option)]
    return f":{name}:{action}" if action else ""


def zsh_option(option):
    names = option["names"]
    again = "*" if option.get("repeats") else ""
    apart = "" if again else "(" + " ".join(names) + ")"
    return [quoted(f"{again or apart}{name}[{zsh_text(option['doc'])}]{zsh_action(option)}") for name in names]


def zsh_function(path, command):
    lines = [f"_holdfast{''.join('_' + word for word in path)}() {{"]
    arguments = [row for option in flags_of(command) for row in zsh_option(option)]
    if command["commands"]:
        arguments += ["'1:command:->command'", "'*::argument:->argument'"]
    elif path == ("run",):
        arguments += ["'(-):program:_command_names -e'", "'*::argument:_normal'"]
    else:
        arguments += [quoted(("*" if option.get("repeats") else "") + (zsh_action(option) or ":word:_files"))
                      for option in positionals_of(command)]
    lines.append("  local curcontext=$curcontext state line")
    lines.append("  _arguments -s -S -C \\\n    " + " \\\n    ".join(arguments))
    if command["commands"]:
        rows = " ".join(quoted(f"{below['name']}:{zsh_text(below['doc'])}") for below in command["commands"])
        lines += ["  case $state in", f"    command) local -a commands=({rows}); _describe command commands ;;",
                  f"    argument) (( $+functions[_holdfast{''.join('_' + word for word in path)}_$line[1]] )) &&",
                  f"      _holdfast{''.join('_' + word for word in path)}_$line[1] ;;", "  esac"]
    return "\n".join(lines + ["}"])


def zsh(table):
    functions = [zsh_function(path, command) for path, command in commands_of(table)]
    return f"#compdef holdfast\n# {GENERATED}\n\n" + "\n\n".join(functions) + '\n\n_holdfast "$@"\n'


# --- fish

FISH = """\
# fish completion of holdfast(1). %(generated)s

# Whether the command line has reached this command and no command below it; "program" behind --.
function __holdfast_at
    set -l known %(known)s
    set -l path holdfast
    for word in (commandline --tokenize --cut-at-cursor --current-process)[2..]
        if test "$word" = --
            set path program
            break
        else if contains -- "$path $word" $known
            set path "$path $word"
        end
    end
    test "$path" = "$argv"
end

complete --command holdfast --condition '__holdfast_at program' --force-files
"""


def fish_option(condition, option):
    words = [f"complete --command holdfast --condition {condition}"]
    for name in option["names"]:
        words.append(f"--long-option {name[2:]}" if name.startswith("--") else f"--short-option {name[1:]}")
    words += {"none": [], "other": ["--exclusive"], "file": ["--require-parameter", "--force-files"],
              "folder": ["--exclusive", "--arguments '(__fish_complete_directories)'"],
              "choices": ["--exclusive", f"--arguments {quoted(' '.join(choices_of(option)))}"]}[kind(option)]
    doc = first_sentence(option["doc"]).replace("\\", "\\\\").replace("'", "\\'")
    return " ".join(words + [f"--description '{doc}'"])


def fish(table):
    known = " ".join(quoted(" ".join(("holdfast",) + path)) for path, _ in commands_of(table) if path)
    lines = []
    for path, command in commands_of(table):
        condition = quoted(" ".join(("__holdfast_at holdfast",) + path))
        for below in command["commands"]:
            doc = below["doc"].replace("\\", "\\\\").replace("'", "\\'")
            lines.append(f"complete --command holdfast --condition {condition} --no-files --arguments {below['name']} "
                         f"--description '{doc}'")
        lines += [fish_option(condition, option) for option in flags_of(command)]
    return FISH % {"generated": GENERATED, "known": known} + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--holdfast", required=True, help="the program")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    told = subprocess.run([arguments.holdfast, "reference", "commands"], stdout=subprocess.PIPE, text=True, check=True)
    table = json.loads(told.stdout)
    drifted = []
    for name, write in {"holdfast.bash": bash, "_holdfast": zsh, "holdfast.fish": fish}.items():
        path = os.path.join(SOURCE, "packaging/completions", name)
        text = write(table)
        if not arguments.check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            continue
        with open(path, encoding="utf-8") as file:
            if file.read() != text:
                drifted.append(name)
    for name in drifted:
        print(f"packaging/completions/{name} has drifted: tools/shell_completions.py --holdfast PROGRAM writes it again")
    return 1 if drifted else 0


if __name__ == "__main__":
    sys.exit(main())
