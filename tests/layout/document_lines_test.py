"""Holds the lines of documents to 120 characters; tables, links and blocks of code are what they are, and so are pages that
a tool writes. Usage: document_lines_test.py REPOSITORY."""

import sys
from pathlib import Path

MOST = 120
MADE_BY_TOOLS = ["docs/man"]


def long_lines(text):
    """Yields the numbers of lines that are too long."""
    code = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            code = not code
            continue
        free = code or line.startswith(("    ", "|", "![", "[")) or " " not in line.strip(" -*")
        if len(line) > MOST and not free:
            yield number


def main():
    repository = Path(sys.argv[1])
    pages = sorted(repository.glob("*.md")) + sorted((repository / "docs").rglob("*.md"))
    pages = [page for page in pages if not str(page.relative_to(repository)).startswith(tuple(MADE_BY_TOOLS))]
    wrong = [(page, number) for page in pages for number in long_lines(page.read_text(encoding="utf-8"))]
    for page, number in wrong:
        print(f"{page}:{number}: over {MOST} characters")
    print(f"{len(pages)} documents, {len(wrong)} lines too long")
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
