#!/usr/bin/env python3
"""Puts together what MkDocs builds: the pages of docs/ and the API reference.

  make_site.py ROOT OUT     reads OUT/xml; writes OUT/mkdocs.yml and OUT/pages

Links to files outside of docs/ become their paths, since the site has no sources.
"""

import pathlib
import re
import shutil
import subprocess
import sys

root, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
docs, pages = root / "docs", out / "pages"
shutil.copytree(docs, pages, ignore=shutil.ignore_patterns("*.py", "*.yml", "reference"))
shutil.copy(docs / "site.yml", out / "mkdocs.yml")
subprocess.run([sys.executable, docs / "reference/make_reference.py", root, out / "xml", pages / "reference"], check=True)


def of_site(page, text):
    def link(found):
        words, target = found[1], found[2]
        path = target.partition("#")[0]
        if not path or ":" in path or (page.parent / path).resolve().is_relative_to(docs):
            return found[0]
        return f"{words} (`{(page.parent / path).resolve().relative_to(root).as_posix()}`)"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
    return "".join(p if p.startswith("```") else re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", link, p) for p in parts)


for page in docs.glob("*.md"):
    (pages / page.name).write_text(of_site(page, page.read_text()))
