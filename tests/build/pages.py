#!/usr/bin/env python3
"""Checks pages: their code compiles, their links lead somewhere, headers that they name exist, and
front pages stay short.

  pages.py ROOT                checks links, lengths, names of headers (also in scripts/ and
                               cmake/), and that every C++ block says how it is compiled
  pages.py ROOT --write DIR    writes a source file per page with its C++ blocks, and prints the
                               names of the files

The line before a C++ block says how it is compiled, as an HTML comment:
  <!-- compiled: alone -->         a whole program or header
  <!-- compiled: declarations -->  declarations at namespace scope, after the page's earlier
                                   declarations
  <!-- compiled: statements -->    statements of a function, after the page's earlier blocks and
                                   tests/build/pages.hpp
  <!-- compiled: by TEST -->       another test compiles the block
  <!-- compiled: never, REASON --> a sketch
"""

import pathlib
import re
import sys

longest = {"README.md": 130, "CHANGELOG.md": 40}
elsewhere = ("include/", "docs/diagnostics.md")  # sketches of rooms; twins of tests/reject, which their tests compile
block = re.compile(r"(?:<!-- compiled: (?P<how>[^>]*?) -->\n)?^```cpp\n(?P<code>.*?)^```$", re.S | re.M)
link = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|(?:srcset|src|href)=\"([^\"]+)\"")
header = re.compile(r"(?<![\w./<*-])<?((?:[\w-]+/)*[\w.-]+\.hpp)\b")
made_up = re.compile(r"(X|.*\bNAME|app/.*|redco/mutant|redco/room/file)(\.inl)?\.hpp$")  # headers of examples and of users
ways = re.compile(r"(alone|declarations|statements|by [\w.]+|never, .+)$")


def pages(root):
    return [root / "README.md", root / "CHANGELOG.md", *sorted((root / "docs").rglob("*.md")), *sorted(root.glob("include/redco/*/README.md")),
            *(root / name / "README.md" for name in ("benchmarks", "deploy"))]


def anchors(page):
    """Anchors of a page's headings, as GitHub and MkDocs write them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        words = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower())
        found.add(words.strip().replace(" ", "-"))
    return found


def headers(root):
    """Path ends of the headers of the repository: a/b.hpp has b.hpp and a/b.hpp."""
    paths = [path.relative_to(root).parts for folder in ("include", "tests", "benchmarks") for path in (root / folder).rglob("*.hpp")]
    return {"/".join(parts[first:]) for parts in paths for first in range(len(parts))}


def unknown_headers(root, file, known, pattern):
    """Headers that a page, a script or a CMake file names and that do not exist."""
    for number, line in enumerate(file.read_text().split("\n"), 1):
        for found in pattern.finditer(line):
            if found[1] not in known and not made_up.match(found[1]):
                yield f"{file.relative_to(root).as_posix()}:{number}: no header {found[1]}"


def header_problems(root):
    known = headers(root)
    for page in pages(root):
        if not page.relative_to(root).as_posix().startswith(elsewhere):
            yield from unknown_headers(root, page, known, header)
    for folder in ("scripts", "cmake"):
        for file in sorted(path for path in (root / folder).rglob("*") if path.is_file()):
            yield from unknown_headers(root, file, known, re.compile(r"\b(redco/[\w/]+\.hpp)\b"))


def problems_of(root, page):
    text = page.read_text()
    name = page.relative_to(root).as_posix()
    lines = text.count("\n")
    most = 40 if name.startswith("include/") else longest.get(name, lines)
    if lines > most:
        yield f"{name}: {lines} lines, at most {most}"
    for found in block.finditer(text):
        line = text.count("\n", 0, found.start("code"))
        if name.startswith(elsewhere):
            continue
        if not found["how"]:
            yield f"{name}:{line}: a C++ block without the comment that says how it is compiled (tests/build/pages.py)"
        elif not ways.match(found["how"]):
            yield f'{name}:{line}: "compiled: {found["how"]}" is no way to compile a block'
    outside = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.S | re.M)
    for found in link.finditer(outside):
        target = found[1] or found[2]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"{name}: the link to {target} leads nowhere"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{name}: {file.name} has no heading #{anchor}"


def source_of(root, page):
    """Returns one source file of a page's blocks: each whole program in a namespace, statements in
    functions. None without a block."""
    text, includes, body = page.read_text(), [], []
    for number, found in enumerate(block.finditer(text)):
        how, code = found["how"] or "", found["code"]
        if how not in ("alone", "declarations", "statements"):
            continue
        includes += re.findall(r"^#include <[^>]*>$", code, re.M)
        code = re.sub(r"^#(include|pragma) .*$", "", code, flags=re.M)
        line = text.count("\n", 0, found.start("code")) + 1
        around = {"alone": f"namespace block_{number} {{\n%s}}\n", "declarations": "%s",
                  "statements": f"inline void block_{number}() {{\n%s}}\n"}[how]
        body.append(around.replace("%s", f'#line {line} "{page.relative_to(root).as_posix()}"\n{code}'))
    if not body:
        return None
    head = ["#include <redco/redco.hpp>", f'#include "{root / "tests/build/pages.hpp"}"', *dict.fromkeys(includes)]
    return "\n".join(head) + "\n" + "\n".join(body)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if sys.argv[2:3] == ["--write"]:
        folder = pathlib.Path(sys.argv[3])
        folder.mkdir(parents=True, exist_ok=True)
        for page in pages(root):
            if page.relative_to(root).parts[0] == "include" or (text := source_of(root, page)) is None:
                continue
            file = folder / (page.relative_to(root).with_suffix("").as_posix().replace("/", "_").replace("-", "_") + ".cpp")
            if not file.exists() or file.read_text() != text:
                file.write_text(text)
            print(file)
        return 0
    problems = [problem for page in pages(root) for problem in problems_of(root, page)] + list(header_problems(root))
    print(*problems, sep="\n")
    print(f"pages: {len(problems)} problems in {len(pages(root))} pages")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
