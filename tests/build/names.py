#!/usr/bin/env python3
"""Names of namespace redco are those that programs write: docs/contributing.md, "Names".

  names.py ROOT               compares the headers with docs/reference/names.txt; prints each name
                              that breaks a rule, and ends with 1 if there is one
  names.py ROOT --declared    prints the names that the headers declare in namespace redco, with
                              file and line
  names.py ROOT --planted     proves that each rule finds its mistake

The headers are read as text: balanced brackets, formatted by clang-format, bodies skipped.
"""

import pathlib
import re
import sys
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs/reference"))
from cpp_comments import blocks_of, code_of  # noqa: E402
from make_reference import example_of, examples_of, names_of  # noqa: E402

most_names = 130
# Namespaces of the rooms whose folder has another name, because a public name or another word has
# that name.
namespace_of_room = {"layer": "layers", "model": "models", "pipeline": "pipelines", "tensor": "tensors", "generate": "generation"}

token = re.compile(r"operator\s*(?:\(\s*\)|[^\w\s(]+)|[A-Za-z_]\w*|::|->|&&|\|\||\"[^\"]*\"|[0-9][\w.']*|\S")
word = re.compile(r"[A-Za-z_]\w*$")
opening = {"(": ")", "[": "]", "{": "}"}
no_names = {"decltype", "noexcept", "explicit", "alignas", "requires"}


@dataclass
class declaration:
    """One declaration in a namespace: its tokens without template heads, requires clauses and
    bodies."""

    space: str
    line: int
    last_line: int
    name: str


@dataclass
class opened:
    """One opened namespace, with its whole name."""

    space: str
    line: int


def end_of_brackets(tokens, start):
    """Index after the bracket that closes the one at `start`."""
    open_ones = []
    for index in range(start, len(tokens)):
        text = tokens[index][0]
        if text in opening:
            open_ones.append(opening[text])
        elif open_ones and text == open_ones[-1]:
            open_ones.pop()
            if not open_ones:
                return index + 1
    raise ValueError(f"line {tokens[start][1]}: {tokens[start][0]} without its end")


def end_of_angles(tokens, start):
    """Index after the `>` that closes the `<` at `start`; brackets between them are skipped."""
    depth, index = 0, start
    while index < len(tokens):
        text = tokens[index][0]
        if text in opening:
            index = end_of_brackets(tokens, index)
            continue
        depth += (text == "<") - (text == ">")
        index += 1
        if not depth:
            return index
    raise ValueError(f"line {tokens[start][1]}: < without its end")


def end_of_constraint(tokens, start):
    """Index after the constraint of a requires clause."""
    index = start
    while True:
        text = tokens[index][0]
        if text == "(":
            index = end_of_brackets(tokens, index)
        elif text == "requires":
            index += 1
            if tokens[index][0] == "(":
                index = end_of_brackets(tokens, index)
            index = end_of_brackets(tokens, index)
        else:
            index += 1
            while index < len(tokens) and tokens[index][0] in ("::", "<"):
                index = end_of_angles(tokens, index) if tokens[index][0] == "<" else index + 2
        if index >= len(tokens) or tokens[index][0] not in ("&&", "||"):
            return index
        index += 1


def end_of_declaration(tokens, start):
    """Index after a declaration at `start`: after its `;`, or after a function's body."""
    index, head = start, []
    has_value = initialises = False
    while index < len(tokens):
        text = tokens[index][0]
        if text == "template" and tokens[index + 1][0] == "<":
            index = end_of_angles(tokens, index + 1)
            continue
        if text == "requires" and not has_value:
            index = end_of_constraint(tokens, index + 1)
            continue
        if text == ";":
            return index + 1
        if text in ("(", "["):
            index = end_of_brackets(tokens, index)
            head.append(text)
            continue
        if text == "{":
            before = head[-1] if head else ""
            index = end_of_brackets(tokens, index)
            is_member_value = initialises and (word.match(before) or before == ">")
            head.append("{")
            if is_member_value or has_value:
                continue
            if index < len(tokens) and tokens[index][0] == ";":
                return index + 1
            if "(" in head:
                return index
            continue
        has_value = has_value or text in ("=", "concept")
        initialises = initialises or (text == ":" and "(" in head)
        head.append(text)
        index += 1
    raise ValueError(f"line {tokens[start][1]}: a declaration without its end")


