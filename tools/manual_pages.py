#!/usr/bin/env python3
"""Writes the manual pages of docs/man with pandoc: holdfast(1) and a page for each command from `holdfast reference
commands`, holdfast.conf(5) from the option rows, and a page for each document of docs/spec and for the provider.

    tools/manual_pages.py --holdfast build/release/bin/holdfast            # writes them
    tools/manual_pages.py --holdfast build/release/bin/holdfast --check    # says which have drifted; exit status 1

Needs pandoc, and groff for --check: versions of pandoc write the same page with different macros, so that what is compared
is what a reader sees. A page that groff warns about has failed too."""

import argparse
import concurrent.futures
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MANUALS = {1: "User Commands", 5: "File Formats", 7: "Miscellaneous"}

# document -> page, section, what it is; every document of docs/spec has a row
DOCUMENTS = {
    "docs/spec/faults.md": ("holdfast-faults", 5, "what goes wrong, where and when"),
    "docs/spec/fabric-formats.md": ("holdfast-fabric", 5, "notation and files of InfiniBand networks"),
    "docs/spec/trace.md": ("holdfast-trace", 5, "traces of communication"),
    "docs/spec/recorded-trace.md": ("holdfast-recorded-trace", 5, "recorded runs of MPI programs"),
    "docs/spec/study.md": ("holdfast-study", 5, "study files and their databases"),
    "docs/spec/failure-log.md": ("holdfast-failure-log", 5, "logs of failed and repaired parts"),
    "docs/spec/machine.md": ("holdfast-machine", 5, "machine descriptions for holdfast plan"),
    "docs/spec/plan.md": ("holdfast-plan", 5, "the record of a plan"),
    "docs/spec/regression.md": ("holdfast-regression", 5, "throughput of routing engines against failures"),
    "docs/spec/wire.md": ("holdfast-wire", 7, "packets of the holdfast transport"),
    "docs/reference/provider.md": ("fi_holdfast", 7, "the holdfast libfabric provider"),
}
PAGE_OF = {**DOCUMENTS, "docs/reference/options.md": ("holdfast.conf", 5, "options of holdfast"),
           "docs/reference/exit-codes.md": ("holdfast", 1, "")}
FIRST = {"run": ["holdfast-faults(5)", "mpirun(1)", "mpiexec(1)", "srun(1)"], "fault": ["holdfast-faults(5)"],
         "fabric": ["holdfast-fabric(5)", "holdfast-faults(5)", "holdfast-failure-log(5)", "opensm(8)", "ibnetdiscover(8)"],
         "simulate": ["holdfast-fabric(5)", "holdfast-trace(5)", "holdfast-faults(5)"],
         "trace": ["holdfast-recorded-trace(5)", "holdfast-trace(5)"],
         "plan": ["holdfast-machine(5)", "holdfast-plan(5)", "holdfast-regression(5)"],
         "study": ["holdfast-study(5)", "holdfast-fabric(5)"], "collective": ["holdfast-study(5)", "holdfast-fabric(5)"]}


def literal(text):
    """Text in which no punctuation means anything to pandoc."""
    return re.sub(r"([^\w\s])", r"\\\1", text, flags=re.ASCII)


def bold_reference(page):
    name, section = page[:-1].split("(")
    return f"**{literal(name)}**({section})"


def first_sentence(doc):
    return doc[:1].lower() + doc[1:].rstrip(".") if not doc.startswith("InfiniBand") else doc


def option_entry(option):
    value = option.get("value", "")
    if option.get("choices"):
        value = "|".join(option["choices"])
    shown = f" *{literal(value)}*" if value else ""
    if "positional" in option:
        term = f"*{literal(option.get('value') or option['positional'])}*"
    else:
        term = ", ".join(f"**{literal(name)}**" for name in option["names"]) + shown
    notes = [text for text in ("needed" if option.get("required") else "", option.get("bounds", ""),
                               "may be given again" if option.get("repeats") else "") if text]
    doc = option["doc"] + (f" ({', '.join(notes)})" if notes else "")
    return f"{term}\n:   {literal(doc)}\n\n"


def options_text(options):
    text = ""
    group = None
    for option in options:
        if option.get("group") != group and option.get("group"):
            text += literal(option["group"]) + ":\n\n"
        group = option.get("group")
        text += option_entry(option)
    return text


def footer_text(footer):
    """Paragraphs; lines that are indented stay as they are. The exit codes stand in holdfast(1) once."""
    text = ""
    for paragraph in footer.split("Exit codes:\n  0 ")[0].strip("\n").split("\n\n"):
        lines = paragraph.split("\n")
        shown = [line for line in lines if not line.startswith("  ")]
        kept = lines[len(shown):] if lines[:len(shown)] == shown else None
        if kept is None:  # indented lines between others: all of it as it is
            text += "".join(f"    {line}\n" for line in lines) + "\n"
            continue
        text += literal("\n".join(shown)) + "\n\n"
        text += "".join(f"    {line[2:]}\n" for line in kept) + "\n"
    return text


