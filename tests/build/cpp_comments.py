"""Comment blocks of C++ sources, with their lines, and sources without comments."""

import re

# One alternative per kind of text that can hide a comment's beginning. The group `comment` is a
# comment.
_TEXT = re.compile(
    r"""(?P<comment>//(?:[^\n\\]|\\(?:\n|.))*|/\*.*?\*/)"""
    r"""|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)\""""
    r"""|"(?:[^"\\\n]|\\.)*"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)+'""",
    re.S,
)


class Block:
    """Consecutive comment lines of one kind: `///`, `///<` or `//`."""

    def __init__(self, kind, line, first_column, alone):
        self.kind, self.line, self.column, self.alone = kind, line, first_column, alone
        self.lines = []


def blocks_of(source):
    """Comment blocks in the order of the source."""
    starts = [0]
    for found in re.finditer("\n", source):
        starts.append(found.end())
    blocks = []
    line = 0
    for found in _TEXT.finditer(source):
        if not found["comment"]:
            continue
        while line + 1 < len(starts) and starts[line + 1] <= found.start():
            line += 1
        text = found["comment"]
        column = found.start() - starts[line]
        alone = source[starts[line] : found.start()].strip() == ""
        mark = next((m for m in ("///<", "///", "//") if text.startswith(m)), "/*")
        body = text[len(mark) :] if mark != "/*" else text[2:-2]
        last = blocks[-1] if blocks else None
        follows = last and last.line + len(last.lines) == line + 1 and alone
        if follows and ((mark == last.kind and last.column == column) or (last.kind == "///<" and column == last.column)):
            last.lines.append(body.strip())
            continue
        block = Block(mark, line + 1, column, alone)
        block.lines = [part.strip() for part in body.split("\n")]
        blocks.append(block)
    return blocks


def kernel_texts(source):
    """Yields (number of the line before it, text) of each raw string with the delimiter `cuda`,
    which holds CUDA code."""
    for found in _TEXT.finditer(source):
        if found["mark"] == "cuda":
            opening = 'R"cuda('
            yield source.count("\n", 0, found.start()), found[0][len(opening) : -len(')cuda"')]


def code_of(source):
    """Returns the source with spaces in place of comments, preprocessor directives, and the text of
    strings. Lines and columns do not change."""

    def blank(found):
        text = re.sub(r"[^\n]", " ", found[0])
        return text if found["comment"] else '""' + text[2:]

    return re.sub(r"^[ \t]*#(?:[^\\\n]|\\.)*", lambda found: re.sub(r"[^\n]", " ", found[0]), _TEXT.sub(blank, source), flags=re.S | re.M)