def name_in(tokens):
    """Returns the name that a declaration declares in its namespace; None for declarations that
    declare none there."""
    index = 0
    while index < len(tokens):
        text = tokens[index][0]
        if text == "[":  # an attribute
            index = end_of_brackets(tokens, index)
        elif text == "template" and tokens[index + 1][0] == "<":
            index = end_of_angles(tokens, index + 1)
        elif text == "requires":
            index = end_of_constraint(tokens, index + 1)
        else:
            break
    texts = [text for text, _ in tokens[index:]]
    if not texts or texts[0] in ("static_assert", ";", "template", "namespace") or texts[:2] in (["using", "namespace"], ["using", "enum"]):
        return None
    if texts[0] == "using":
        return texts[1] if texts[2] in ("=", "[") else texts[texts.index(";") - 1]
    if texts[0] == "typedef":
        return texts[texts.index(";") - 1]
    if texts[0] == "concept":
        return texts[1]
    if texts[0] in ("struct", "class", "union", "enum"):
        position = 1
        while texts[position] in ("class", "struct", "[", "alignas", "("):
            position = end_of_brackets(tokens[index:], position) if texts[position] in "[(" else position + 1
        return texts[position] if texts[position + 1] in ("{", ";", ":", "final") else None
    if any(text.startswith("operator") for text in texts[: texts.index("(")]) if "(" in texts else False:
        return None
    position = 0
    while texts[position] not in ("(", "=", "{", ";", "["):
        if texts[position] == "<":
            position = end_of_angles(tokens[index:], position)
        elif texts[position] in no_names and texts[position + 1] == "(":
            position = end_of_brackets(tokens[index:], position + 1)
        else:
            position += 1
    name = texts[position - 1] if position else ""
    if not word.match(name) or (position > 1 and texts[position - 2] == "::"):
        return None
    if texts[position] == "(" and (position == 1 or (position == 2 and texts[0] == "explicit")):
        return None  # a deduction guide, or a macro
    return name


def pieces_of(source):
    """Returns opened namespaces, and (space, tokens) of each declaration, in order."""
    tokens = []
    for number, line in enumerate(code_of(source).split("\n"), 1):
        tokens += [(found[0], number) for found in token.finditer(line)]
    spaces, index = [], 0
    while index < len(tokens):
        text, line = tokens[index]
        if text == "}":
            if not spaces:
                raise ValueError(f"line {line}: }} without its beginning")
            spaces.pop()
            index += 1
            continue
        ahead = [t for t, _ in tokens[index : index + 40]]
        names = ahead[1:] if ahead[0] == "inline" else ahead
        if names[0] == "namespace" and "{" in names and ("=" not in names or names.index("{") < names.index("=")):
            end = names.index("{")
            spaces.append("".join(names[1:end]))
            yield opened("::".join(filter(None, spaces)), line)
            index += end + 1 + (ahead[0] == "inline")
            continue
        if ahead[0] == "extern" and ahead[2:3] == ["{"]:
            spaces.append("")
            index += 3
            continue
        if re.match(r"REDCO_[A-Z_]*$", ahead[0]) and ahead[1] == "(":  # a macro of explicit instantiations
            index = end_of_brackets(tokens, index + 1)
            continue
        end = end_of_declaration(tokens, index)
        yield "::".join(filter(None, spaces)), tokens[index:end]
        index = end
    if spaces:
        raise ValueError(f"namespace {spaces[-1]} without its end")


def declarations_of(source):
    """Opened namespaces and declarations of a header at namespace scope."""
    for piece in pieces_of(source):
        if isinstance(piece, opened):
            yield piece
            continue
        space, tokens = piece
        if name := name_in(tokens):
            yield declaration(space, tokens[0][1], tokens[-1][1], name)


