#!/usr/bin/env python3
"""Comments of public functions name their parameters and their errors (docs/contributing.md).

  function_docs.py ROOT              checks the functions of docs/reference/names.txt, and the
                                     public member functions and constructors of its classes; prints
                                     each that breaks a rule, and ends with 1 if there is one
  function_docs.py ROOT --planted    proves that each rule finds its mistake

The comment of a function is its own, else that of its overloads, else its class's. A comment
names a parameter in one of three ways:
- a code span has the parameter's name;
- prose has its words in singular or plural (`hold_out`: "hold out");
- the type, or the concept of a template parameter, is a name of names.txt, which has a page.
Members that the comment of a public concept describes (`facts` of a layer) need no comment.

The comment, or its class's, has the word "Throws" if the body has `throw` or calls one of these:
- a [[noreturn]] function;
- a public function whose comment has "Throws";
- a function of the same header and its .inl.hpp of which one of these is true.
Functions that are noexcept need not.
"""

import pathlib
import re
import sys
from dataclasses import dataclass, field

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cpp_comments import blocks_of  # noqa: E402
from names import (end_of_angles, end_of_brackets, end_of_constraint, end_of_declaration, headers_of, name_in, names_of,  # noqa: E402
                   opened, pieces_of, word)

accesses = {"public", "protected", "private"}
no_functions = {"decltype", "noexcept", "explicit", "alignas", "requires", "if", "for", "while", "switch", "catch", "sizeof", "return"}
no_parameter_names = {"const", "int", "bool", "char", "double", "float", "auto", "void"}


@dataclass
class function:
    """A function of a header.

    `owner` is its class; `parameters` are (name, words of the type); `calls` are names."""

    file: str
    line: int
    owner: str
    name: str
    comment: str
    class_comment: str
    is_public: bool
    is_noexcept: bool
    never_returns: bool
    throws: bool
    parameters: list = field(default_factory=list)
    calls: set = field(default_factory=set)

    def shown(self):
        return f"{self.owner}::{self.name}" if self.owner else self.name


def head_of(tokens):
    """Index after the template head, attributes and constraints of a declaration."""
    index = 0
    while index < len(tokens):
        text = tokens[index][0]
        if text == "[":
            index = end_of_brackets(tokens, index)
        elif text == "template" and tokens[index + 1][0] == "<":
            index = end_of_angles(tokens, index + 1)
        elif text == "requires":
            index = end_of_constraint(tokens, index + 1)
        else:
            return index
    return index


def constraints_in(head):
    """Returns the concept of each type parameter of a template head; `Pipeline` means pipeline."""
    texts, found = [text for text, _ in head], {}
    for index, name in enumerate(texts[1:], 1):
        if word.match(name) and word.match(texts[index - 1]) and texts[index - 1] not in ("template", "auto"):
            found[name] = name.lower() if texts[index - 1] in ("class", "typename") else texts[index - 1]
    return found


def parameters_of(tokens):
    """(name, words of the type) of each named parameter in the tokens between the parentheses."""
    parts, index, start = [], 0, 0
    while index < len(tokens):
        text = tokens[index][0]
        if text in "([{":
            index = end_of_brackets(tokens, index)
        elif text == "<" and tokens[index + 1][0] == "<":  # a shift in a default argument
            index += 2
        elif text == "<":
            index = end_of_angles(tokens, index)
        else:
            if text == ",":
                parts.append(tokens[start:index])
                start = index + 1
            index += 1
    parts.append(tokens[start:])
    found = []
    for part in parts:
        texts = [text for text, _ in part]
        texts = texts[: texts.index("=")] if "=" in texts else texts
        if len(texts) > 1 and word.match(texts[-1]) and texts[-1] not in no_parameter_names and texts[-2] != "::":
            found.append((texts[-1], {text for text in texts[:-1] if word.match(text)}))
    return found


def function_in(tokens):
    """Returns (qualified name, parameters, tokens after them) of a function, or None."""
    index = head_of(tokens)
    while index < len(tokens):
        text = tokens[index][0]
        before = tokens[index - 1][0] if index else ""
        if text in ("=", "{", ";", "using", "enum", "struct", "class", "union", "concept", "friend", "static_assert", "typedef"):
            return None
        if text == "<":
            index = end_of_angles(tokens, index)
        elif text == "[":
            index = end_of_brackets(tokens, index)
        elif text == "(" and before in no_functions:
            index = end_of_brackets(tokens, index)
        elif text == "(":
            if not word.match(before) and not before.startswith("operator"):
                return None
            end, first = end_of_brackets(tokens, index), index - 1
            name = re.sub(r"\s", "", before)
            owner = ""
            if first > 1 and tokens[first - 1][0] == "::":
                first -= 2
                while first > 0 and tokens[first][0] not in ("<",) and not word.match(tokens[first][0]):
                    first -= 1
                owner = tokens[first - 1][0] if tokens[first][0] == "<" else tokens[first][0]
            if tokens[first - 1][0] == "~":
                name = "~" + name
            return owner, name, parameters_of(tokens[index + 1 : end - 1]), tokens[end:]
        else:
            index += 1
    return None


