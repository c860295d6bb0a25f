#!/usr/bin/env python3
"""Makes the API reference: a page per name of names.txt, from Doxygen's XML of the headers' `///`
comments.

  make_reference.py ROOT XML OUT     writes OUT/index.md and OUT/NAME.md; prints each name without a
                                     declaration, a sentence or an example, and ends with 1 if there
                                     is one

A page has the header, the declaration, the comment, members or parameters, errors, and an example
from a page, an example program or a test, all of which are compiled.
"""

import html
import pathlib
import re
import sys
import textwrap
import xml.etree.ElementTree as tree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/build"))
from pages import block  # noqa: E402


def text_of(element):
    """Markdown of a description."""
    if element is None:
        return ""
    if element.tag == "computeroutput":
        return "`" + "".join(element.itertext()) + "`"
    if element.tag in ("verbatim", "programlisting", "preformatted"):
        lines = element.findall("codeline") or [element]
        return "\n\n```cpp\n" + textwrap.dedent("\n".join(code_of(line).rstrip() for line in lines)).strip("\n") + "\n```\n\n"
    if element.tag in ("ndash", "mdash"):
        return "--" if element.tag == "ndash" else "---"
    parts = [html.escape(element.text or "", quote=False)]
    for child in element:
        inner = text_of(child)
        if child.tag == "listitem":
            inner = "\n- " + inner.strip()
        elif child.tag == "para":
            inner = inner.strip() + "\n\n"
        parts += [inner, html.escape(child.tail or "", quote=False)]
    return "".join(parts)


def code_of(element):
    """Text of a line of code, in which Doxygen writes spaces as elements."""
    return (" " if element.tag == "sp" else element.text or "") + "".join(code_of(c) + (c.tail or "") for c in element)


def tidy(text):
    """Markdown without spaces at line ends, indentation of prose, and more than one empty line."""
    fenced, lines = False, []
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        lines.append(line.rstrip() if fenced else line.strip())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def plain(element):
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


class declaration:
    """A class, concept, function, alias, enumeration or variable of namespace redco."""

    def __init__(self, element):
        self.kind = element.get("kind")
        self.name = plain(element.find("name") if element.find("name") is not None else element.find("compoundname")).removeprefix("redco::")
        location = element.find("location")
        self.file = location.get("declfile") or location.get("file")
        self.words = tidy(text_of(element.find("briefdescription")) + "\n\n" + text_of(element.find("detaileddescription")))
        self.members = []
        template = element.find("templateparamlist")
        self.template = ""
        if template is not None:
            arguments = []
            for one in template.findall("param"):
                name, default = plain(one.find("declname")), plain(one.find("defval"))
                arguments.append(" ".join(filter(None, (plain(one.find("type")), name))) + (f" = {default}" if default else ""))
            self.template = "template <" + ", ".join(arguments) + ">\n"
        if self.kind in ("class", "struct"):
            self.text = f"{self.template}{self.kind} {self.name};"
            for section in element.findall("sectiondef"):
                if section.get("kind", "").startswith("public"):
                    self.members += [declaration(m) for m in section.findall("memberdef") if m.get("prot") == "public"]
        elif self.kind == "function":
            kind = plain(element.find("type"))
            self.text = f"{self.template}{(kind + ' ') if kind else ''}{self.name}{plain(element.find('argsstring'))};"
        elif self.kind == "typedef":
            self.text = f"{self.template}using {self.name} = {plain(element.find('type'))};"
        elif self.kind == "enum":
            values = [plain(v.find("name")) for v in element.findall("enumvalue")]
            self.text = f"enum class {self.name} {{ {', '.join(values)} }};"
            self.members = [declaration_of_value(v, self.file) for v in element.findall("enumvalue")]
        elif self.kind == "concept":
            self.text = f"{self.template}concept {self.name} = {plain(element.find('initializer')).split('=', 1)[-1].strip()};"
        else:
            self.text = f"{self.template}{plain(element.find('type'))} {self.name}{' ' + plain(element.find('initializer')) if element.find('initializer') is not None else ''};"
        self.deleted = "=delete" in plain(element.find("argsstring")).replace(" ", "")


def declaration_of_value(element, file):
    value = object.__new__(declaration)
    value.kind, value.name, value.file, value.template, value.members, value.deleted = "value", plain(element.find("name")), file, "", [], False
    value.text = value.name
    value.words = tidy(text_of(element.find("briefdescription")) + "\n\n" + text_of(element.find("detaileddescription")))
    return value


def declarations_of(xml):
    found = {}
    for file in sorted(xml.glob("*.xml")):
        if not re.match(r"(class|struct|concept)redco_1_1(?!.*_1_1)|namespaceredco\.xml$", file.name):
            continue
        for compound in tree.parse(file).getroot().findall("compounddef"):
            items = [compound]
            if compound.get("kind") == "namespace":
                items = [m for section in compound.findall("sectiondef") for m in section.findall("memberdef")]
            for item in items:
                one = declaration(item)
                if "<" not in one.name and "/detail/" not in one.file:
                    found.setdefault(one.name, []).append(one)
    return found