def read(file, source):
    try:
        return list(declarations_of(source))
    except (ValueError, IndexError) as error:
        sys.exit(f"{file}: {error}; tests/build/names.py cannot read this header")


def has_sentence(block):
    """True if a comment has at least three words outside of code."""
    return len(re.findall(r"[A-Za-z]{2,}", re.sub(r"```.*?```", "", " ".join(block.lines), flags=re.S))) >= 3


def public_names(headers):
    """Returns the names declared directly in namespace redco: a list of (file, line, has a comment)
    per name."""
    found = {}
    for file, source in headers.items():
        commented = {block.line + len(block.lines): block for block in blocks_of(source) if block.kind == "///"}
        trailing = {block.line: block for block in blocks_of(source) if block.kind == "///<"}
        for one in read(file, source):
            if isinstance(one, declaration) and one.space == "redco":
                block = commented.get(one.line) or trailing.get(one.line) or trailing.get(one.last_line)
                found.setdefault(one.name, []).append((file, one.line, block is not None and has_sentence(block)))
    return found


def foreign_namespaces(headers, rooms):
    """(file, line, words) of each namespace that a header of that folder does not open."""
    owners = {namespace_of_room.get(room, room): room for room in rooms}
    for file, source in headers.items():
        own = file.split("/")[0] if "/" in file else ""
        for one in read(file, source):
            parts = one.space.split("::")
            if not isinstance(one, opened) or parts[0] != "redco" or len(parts) < 2:
                continue
            if parts[1] == "detail":
                yield file, one.line, f"opens {one.space}; details live in redco::ROOM::detail"
            elif parts[1] in namespace_of_room:
                yield file, one.line, f"opens {one.space}; the namespace of the room {parts[1]} is {namespace_of_room[parts[1]]}"
            elif parts[1] in owners and owners[parts[1]] != own:
                yield file, one.line, f"opens {one.space}, the namespace of the room {owners[parts[1]]}"


def problems_of(headers, rooms, listed, has_example):
    """Lines of text, one per name or namespace that breaks a rule."""
    names = public_names(headers)
    for name in sorted(names.keys() - set(listed)):
        file, line, _ = names[name][0]
        yield f"{file}:{line}: {name} is in namespace redco and not in docs/reference/names.txt; move it into its room's namespace"
    for name in sorted(set(listed) - names.keys()):
        yield f"docs/reference/names.txt: no header declares {name} in namespace redco"
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        yield f"docs/reference/names.txt: lists {name} twice"
    if len(names) > most_names:
        yield f"{len(names)} names in namespace redco, at most {most_names}"
    for name in sorted(names.keys() & set(listed)):
        file, line, _ = names[name][0]
        if not any(commented for _, _, commented in names[name]):
            yield f"{file}:{line}: {name} has no /// comment"
        if not has_example(name):
            yield f"{file}:{line}: no page, example program or test shows redco::{name}"
    for file, line, words in foreign_namespaces(headers, rooms):
        yield f"{file}:{line}: {words}"


def headers_of(root):
    folder = root / "include/redco"
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(folder.rglob("*.hpp"))}


def check(root):
    headers, texts = headers_of(root), examples_of(root)
    rooms = sorted(path.name for path in (root / "include/redco").iterdir() if path.is_dir())
    listed = [name for _, names in names_of(root) for name in names]
    problems = list(problems_of(headers, rooms, listed, lambda name: example_of(name, texts) is not None))
    print(*problems, sep="\n")
    print(f"names: {len(problems)} problems in {len(public_names(headers))} names of namespace redco and {len(headers)} headers")
    return not problems


