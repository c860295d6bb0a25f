#!/usr/bin/env python3
"""Checks the comments of C++, Python, CMake and shell sources: docs/contributing.md, "How we
write".

  language.py ROOT [FOLDER or FILE ...]    prints each comment that breaks a rule, and ends with 1
                                           if there is one
  language.py ROOT --planted               proves that each rule finds its mistake
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cpp_comments import blocks_of, kernel_texts  # noqa: E402
from script_comments import blocks_of_script, language_of  # noqa: E402

columns = 100
words_of_sentence = 30
lines_of_block = 8
folders = (".ci", "include", "examples", "tools", "benchmarks", "tests", "cmake", "scripts", "deploy", "docs", "CMakeLists.txt")

beginnings = re.compile(
    r"(What|Whether|How|Which|Who|Whose|Where|When|Those|These|One that|The same|The one|The ones|As|Of|So|Behind|Beside|Such|"
    r"Its|It|They|Their|That|This|Likewise|Else|And|But|Also|Here|There|Then)\b",
)
forbidden = re.compile(r"\b(behind|beside|in front of|lies|stands|told|tells|stand in|stood)\b", re.I)

# Comments that need a forbidden word: file, words of the comment, reason.
exceptions = ()


def prose(lines):
    """A comment's text without code: `code`, indented examples, lists' marks, and links."""
    kept, fenced = [], False
    for line in lines:
        if line.startswith("```"):
            fenced = not fenced
            continue
        if fenced or line.startswith("@"):
            kept.append("")
            continue
        kept.append(line)
    return re.sub(r"`[^`]*`", "CODE", "\n".join(kept))


def sentences(text):
    """Yields the sentences of a comment. Separators: full stops, semicolons, empty lines, colons at
    a line's end, list items, and lines of a table, whose columns are at least two spaces apart."""
    for paragraph in re.split(r"\n\s*\n|\n(?=[-*] |\d+\. |\||[^\n]*\S {2,}\S)|:\n", text):
        for sentence in re.split(r"(?<=[.!?])\s+|;\s", paragraph):
            yield sentence


def problems_of(source, language="c++"):
    """Yields (line, rule, words) of each broken rule, in the source and in the CUDA code of its raw
    strings. In languages other than C++, comments after code may be longer than `columns`."""
    if language == "c++":
        for line_before, text in kernel_texts(source):
            for line, rule, words in problems_of(text):
                yield line_before + line, rule, words
    source_lines = source.split("\n")
    for block in blocks_of(source) if language == "c++" else blocks_of_script(source, language):
        first = block.lines[0] if block.lines else ""
        if first.startswith(("NOLINT", "clang-format", "SPDX", "noqa", "shellcheck")):
            continue
        for offset, _ in enumerate(block.lines):
            line = source_lines[block.line - 1 + offset]
            if (language == "c++" or block.alone) and len(line) > columns and not re.search(r"http|NOLINT|expect: redco", line):
                yield block.line + offset, f"a comment past column {columns}", line.strip()
        if block.kind == "///" and len(block.lines) > lines_of_block:
            yield block.line, f"more than {lines_of_block} lines", f"{len(block.lines)} lines"
        text = prose(block.lines)
        if block.kind != "/*" and (found := beginnings.match(text)):
            yield block.line, f'begins with "{found[0]}"', first
        if found := forbidden.search(text):
            yield block.line, f'says "{found[0]}"', first
        for sentence in sentences(text):
            count = len(re.findall(r"[\w`'’.\-/<>:]*\w[\w`'’\-/<>:]*", sentence))
            if count > words_of_sentence:
                yield block.line, f"a sentence of {count} words", sentence.replace("\n", " ")[:90]


def sources(root, asked):
    """(path, text, language) of each source with comments among the asked files and folders."""
    for name in asked or folders:
        for path in [root / name] if (root / name).is_file() else sorted((root / name).rglob("*")):
            if path.suffix in (".hpp", ".cpp", ".h", ".cu"):
                yield path, path.read_text(), "c++"
            elif path.suffix in (".py", ".cmake", ".in", ".sh", "") or path.name == "CMakeLists.txt":
                if path.is_file() and (language := language_of(path.name, text := path.read_text())):
                    yield path, text, language


def check(root, asked):
    found = 0
    for path, text, language in sources(root, asked):
        name = path.relative_to(root).as_posix()
        for line, rule, words in problems_of(text, language):
            if any(name == file and part in words for file, part, _ in exceptions):
                continue
            print(f"{name}:{line}: {rule}: {words}")
            found += 1
    print(f"language: {found} comments break a rule")
    return found == 0


def check_planted():
    """Each rule finds its mistake, and nothing in text that only looks like one."""
    mistakes = {
        "a comment past column": "// " + "word " * 20 + "\n",
        "more than": "/// Line.\n" * 9,
        "begins with": "/// Whether the rank is here.\nbool b;\n",
        "says": "int a;  ///< The number beside it\n",
        "a sentence of": "/// Returns " + "one\n/// " * 31 + "two.\n",
    }
    allowed = {
        "c++": 'auto const a = "// What this string says is behind";\n'
        "auto const b = R\"(// Whether)\";  // A raw string.\n"
        "int c = 1'000;  ///< A number with `behind` as code\n"
        "/// Returns a.\n/// ```\n/// What is code\n/// ```\nint d;\n",
        "python": 'a = "# What this string says is behind"\nb = """\n# Whether\n"""  # A string of two lines.\n',
        "cmake": 'set(a "\n# What this string says is behind" [[\n# Whether\n]])  # Two strings.\n',
        "shell": "a='\n# Whether' b=${c#behind}  # A string.\ncat << END\n# What this text says\nEND\n",
    }
    in_scripts = {
        "python": ("# Whether it ends\n", "a = 1  # The number beside it\n", 'def f():\n    """Says\n    what it told."""\n'),
        "cmake": ("# Whether it ends\n", "set(a 1)  # The number beside it\n", "#[[ What\nit told ]]\n", "# word\n" * 31, "# " + "word " * 20),
        "shell": ("#!/bin/sh\n# Whether it ends\n", "a=${b#c}  # The number beside it\n"),
    }
    failed = [rule for rule, text in mistakes.items() if not any(found.startswith(rule) for _, found, _ in problems_of(text))]
    for rule, text in mistakes.items():
        in_kernel = 'auto const text = R"cuda(\n' + text + ')cuda";\n'
        here = [line for line, found, _ in problems_of(text) if found.startswith(rule)]
        there = [line - 1 for line, found, _ in problems_of(in_kernel) if found.startswith(rule)]
        if here != there:
            failed.append(f"{rule} in a kernel's text: lines {there} instead of {here}")
    for language, texts in in_scripts.items():
        failed += [f"{language} passes: {text}" for text in texts if not any(problems_of(text, language))]
    for language, text in allowed.items():
        failed += [f"{found} in allowed text of {language}" for _, found, _ in problems_of(text, language)]
    planted = 2 * len(mistakes) + sum(map(len, in_scripts.values()))
    print(*failed, sep="\n")
    print(f"language: {planted} planted mistakes, {len(failed)} rules wrong")
    return not failed


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    sys.exit(0 if (check_planted() if sys.argv[2:] == ["--planted"] else check(root, sys.argv[2:])) else 1)