def calls_in(tokens):
    """Returns the functions that a body calls; those of other objects begin with a point."""
    found = set()
    for index, (text, _) in enumerate(tokens[:-1]):
        if word.match(text) and text not in no_functions:
            after = index + 1
            if tokens[after][0] == "<":
                try:
                    after = end_of_angles(tokens, after)
                except ValueError:
                    continue
            if after < len(tokens) and tokens[after][0] in "({":
                is_member = tokens[index - 1][0] in (".", ">") and [t for t, _ in tokens[max(0, index - 3) : index]] != ["this", "-", ">"]
                found.add("." + text if is_member else text)
    return found


class reader:
    """Reads the functions of one header."""

    def __init__(self, file, source):
        self.file = file
        self.before = {b.line + len(b.lines): " ".join(b.lines) for b in blocks_of(source) if b.kind == "///"}
        self.trailing = {b.line: " ".join(b.lines) for b in blocks_of(source) if b.kind == "///<"}
        self.found, self.concepts = [], []
        for piece in pieces_of(source):
            if not isinstance(piece, opened):
                self.declaration(piece[1], "", "", piece[0] == "redco")

    def comment_of(self, tokens):
        return self.before.get(tokens[0][1]) or self.trailing.get(tokens[0][1]) or self.trailing.get(tokens[-1][1]) or ""

    def declaration(self, tokens, owner, class_comment, is_public, constraints=()):
        start = head_of(tokens)
        constraints = {**dict(constraints), **constraints_in(tokens[:start])}
        if tokens[start][0] in ("struct", "class"):
            return self.type(tokens, start, is_public, constraints)
        if tokens[start][0] == "concept" and is_public:
            self.concepts.append(self.comment_of(tokens))
        one = function_in(tokens)
        if not one:
            return None
        class_name, name, parameters, rest = one
        parameters = [(p, types | {constraints[t] for t in types & constraints.keys()}) for p, types in parameters]
        texts = [text for text, _ in rest]
        ends = texts[:2] in (["=", "delete"], ["=", "default"]) or texts[1:3] in (["=", "delete"], ["=", "default"])
        if name.startswith("~") or ends:
            return None
        self.found.append(function(
            self.file, tokens[0][1], owner or class_name, name, self.comment_of(tokens), class_comment, is_public and not class_name,
            "noexcept" in texts, "noreturn" in [text for text, _ in tokens[:12]], "throw" in texts, parameters, calls_in(rest)))
        return None

    def type(self, tokens, start, is_public, constraints):
        name, comment = name_in(tokens), self.comment_of(tokens)
        open_at = start
        while open_at < len(tokens) and tokens[open_at][0] != "{":
            open_at = end_of_brackets(tokens, open_at) if tokens[open_at][0] in "([" else open_at + 1
        if not name or open_at == len(tokens):
            return
        body = tokens[open_at + 1 : end_of_brackets(tokens, open_at) - 1]
        access, index = "private" if tokens[start][0] == "class" else "public", 0
        while index < len(body):
            if body[index][0] in accesses and body[index + 1][0] == ":":
                access, index = body[index][0], index + 2
                continue
            end = end_of_declaration(body, index)
            member = body[index:end]
            if member[head_of(member)][0] not in ("struct", "class"):
                self.declaration(member, name, comment, is_public and access == "public", constraints)
            index = end


def functions_of(headers):
    """The functions of the headers, and the comments of the concepts in namespace redco."""
    found, concepts = [], []
    for file, source in headers.items():
        try:
            one = reader(file, source)
            found += one.found
            concepts += one.concepts
        except (ValueError, IndexError) as error:
            sys.exit(f"{file}: {error}; tests/build/function_docs.py cannot read this header")
    return found, concepts


def stem(text):
    return re.sub(r"(?:e?s|ies|y)$", "", text.lower())


def names_parameter(words, name, type_words, listed):
    """Returns true if a comment has the parameter's name in a code span, or its words in prose."""
    if type_words & listed or any(re.search(rf"\b{name}\b", span) for span in re.findall(r"`([^`]*)`", words)):
        return True
    prose = [stem(one) for one in re.findall(r"[A-Za-z]+", re.sub(r"`[^`]*`", " ", words))]
    wanted = [stem(one) for one in name.split("_") if one]
    return any(prose[at : at + len(wanted)] == wanted for at in range(len(prose)))


def throwing(functions, listed):
    """Functions that throw: those whose body does, and those that call one."""
    never = {dot + one.name for one in functions if one.never_returns for dot in ("", ".")}
    public = {one.name for one in functions if one.is_public and not one.owner and one.name in listed and re.search(r"\bThrows\b", one.comment)}
    families = {}
    for one in functions:
        families.setdefault(one.file.replace(".inl.hpp", ".hpp"), []).append(one)
    for family in families.values():
        found = [one for one in family if one.throws or one.calls & (never | public) or re.search(r"\bThrows `?\w*error", one.comment)]
        while True:
            called = {one.name for one in found}
            more = [one for one in family if one.calls & called and not any(one is other for other in found)]
            if not more:
                break
            found += more
        yield from found


