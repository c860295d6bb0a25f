#!/usr/bin/env python3
"""Writes folders with the four files of MNIST: one with digits that are easy to learn, one for each
mistake that a folder can have.

  tests/examples/make_digits.py FOLDER
"""

import gzip
import pathlib
import random
import shutil
import struct
import sys

images, labels = "{}-images-idx3-ubyte", "{}-labels-idx1-ubyte"


def idx(shape, values, code=0x08):
    """Returns an IDX file of unsigned bytes."""
    return bytes([0, 0, code, len(shape)]) + b"".join(struct.pack(">i", size) for size in shape) + bytes(values)


def write(folder, part, count):
    """Writes `count` images. A digit is a bright bar, whose row is the digit's."""
    digits = [i * 7 % 10 for i in range(count)]
    pixels = bytearray(random.randrange(100) for _ in range(count * 28 * 28))
    for i, digit in enumerate(digits):
        for row in (2 * digit + 4, 2 * digit + 5):
            start = (i * 28 + row) * 28 + random.randrange(12)
            pixels[start:start + 16] = bytes([250] * 16)
    (folder / images.format(part)).write_bytes(idx((count, 28, 28), pixels))
    (folder / labels.format(part)).write_bytes(idx((count,), digits))


def main():
    random.seed(1)
    root = pathlib.Path(sys.argv[1])
    good = root / "good"
    good.mkdir(parents=True)
    write(good, "train", 300)
    write(good, "t10k", 60)
    train_images, train_labels, test_labels = images.format("train"), labels.format("train"), labels.format("t10k")
    seen, named, asked = ((good / name).read_bytes() for name in (train_images, train_labels, test_labels))
    wrong = {
        "magic": (train_images, b"\1\2" + seen[2:]),
        "type": (train_labels, idx((300,), [0] * 1200, code=0x0C)),
        "packed": (train_images, gzip.compress(seen)),
        "truncated": (train_images, seen[:-1]),
        "no_bytes": (train_labels, b""),
        "empty": (train_images, idx((0, 28, 28), b"")),
        "narrow": (train_images, idx((300, 28, 27), seen[16:16 + 300 * 28 * 27])),
        "swapped": (train_images, named),
        "fewer_labels": (train_labels, idx((299,), named[8:-1])),
        "label_over_9": (test_labels, asked[:15] + b"\x0a" + asked[16:]),
        "missing": (test_labels, None),
    }
    for name, (file, content) in wrong.items():
        shutil.copytree(good, root / name)
        (root / name / file).unlink()
        if content is not None:
            (root / name / file).write_bytes(content)
    (root / "few").mkdir()
    write(root / "few", "train", 5)
    write(root / "few", "t10k", 5)


if __name__ == "__main__":
    main()
