#!/usr/bin/env python3
"""Checks the bytes that experts on two hosts exchange, by the kernel's counters of the link. With
--time, prints the time of a step with complete and with descended features (DCCA).

    experts.py --work FOLDER --program PROGRAM [--time] [--rate 1gbit]
"""
import argparse
import re
from pathlib import Path

import two_hosts

SECONDS = 120
RATIO = 0.25  # part of the features that DCCA sends


def sent_bytes(host, number):
    """Returns the bytes that a host has sent over the link since its start."""
    read = host.start(f"counter{number}", ["cat", "/proc/net/dev"])
    read.done(20)
    # Eight columns of received packets come first.
    return int(re.search(rf"link{number}:((?: +\d+){{9}})", read.text)[1].split()[8])


def steps_of(hosts, name, arguments):
    """Runs the program on both hosts. Returns what the first process prints, and the bytes that
    each host sent."""
    before = [sent_bytes(host, number) for number, host in enumerate(hosts.all, 1)]
    started = hosts.by_hand(name, 1, [options.program, "--mesh", "ep=2", "--dtype", "f32", "--threads", "1", "--quiet", *arguments])
    for one in started:
        one.done(SECONDS)
    found = re.search(r"planned (\d+) counted (\d+) seconds ([\d.e-]+)", started[0].text)
    assert found, started[0].text
    after = [sent_bytes(host, number) for number, host in enumerate(hosts.all, 1)]
    return int(found[1]), int(found[2]), float(found[3]), [b - a for a, b in zip(before, after)]


def check(hosts):
    """The kernel counts the planned bytes, and at most 6 % and 8 KiB per step for headers and other
    messages."""
    of = {}
    for dispatch in ("cdac", "dcca"):
        arguments = ["--dispatch", dispatch, "--steps"]
        few, many = steps_of(hosts, dispatch + "_few", [*arguments, 2]), steps_of(hosts, dispatch + "_many", [*arguments, 10])
        planned = few[0]
        assert planned == few[1] == many[1], f"{dispatch}: planned {planned}, counted {few[1]} and {many[1]}"
        by_kernel = [(b - a) / 8 for a, b in zip(few[3], many[3])]
        print(f"{dispatch}: planned {planned} bytes per step and direction of the link, the kernel counts",
              *(f"{one:.0f} ({one / planned - 1:+.2%})" for one in by_kernel), flush=True)
        for one in by_kernel:
            assert planned <= one <= 1.06 * planned + 8192, f"{dispatch}: planned {planned}, by the kernel {one}"
        of[dispatch] = planned, by_kernel
    # 2 k (ep - 1) / ep b s h elements of f32 in forward and in backward, with k = 2, ep = 2, b = 4,
    # s = 256 and h = 64
    assert of["cdac"][0] == 2 * (2 * 2 * 4 * 256 * 64 // 2) * 4, of
    assert of["dcca"][0] == RATIO * of["cdac"][0], of
    for few, many in zip(of["dcca"][1], of["cdac"][1]):
        assert abs(few / many - RATIO) < 0.03, f"DCCA sends {few / many:.3f} of CDAC's bytes"


def measure(hosts):
    arguments = ["--examples", 8, "--length", 512, "--steps", 15, "--dispatch"]
    planned, seconds = {}, {}
    for dispatch in ("cdac", "dcca", "cdac", "dcca"):
        bytes_of_step, _, median, _ = steps_of(hosts, dispatch, [*arguments, dispatch])
        planned[dispatch] = bytes_of_step
        seconds[dispatch] = min(median, seconds.get(dispatch, median))
    number, unit = re.fullmatch(r"(\d+)([mg])bit", options.rate).groups()
    per_second = int(number) * {"m": 1e6, "g": 1e9}[unit] / 8
    predicted, gain = (planned["cdac"] - planned["dcca"]) / per_second, seconds["cdac"] - seconds["dcca"]
    print(f"{options.rate}: CDAC {planned['cdac']} bytes, {1e3 * seconds['cdac']:.1f} ms per step; DCCA {planned['dcca']} bytes, "
          f"{1e3 * seconds['dcca']:.1f} ms; gain {1e3 * gain:.1f} ms, predicted by bytes {1e3 * predicted:.1f} ms ({gain / predicted:.0%})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=lambda name: Path(name).resolve(), required=True)
    parser.add_argument("--program", type=lambda name: Path(name).resolve(), required=True)
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--rate", default="1gbit")
    options = parser.parse_args()
    two_hosts.run(options.work, measure if options.time else check, options.rate)