def problems_of(headers, listed):
    functions, concepts = functions_of(headers)
    comments = {}
    for one in functions:
        if one.comment:
            comments.setdefault((one.file, one.owner, one.name), []).append(one.comment)
    throws = [(one.owner, one.name, len(one.parameters)) for one in throwing(functions, listed)]
    for one in functions:
        if not one.is_public or (one.owner or one.name) not in listed or one.file.endswith(".inl.hpp"):
            continue
        words = one.comment or " ".join(comments.get((one.file, one.owner, one.name), [])) or one.class_comment
        if (not one.name.startswith("operator") or one.name == "operator()") and not described_in(concepts, one.name):
            for name, type_words in one.parameters:
                if not names_parameter(words, name, type_words, listed):
                    yield f"{one.file}:{one.line}: the comment of {one.shown()} does not name its parameter `{name}`"
        if (one.owner, one.name, len(one.parameters)) in throws and not one.is_noexcept and \
                not re.search(r"\bThrows\b", words + " " + one.class_comment):
            yield f"{one.file}:{one.line}: {one.shown()} throws and its comment has no \"Throws\""


def described_in(concepts, name):
    """Returns true if the comment of a public concept describes the members with this name."""
    return any(re.search(rf"`{name}\b", comment) for comment in concepts)


def check(root):
    listed = {name for _, names in names_of(root) for name in names}
    headers = headers_of(root)
    problems = list(problems_of(headers, listed))
    print(*problems, sep="\n")
    print(f"function_docs: {len(problems)} problems in {len(headers)} headers")
    return not problems


good = """
namespace redco {
/// Concept of layers, with a function `facts<X>(config, recorder)`.
template <class L>
concept layer = true;
struct options_of_it;

/// Reads the texts under `keys`. The path is a folder. Throws `error` with exit code 65 if it is missing.
int read(std::string const& path, std::vector<int> const& keys = {1, 2}, options_of_it const& options = {});

/// A job of a trainer. Throws `error` with exit code 64 for a bad mesh.
template <layer L>
class job {
 public:
  explicit job(L l, int mesh) { check(mesh); }
  template <class X>
  static void facts(int config, int w) { return; }
  /// Returns the sum of `x` and hold-out rows.
  int operator()(int x, int hold_out) const { return x < hold_out ? std::max<int>(x, 1) : x << 1; }
  int unnamed(int, char const* = "f(", std::int64_t = 1 << 3) const noexcept { throw 1; }
  void stop() const { other.leave(); }
  bool operator==(job const& other) const = default;
 private:
  void check(int undocumented);
};
}
namespace redco::room { [[noreturn]] void refuse(int why); void quiet(int undocumented) { throw 1; } }
"""

mistakes = {
    "the comment of f does not name its parameter `count`": "/// Returns the size of a thing.\nint f(int count);\n",
    "the comment of f does not name its parameter `tree`": "/// Returns the street of `a`, as `a.trees`.\nint f(int a, int tree);\n",
    "the comment of f does not name its parameter `m`": "/// Returns the size of a thing.\ntemplate <class M>\nint f(M const& m);\n",
    "the comment of c::go does not name its parameter `speed`": "/// A car.\nclass c {\n public:\n  /// Drives.\n  void go(int speed);\n};\n",
    "the comment of c::c does not name its parameter `speed`": "/// A car.\nstruct c {\n  explicit c(int speed);\n};\n",
    "the comment of c::operator() does not name its parameter `x`": "/// A car.\nstruct c {\n  int operator()(int x) const;\n};\n",
    "f throws and": "/// Returns a `number`.\ninline int f(int number) { if (number < 0) throw error(1); return 1; }\n",
    "f throws": "/// Returns 1.\nint f() { return room::refuse(2); }\n",
    "f throws and its": "/// Returns 1.\nint f() { return read(room::path()); }\n",
    "c::go throws": "/// A car.\nstruct c {\n  /// Drives.\n  void go() { hidden(); }\n private:\n  void hidden() { throw 1; }\n};\n",
    "c::go throws and": "/// A car.\nstruct c {\n  /// Drives.\n  void go() { in_another_file(); }\n};\n",
}


def check_planted():
    """Each rule finds its mistake, and nothing in text that only looks like one."""
    listed = {"layer", "options_of_it", "job", "read", "f", "c"}
    outside = {"room/b.inl.hpp": "namespace redco {\ninline void in_another_file() { throw 1; }\n}\n"}
    base = {"room/a.hpp": good}
    failed = [f"in allowed text: {found}" for found in problems_of(base, listed)]
    for words, text in mistakes.items():
        found = list(problems_of(base | outside | {"room/b.hpp": "namespace redco {\n" + text + "}\n"}, listed))
        if len(found) != 1 or words not in found[0]:
            failed.append(f"{words}: {found}")
    print(*failed, sep="\n")
    print(f"function_docs: {len(mistakes)} planted mistakes, {len(failed)} rules wrong")
    return not failed


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    sys.exit(0 if (check_planted() if sys.argv[2:] == ["--planted"] else check(root)) else 1)
