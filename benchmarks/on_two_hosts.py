#!/usr/bin/env python3
"""Runs a program as two processes on two hosts, which are network namespaces of this machine joined
by a link. Prints the output of the first process.

    on_two_hosts.py [--rate 1gbit] PROGRAM ARGUMENTS...
"""
import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/hosts"))
import two_hosts

parser = argparse.ArgumentParser()
parser.add_argument("--rate", default="1gbit", help="rate of the link, in the notation of tc")
parser.add_argument("program", nargs=argparse.REMAINDER)
options = parser.parse_args()


def together(hosts):
    started = hosts.by_hand("process", 1, [Path(options.program[0]).resolve(), *options.program[1:]])
    codes = [one.end(3600) for one in started]
    print(started[0].text, end="")
    if any(codes):
        sys.exit(f"on_two_hosts: the processes ended with {codes}: {started[1].text}")


two_hosts.run(ROOT / "build/release/two_hosts", together, options.rate)
