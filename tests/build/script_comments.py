"""Comment blocks of Python, CMake and shell sources, with their lines."""

import ast
import io
import re
import tokenize

from cpp_comments import Block

# One alternative per kind of text that can hide a comment's beginning. The group `comment` is a
# comment.
_CMAKE = re.compile(
    r"""(?P<comment>\#\[(?P<mark>=*)\[.*?\](?P=mark)\]|\#[^\n]*)"""
    r"""|\[(?P<bracket>=*)\[.*?\](?P=bracket)\]|"(?:[^"\\]|\\.)*"|\\.""",
    re.S,
)
_SHELL = re.compile(
    r"""(?P<comment>(?:^|(?<=[\s;(]))\#[^\n]*)"""
    r"""|<<-?\s*["']?(?P<end>\w+)["']?[^\n]*\n.*?^\t*(?P=end)$"""
    r"""|"(?:[^"\\]|\\.)*"|\$'(?:[^'\\]|\\.)*'|'[^']*'|\\.""",
    re.S | re.M,
)


def language_of(name, source):
    """Returns "python", "cmake" or "shell", by the file's name and first line; None for other
    files."""
    if name.endswith((".cmake", ".cmake.in")) or name == "CMakeLists.txt":
        return "cmake"
    first = source.split("\n", 1)[0]
    if name.endswith(".py") or re.match(r"#!.*\bpython", first):
        return "python"
    return "shell" if name.endswith(".sh") or re.match(r"#!.*\b(ba)?sh\b", first) else None


def _marked(source, text):
    """Yields (line, column, words) of each comment that the expression finds in the source."""
    for found in text.finditer(source):
        if found["comment"]:
            line = source.count("\n", 0, found.start())
            yield line + 1, found.start() - (source.rfind("\n", 0, found.start()) + 1), found["comment"]


def _python(source):
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield *token.start, token.string


def _docstrings(source):
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or ast.get_docstring(node) is None:
            continue
        text = node.body[0].value
        block = Block('"""', text.lineno, text.col_offset, True)
        block.lines = [line.strip() for line in text.value.split("\n")]
        yield block


def blocks_of_script(source, language):
    """Returns the comment blocks in the order of the source. A block is a sequence of `#` lines, or
    a docstring of Python."""
    lines = source.split("\n")
    blocks = []
    for line, column, text in _python(source) if language == "python" else _marked(source, _CMAKE if language == "cmake" else _SHELL):
        if text.startswith("#!") and line == 1:
            continue
        alone = lines[line - 1][:column].strip() == ""
        last = blocks[-1] if blocks else None
        body = re.sub(r"^#(\[=*\[)?|\]=*\]$", "", text)
        if last and alone and last.alone and last.line + len(last.lines) == line and last.column == column:
            last.lines.append(body.strip())
            continue
        block = Block("#", line, column, alone)
        block.lines = [part.strip() for part in body.split("\n")]
        blocks.append(block)
    if language == "python":
        blocks += _docstrings(source)
    return sorted(blocks, key=lambda block: block.line)