def usage(command, path):
    words = [f"**{literal(path)}**"]
    options = [option for option in command["options"] if "names" in option]
    words += [f"**{literal(option['names'][-1])}** *{literal(option.get('value', ''))}*"
              for option in options if option.get("required")]
    words.append("[*options*]")
    for option in command["options"]:
        if "positional" in option:
            word = f"*{literal(option.get('value') or option['positional'])}*" + ("..." if option.get("repeats") else "")
            words.append(word if option.get("required") else f"[{word}]")
    if command["commands"]:
        words.append("*command*")
    if path == "holdfast run":
        words.append("\\-\\- *program* [*arguments*]")
    return " ".join(words)


def leaves(command, path):
    if not command["commands"]:
        return [(command, path)]
    return [leaf for below in command["commands"] for leaf in leaves(below, f"{path} {below['name']}")]


def own_options(command):
    return [option for option in command["options"] if option.get("names", [""])[-1] != "--help"]


def see_also(pages):
    return "# SEE ALSO\n\n" + ", ".join(bold_reference(page) for page in pages) + "\n"


def command_page(command):
    """A page for a command, with a section for each command below it."""
    path = f"holdfast {command['name']}"
    text = f"# NAME\n\n{literal('holdfast-' + command['name'])} - {literal(first_sentence(command['doc']))}\n\n# SYNOPSIS\n\n"
    text += "".join(f"{usage(leaf, name)}\n\n" for leaf, name in leaves(command, path))
    text += f"# DESCRIPTION\n\n{literal(command['doc'])}.\n\n"
    if own_options(command):
        text += "# OPTIONS\n\n" + options_text(own_options(command))
    if command["commands"]:
        text += "# COMMANDS\n\n"
        for leaf, name in leaves(command, path):
            text += f"## {literal(name)}\n\n{literal(leaf['doc'])}.\n\n" + options_text(own_options(leaf))
            text += footer_text(leaf.get("footer", ""))
    if footer_text(command.get("footer", "")).strip():
        text += "# NOTES\n\n" + footer_text(command["footer"])
    text += "# EXIT STATUS\n\nThat of every command: see **holdfast**(1).\n\n"
    return text + see_also(["holdfast(1)", "holdfast.conf(5)"] + FIRST.get(command["name"], []))


def exit_status(document):
    text = ""
    for line in document.split("\n"):
        if re.match(r"\| \d", line):
            code, name, meaning = [cell.strip() for cell in re.split(r"(?<!\\) \| ", line.strip("| "), maxsplit=2)]
            text += f"{code}\n:   {name[:1].upper()}{name[1:]}. {meaning}\n\n"
    return text


def main_page(table):
    text = f"# NAME\n\nholdfast - {literal(first_sentence(table['doc']))}\n\n# SYNOPSIS\n\n"
    text += "**holdfast** *command* [*options*]\n\n# DESCRIPTION\n\n" + literal(table["doc"]) + "\n\n"
    text += options_text(own_options(table)) + "# COMMANDS\n\n"
    for command in table["commands"]:
        text += f"**holdfast\\-{command['name']}**(1)\n:   {literal(command['doc'])}.\n\n"
    text += footer_text(table.get("footer", "")) + "# EXIT STATUS\n\n" + exit_status(read("docs/reference/exit-codes.md"))
    return text + see_also([f"holdfast-{command['name']}(1)" for command in table["commands"]] +
                           [f"{page}({section})" for page, section, _ in PAGE_OF.values() if page != "holdfast"])


def refer(text, here):
    """Links between documents become references to pages; other links their text."""
    def page(target):
        row = PAGE_OF.get(target.split("#")[0])
        return bold_reference(f"{row[0]}({row[1]})") if row else None

    def link(match):
        target = os.path.normpath(os.path.join(os.path.dirname(here), match[2]))
        return page(target) or match[1]

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"\[([^\]]*)\]\((?!http)([^)]*)\)", link, parts[at])
        parts[at] = re.sub(r"docs/[\w/.-]+\.md\b", lambda match: page(match[0]) or match[0], parts[at])
    return "".join(parts)


def cells_of(row):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip()[1:-1])]


def narrow(table):
    """A table that a terminal cannot show becomes a list: the first cell, then the others with what they are."""
    rows = [cells_of(row) for row in table[0].strip().split("\n")]
    heads, rows = rows[0], rows[2:]
    widths = [max(len(row[column]) for row in [heads] + rows) for column in range(len(heads))]
    if sum(widths) + 2 * len(widths) < 66:
        return table[0]
    text = "\n"
    for row in rows:
        told = [f"{head}: {cell}" for head, cell in zip(heads[1:-1], row[1:-1]) if cell]
        text += f"{row[0]}\n:   " + "; ".join(told + [row[-1] or "-"]) + "\n\n"
    return text