def names_of(root):
    """Topics of names.txt, each a title and its names."""
    topics = []
    for line in (root / "docs/reference/names.txt").read_text().splitlines():
        if line.startswith("## "):
            topics.append((line[3:], []))
        elif line and not line.startswith("#"):
            topics[-1][1].extend(line.split())
    return topics


def examples_of(root):
    """Returns the texts in which examples are looked for, the most instructive first: pages,
    programs, tests."""
    texts = []
    for page in (root / "README.md", *sorted((root / "docs").glob("*.md"))):
        texts += [(page, found["code"]) for found in block.finditer(page.read_text())
                  if found["how"] and not found["how"].startswith("never")]
    for folder in ("examples", "tests/*"):
        texts += [(file, file.read_text()) for file in sorted(root.glob(f"{folder}/*.cpp"))]
    return texts


def example_of(name, texts):
    """Returns at most eight lines around the first use of a name, from the first line of the
    statement or block."""
    use = re.compile(rf"\bredco::{name}\b")
    plain_use = re.compile(rf"(?<![\w:.>\"]){name}\b(?=[<({{ ,>;])")
    for pattern, only in ((use, None), (plain_use, "examples"), (plain_use, "tests")):
        for file, text in texts:
            if only and only not in file.parts:
                continue
            lines = text.splitlines()
            for number, line in enumerate(lines):
                if not pattern.search(line) or line.lstrip().startswith(("//", "#", "*", "using")):
                    continue
                first = number
                indent = len(line) - len(line.lstrip())
                while first > 0 and number - first < 4 and lines[first - 1].strip() and \
                        len(lines[first]) - len(lines[first].lstrip()) > 2 and lines[first - 1].rstrip()[-1] not in "{;}":
                    first -= 1
                last = number + 1
                while last < len(lines) and last - first < 8 and lines[last - 1].rstrip()[-1:] not in (";", "}") and lines[last].strip():
                    last += 1
                shown = lines[first:last]
                margin = min((len(x) - len(x.lstrip()) for x in shown if x.strip()), default=indent)
                return file, "\n".join(x[margin:] for x in shown)
    return None


def errors_in(words):
    """Sentences of a comment that name errors."""
    return re.findall(r"(?:Throws|Errors?)[ :(][^.]*(?:\.(?!\s|$)[^.]*)*\.", re.sub(r"\s+", " ", words))


def member_rows(one):
    rows = []
    for member in one.members:
        if member.deleted or member.name.startswith("~") or member.name.startswith("operator") and member.name != "operator()" or \
                member.name == one.name and not member.words:
            continue
        rows.append(member)
    return rows


def page_of(name, ones, example, root):
    main = next((o for o in ones if o.words), ones[0])
    lines = [f"# {name}", "", f"`#include <{main.file}>`", ""]
    for one in ones:
        lines += ["```cpp", one.text, "```", ""]
        if one.words:
            lines += [one.words, ""]
    rows = [(member, one) for one in ones for member in member_rows(one)]
    if rows:
        lines += ["## Members", ""]
        for member, _ in rows:
            words = re.sub(r"\s*\n\s*", " ", re.sub(r"```cpp\n.*?```", "", member.words, flags=re.S)).strip()
            lines.append(f"- `{' '.join(member.text.split())}`" + (f"  \n  {words}" if words else ""))
        lines.append("")
    problems = [e for one in ones for e in errors_in(one.words)]
    problems += [f"`{member.name}`: {e}" for member, _ in rows for e in errors_in(member.words)]
    lines += ["## Errors", "", *([f"- {e}" for e in problems] or ["None of its own."]), ""]
    if example:
        file, code = example
        lines += ["## Example", "", f"From `{file.relative_to(root).as_posix()}`:", "", "```cpp", code, "```", ""]
    return "\n".join(lines)


def main():
    root, xml, out = (pathlib.Path(a) for a in sys.argv[1:4])
    found, texts, problems = declarations_of(xml), examples_of(root), []
    out.mkdir(parents=True, exist_ok=True)
    index = ["# Reference", "", "Names of namespace `redco` that a program writes, by topic.", ""]
    for title, names in names_of(root):
        index += [f"## {title}", "", "| name | |", "|---|---|"]
        for name in names:
            if name not in found:
                problems.append(f"{name}: no declaration in namespace redco")
                continue
            words = next((one.words for one in found[name] if one.words), "")
            example = example_of(name, texts)
            if not words:
                problems.append(f"{name} ({found[name][0].file}): no sentence")
            if not example:
                problems.append(f"{name}: no page, example or test uses redco::{name}")
            (out / f"{name}.md").write_text(page_of(name, found[name], example, root))
            first = re.split(r"(?<=\.)(?<!\bal\.)(?<!\d\.)\s", re.sub(r"\s+", " ", words), maxsplit=1)[0]
            index.append(f"| [`{name}`]({name}.md) | {first.replace('|', chr(92) + '|')} |")
        index.append("")
    (out / "index.md").write_text("\n".join(index))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
