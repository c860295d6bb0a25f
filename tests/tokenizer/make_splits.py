#!/usr/bin/env python3
"""Writes the words into which Hugging Face's `tokenizers` split texts, for every behavior of the
pre-tokenizer Split, and the ids of a Gemma tokenizer.

    python make_splits.py ../files/splits.json ../../../shared/cases/52-gemma-tokenizer-split

The second argument is a folder with texts.json and a folder gemma/ that holds a tokenizer.json.
Needs tokenizers 0.22.
"""
import json
import sys
from pathlib import Path

from tokenizers import Regex, Tokenizer, pre_tokenizers

TEXTS = ["two  spaces, 12345 x", " aCamelxxCase x ", "xx", "▁a▁▁b", "", "12.5\nNaïve 你好\n\n"]
PATTERNS = [" ", "▁", "", Regex(r"\s+"), Regex(r"\d{1,2}"), Regex("(?=[A-Z])"), Regex("x*"), Regex(r"[\r\n]|\p{P}"),
            Regex(r" ?\p{L}+|\s")]


def main():
    rows = []
    for pattern in PATTERNS:
        for behavior in "removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous":
            for invert in False, True:
                split = pre_tokenizers.Split(pattern, behavior, invert)
                rows.append({"pre_tokenizer": json.loads(split.__getstate__()),
                             "words": [[word for word, _ in split.pre_tokenize_str(text)] for text in TEXTS]})
    case = Path(sys.argv[2])
    gemma = Tokenizer.from_file(str(case / "gemma" / "tokenizer.json"))
    texts = [text for text in json.loads((case / "texts.json").read_text()) if "\0" not in text]
    ids = [{"text": text, "ids": gemma.encode(text).ids} for text in texts]
    Path(sys.argv[1]).write_text('{\n"texts": %s,\n"splits": [\n%s\n],\n"gemma": %s\n}\n' % (
        json.dumps(TEXTS), ",\n".join(json.dumps(row) for row in rows), json.dumps(ids)))


main()