def check_planted():
    """Each rule finds its mistake, and nothing in text that only looks like one."""
    good = """
#include <redco/a.hpp>
namespace redco::layers {
template <class T>
struct helper {};
namespace detail { int hidden(); }
}  // namespace redco::layers

namespace redco {
template <class L>
struct module;
class error;

/// A layer of some width.
template <auto Width, class... Traits>
  requires(Width > 0) && layers::wide<Width, (1 < 2)>
struct linear final : layers::helper<int> {
  int private_one = 0;
  friend linear operator+(linear const&, linear const&) { return {}; }
};

/// An exception of the library.
class [[nodiscard]] error : public std::runtime_error {
  error() : a_{1}, b_(2) {}
};

/// Returns a loss; namespace detail { is text.
template <class T>
[[nodiscard]] inline std::function<void(T)> loss(T const& x = {}, char const* s = "};") requires requires(T t) { t.a; } { return {"}"}; }

struct none {};  ///< An empty struct for models
inline constexpr int count = [](int a) { return a; }(1'000);  ///< Number of things in a box
/// Type of all layers.
template <class L>
concept layer = requires(L const& l) { { l.a } -> std::same_as<int>; };
/// A kind of number.
enum class kind : std::uint8_t { one, two };
/// The usual linear layer.
using usual = linear<1>;
template <>
struct linear<2> {};
template <class L>
struct module<linear<L>> {};
template <>
inline constexpr bool layers::enabled<kind> = true;
template <class T>
linear(T) -> linear<1>;
/// Returns the number of slots.
template <class T = int, auto Less = [](int a) { return a; }>
int slots(T const& t) requires(requires { t.a(); } || requires { t.b; }) {
  return 1;
}
inline error::error(int a) : a_{a}, b_(a) { go(); }
inline bool operator==(kind a, kind b) { return a < b; }
static_assert(sizeof(kind) == 1);
}  // namespace redco
"""
    listed = ["linear", "error", "loss", "none", "count", "layer", "kind", "usual", "slots", "module"]
    module = "namespace redco {\n/// Code of a layer type.\ntemplate <class L>\nstruct module;\n}\n"
    rooms = ["layer", "nn", "report"]
    mistakes = {
        "hidden is in namespace redco and not in": ({"nn/a.hpp": "namespace redco {\ninline int hidden(int a) { return a; }\n}\n"}, [], ""),
        "second is in namespace redco and not in": ({"nn/a.hpp": "namespace redco {\nusing layers::second;\n}\n"}, [], ""),
        "no header declares absent": ({}, ["absent"], ""),
        "lists loss twice": ({}, ["loss"], ""),
        "bare has no /// comment": ({"nn/a.hpp": "namespace redco {\n// A plain comment of a type.\nstruct bare {};\n}\n"}, ["bare"], ""),
        "shows redco::none": ({}, [], "none"),
        "131 names in namespace redco": (
            {"nn/a.hpp": "namespace redco {\n" + "".join(f"/// Number with an index.\nint n{i}();\n" for i in range(121)) + "}\n"},
            [f"n{i}" for i in range(121)], ""),
        "opens redco::layers, the namespace of the room layer": ({"nn/a.hpp": "namespace redco::layers {\n}\n"}, [], ""),
        "opens redco::report::detail, the namespace of the room report": (
            {"nn/a.hpp": "namespace redco {\nnamespace report::detail {\n}\n}\n"}, [], ""),
        "the namespace of the room layer is layers": ({"layer/b.hpp": "namespace redco::layer {\n}\n"}, [], ""),
        "opens redco::detail;": ({"nn/a.hpp": "namespace redco::detail {\n}\n"}, [], ""),
    }
    base = {"layer/a.hpp": good, "nn/module.hpp": module}
    failed = [f"in allowed text: {found}" for found in problems_of(base, rooms, listed, lambda _: True)]
    for words, (headers, more, unshown) in mistakes.items():
        found = list(problems_of(base | headers, rooms, listed + more, lambda name: name != unshown))
        if len(found) != 1 or words not in found[0]:
            failed.append(f"{words}: {found}")
    print(*failed, sep="\n")
    print(f"names: {len(mistakes)} planted mistakes, {len(failed)} rules wrong")
    return not failed


def print_declared(root):
    for name, ones in sorted(public_names(headers_of(root)).items()):
        print(name, *(f"{file}:{line}" for file, line, _ in ones))
    return True


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    ways = {"--planted": check_planted, "--declared": lambda: print_declared(root)}
    sys.exit(0 if ways.get((sys.argv[2:] or [""])[0], lambda: check(root))() else 1)
