#!/usr/bin/env python3
"""Writes tables of pictures with captions, tables with a mistake each, and a model folder that
describes pictures.

  tests/examples/make_pictures.py FOLDER PARITY    PARITY: tests/files/parity/vit-gpt2

A picture has a bright half, and its caption names the half. The model folder is PARITY with a
tokenizer, whose tokens are the printable bytes of ASCII.
"""

import json
import pathlib
import shutil
import struct
import sys
import zlib

HALVES = ("left", "right", "top", "bottom")


def colours(half, rows, columns, shade):
    """Returns the rows of a picture, three bytes per pixel."""
    def bright(row, column):
        return {"left": 2 * column < columns, "right": 2 * column >= columns, "top": 2 * row < rows,
                "bottom": 2 * row >= rows}[half]
    return [bytes(value for column in range(columns) for value in ((shade, 240, 200) if bright(row, column) else (20, shade, 30)))
            for row in range(rows)]


def ppm(rows):
    return b"P6 %d %d 255\n" % (len(rows[0]) // 3, len(rows)) + b"".join(rows)


def png(rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    size = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows)))
            + chunk(b"IEND", b""))


def write_model(folder, parity):
    folder.mkdir()
    for name in ("config.json", "generation_config.json", "model.safetensors"):
        shutil.copy(parity / name, folder)
    vocabulary = {"\u0120": 0} | {chr(code): code - 32 for code in range(33, 127)}
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    spaced = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None,
        "added_tokens": [{"id": 95, "content": "<pad>"} | special, {"id": 96, "content": "<end>"} | special],
        "pre_tokenizer": spaced, "decoder": spaced,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False, "merges": [], "vocab": vocabulary}}))


def main():
    root, parity = map(pathlib.Path, sys.argv[1:])
    (root / "seen").mkdir(parents=True)
    lines = ["image\tcaption"]
    for number in range(24):
        half, file = HALVES[number % 4], f"seen/{number}." + ("png" if number % 3 else "ppm")
        rows = colours(half, 20 + number, 30 + number % 5, 40 + 5 * number)
        (root / file).write_bytes(png(rows) if number % 3 else ppm(rows))
        lines.append(f"{file}\tlight at the {half}")
    (root / "good.tsv").write_text("\n".join(lines) + "\n")
    (root / "good.jsonl").write_text("".join(json.dumps({"path": file, "says": text}) + "\n"
                                             for file, text in (line.split("\t") for line in lines[1:9])))
    (root / "missing.tsv").write_text("\n".join([*lines[:3], "seen/no.png\tlight"]) + "\n")
    (root / "seen/cut.png").write_bytes((root / "seen/1.png").read_bytes()[:-20])
    (root / "truncated.tsv").write_text("\n".join([*lines[:2], "seen/cut.png\tlight"]) + "\n")
    (root / "seen/note.png").write_bytes(b"a note")
    (root / "magic.tsv").write_text("image\tcaption\nseen/note.png\tlight\n")
    (root / "columns.tsv").write_text("image\ttitle\nseen/1.png\tlight\n")
    (root / "empty.tsv").write_text("image\tcaption\n")
    write_model(root / "model", parity)


if __name__ == "__main__":
    main()
