"""Checks the pictures that a recipe leaves in its workdir.

  pictures.py WORKDIR [NAME...]

Each NAME is an SVG file in a folder pictures/ below WORKDIR. The page report.html of the same run
must contain it. A picture named "confusion" counts examples in its cells: their sum is the
number in its second line, and the right ones are the stated share. A picture named "episode" has 6
to 12 frames: PNG files of one size, each different from its neighbours.
"""

import base64
import pathlib
import re
import struct
import sys
import zlib
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def pixels(png):
    """Returns the width, the height and the raw rows of a PNG file with 8 bits per channel."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n", "an image is no PNG file"
    place, data, head = 8, b"", None
    while place < len(png):
        size, kind = struct.unpack(">I4s", png[place : place + 8])
        body = png[place + 8 : place + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", png[place + 8 + size : place + 12 + size])[0], "a chunk is damaged"
        if kind == b"IHDR":
            head = struct.unpack(">IIBB", body[:10])
        if kind == b"IDAT":
            data += body
        place += 12 + size
    width, height, bits, colours = head
    assert bits == 8 and colours in (0, 2), "a frame is neither grey nor RGB"
    rows = zlib.decompress(data)
    assert len(rows) == height * (1 + width * (3 if colours == 2 else 1)), "a frame has too few pixels"
    return width, height, rows


def check_episode(picture):
    frames = [pixels(base64.b64decode(image.get("href").split("base64,")[1])) for image in picture.iter(SVG + "image")]
    assert 6 <= len(frames) <= 12, f"{len(frames)} frames"
    assert len({frame[:2] for frame in frames}) == 1, "frames of several sizes"
    for one, next_one in zip(frames, frames[1:]):
        assert one[2] != next_one[2], "two frames in a row are equal"


def check_confusion(picture):
    share, whole = re.match(r"([\d.]+)% of (\d+) right", "".join(picture.findall(SVG + "text")[1].itertext())).groups()
    cells = [re.match(r"(.*) predicted as (.*): (\d+), ", title.text).groups() for title in picture.iter(SVG + "title")]
    assert sum(int(count) for _, _, count in cells) == int(whole) > 0, "cells that do not sum to the whole"
    right = sum(int(count) for true, said, count in cells if true == said)
    assert abs(100 * right / int(whole) - float(share)) < 0.06, f"{right} of {whole} right, not {share}%"


def main(workdir, names):
    for name in names:
        files = list(pathlib.Path(workdir).glob(f"**/pictures/{name}.svg"))
        assert files, f"{workdir} has no picture {name}"
        for file in files:
            picture = ElementTree.parse(file).getroot()
            {"episode": check_episode, "confusion": check_confusion}[name](picture)
            page = (file.parents[1] / "report.html").read_text()
            assert f"{name}.svg" in page, f"{file.parents[1]}/report.html lacks {name}"


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
