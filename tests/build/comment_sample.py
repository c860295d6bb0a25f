#!/usr/bin/env python3
"""Draws doc comments at random, to be explained by readers who have not seen the code.

  comment_sample.py ROOT SEED [COUNT]        prints COUNT (100) comments, each with the first line
                                             of its declaration
  comment_sample.py ROOT SEED [COUNT] --key  prints the file and line of each comment, for the
                                             comparison with the code

A reader writes what each comment says in other words and marks it "at first reading", "reread" or
"guessing". Of 100 at least 90 are understood at first reading, and at least 95 explanations agree
with the code.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cpp_comments import blocks_of  # noqa: E402


def comments(root):
    """Yields (path, line, first line of the declaration, comment) of each `///` and `///<` block of
    the headers."""
    for path in sorted((root / "include").rglob("*.hpp")):
        source = path.read_text()
        lines = source.split("\n")
        for block in blocks_of(source):
            if block.kind == "///<":
                declaration = lines[block.line - 1][: block.column].strip()
            elif block.kind == "///":
                after = block.line - 1 + len(block.lines)
                declaration = lines[after].strip() if after < len(lines) else ""
                # A template's head is no line of the declaration itself.
                while declaration.endswith(">") and declaration.startswith(("template", "requires")) and after + 1 < len(lines):
                    after += 1
                    declaration += " " + lines[after].strip()
            else:
                continue
            yield path.relative_to(root).as_posix(), block.line, declaration, "\n".join(block.lines)


def main():
    words = [a for a in sys.argv[1:] if a != "--key"]
    root, seed, count = pathlib.Path(words[0]), int(words[1]), int(words[2]) if len(words) > 2 else 100
    drawn = random.Random(seed).sample(list(comments(root)), count)
    for number, (path, line, declaration, text) in enumerate(drawn, 1):
        if "--key" in sys.argv:
            print(f"{number}: {path}:{line}")
        else:
            print(f"{number}. {declaration}\n   {text}\n".replace("\n", "\n   ").rstrip() + "\n")


if __name__ == "__main__":
    main()