def document_page(text, here, page, what, others):
    """The document's title is the page's name, its sections the page's."""
    text = re.sub(r"\A# .*\n", "", refer(text, here))
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"^#(#+) (.*)$", lambda m: f"{m[1]} {m[2].upper() if m[1] == '#' else m[2]}", parts[at],
                           flags=re.MULTILINE)
        parts[at] = re.sub(r"^(?:\|.*\|\n)+", narrow, parts[at], flags=re.MULTILINE)
    head = f"# NAME\n\n{literal(page)} - {literal(what)}\n\n# DESCRIPTION\n\n"
    return head + "".join(parts).strip() + "\n\n" + see_also(others)


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def markdown_pages(holdfast):
    """file name -> Markdown of the page."""
    def ask(page):
        return subprocess.run([holdfast, "reference", page], stdout=subprocess.PIPE, text=True, check=True).stdout

    table = json.loads(ask("commands"))
    pages = {"holdfast.1": main_page(table)}
    for command in table["commands"]:
        pages[f"holdfast-{command['name']}.1"] = command_page(command)
    options = ask("options").replace("Generated from the option rows; do not edit.",
                                     "A file that `--config` names: TOML, a table a component, a key an option.")
    pages["holdfast.conf.5"] = document_page(options, "docs/reference/options.md", "holdfast.conf",
                                             "options of holdfast", ["holdfast(1)", "holdfast-config(1)"])
    commands = {command["name"] for command in table["commands"]}
    for path, (page, section, what) in DOCUMENTS.items():
        same = page.removeprefix("holdfast-")
        others = ["holdfast(1)", "holdfast.conf(5)"] + ([f"{page}(1)"] if same in commands else [])
        others += ["fabric(7)", "fi_provider(7)"] if page.startswith("fi_") else []
        pages[f"{page}.{section}"] = document_page(read(path), path, page, what, others)
    return pages


def roff(page, markdown):
    name, section = page.rsplit(".", 1)
    version = re.search(r"^project\(holdfast VERSION ([0-9.]+)", read("CMakeLists.txt"), re.MULTILINE)[1]
    title = {"title": name.upper(), "section": section, "footer": f"holdfast {version}", "header": MANUALS[int(section)]}
    command = ["pandoc", "--standalone", "--from=markdown-smart+lists_without_preceding_blankline", "--to=man"]
    command += [f"--metadata={key}={value}" for key, value in title.items()]
    text = subprocess.run(command, input=markdown, stdout=subprocess.PIPE, text=True, check=True).stdout
    text = re.sub(r'^\.\\" Automatically generated by Pandoc.*\n', '.\\" Written by tools/manual_pages.py; do not edit.\n',
                  text, flags=re.MULTILINE)
    text = re.sub(r"^\.hy\n", "", text, flags=re.MULTILINE)  # the reader's own setting decides
    text = text.replace("\\f[V]", "\\f[B]").replace("\\f[C]", "\\f[R]")  # terminals have no such fonts
    return text if text.endswith("\n") else text + "\n"


GROFF = ["groff", "-t", "-man", "-Tutf8", "-P-cbou", "-rHY=0"]


def as_read(text):
    """The words of a page as a terminal shows them that breaks no line."""
    return subprocess.run(GROFF + ["-rLL=9999n"], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout.decode().split()


def warnings_of(page, text):
    said = subprocess.run(GROFF + ["-ww", "-z"], input=text.encode(), stderr=subprocess.PIPE, check=True).stderr.decode()
    return [f"{page}: {line}" for line in said.splitlines()]


def drift(page, text, committed_path):
    if not os.path.exists(committed_path):
        return [f"{page} is missing"]
    with open(committed_path, encoding="utf-8") as file:
        committed = file.read()
    changed = difflib.unified_diff(as_read(committed), as_read(text), page, page + " (now)", n=3, lineterm="")
    return warnings_of(page, committed) + list(changed)[:40]


def undocumented():
    specifications = {f"docs/spec/{name}" for name in os.listdir(os.path.join(SOURCE, "docs/spec")) if name.endswith(".md")}
    return [f"{path} has no row in DOCUMENTS" for path in sorted(specifications - set(DOCUMENTS))]


def check(pages, folder):
    wrong = undocumented() + [f"{page} is no page any more" for page in sorted(set(os.listdir(folder)) - set(pages))]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for lines in pool.map(lambda item: drift(item[0], item[1], os.path.join(folder, item[0])), pages.items()):
            wrong += lines
    for line in wrong:
        print(line)
    if wrong:
        print("Write them again: tools/manual_pages.py --holdfast PROGRAM")
    return 1 if wrong else 0


def write(pages, folder):
    os.makedirs(folder, exist_ok=True)
    for page in set(os.listdir(folder)) - set(pages):
        os.remove(os.path.join(folder, page))
    for page, text in pages.items():
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
            file.write(text)
        os.chmod(file.name, 0o644)
        os.replace(file.name, os.path.join(folder, page))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--holdfast", required=True, help="the program")
    parser.add_argument("--pages", default=os.path.join(SOURCE, "docs/man"), help="the folder; default: docs/man")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    sources = markdown_pages(arguments.holdfast)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pages = dict(zip(sources, pool.map(lambda item: roff(*item), sources.items())))
    return check(pages, arguments.pages) if arguments.check else write(pages, arguments.pages)


if __name__ == "__main__":
    sys.exit(main())
