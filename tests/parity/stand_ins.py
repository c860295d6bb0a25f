#!/usr/bin/env python3
"""Lets a virtual environment import the torch of a libtorch wheel without its CUDA libraries.

    ENVIRONMENT/bin/python stand_ins.py WHEEL    WHEEL: folder with torch/ and nvidia/, .deps/python

The wheel is built for CUDA: the loader needs NVIDIA's libraries and their symbols, of which a CPU
calls none. Writes a library into ENVIRONMENT/stand-ins for each missing one, whose functions trap.
Also writes a .pth file that loads these libraries and finds the wheel.
"""
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

wheel = Path(sys.argv[1]).resolve()
folder = Path(sys.prefix) / "stand-ins"
libraries = [*wheel.glob("torch/lib/*.so*"), *wheel.glob("nvidia/*/lib/*.so*")]


def printed(*command):
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout


needed, wanted, defined = set(), set(), set()
for library in libraries:
    if library.parent.parent.name == "torch":
        needed |= set(re.findall(r"NEEDED.*\[(lib(?:cu|nccl|nvshmem).*)\]", printed("readelf", "-d", library)))
    for line in printed("nm", "-D", library).splitlines():
        kind, symbol = line.split()[-2:]
        (wanted if kind == "U" else defined).add(symbol)
defined = {symbol.partition("@")[0] for symbol in defined}
versions = {}  # version of a library's symbols, empty for none -> the symbols
for symbol, _, version in sorted(symbol.partition("@") for symbol in wanted):
    if re.match("cu|nccl|nvshmem", symbol) and symbol not in defined:
        versions.setdefault(version, []).append(symbol)

folder.mkdir(exist_ok=True)
for old in folder.iterdir():
    old.unlink()
# The driver is loaded only when it is used
for name in sorted(needed - {library.name for library in libraries} - {"libcuda.so.1"}):
    version = "NVSHMEM" if "nvshmem" in name else name
    own, loose = versions.get(version, []), versions.pop("", [])
    (folder / "source.c").write_text("".join(f"void {symbol}(void) {{ __builtin_trap(); }}\n" for symbol in own + loose))
    (folder / "symbols").write_text(f"{version} {{ global: {' '.join(f'{symbol};' for symbol in own)} }};" if own else "")
    printed("gcc", "-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{name}", *([f"-Wl,--version-script={folder}/symbols"] if own else []),
            "-o", folder / name, folder / "source.c")
Path(sysconfig.get_path("purelib"), "redco.pth").write_text(
    f"{wheel}\nimport ctypes, glob; list(map(ctypes.CDLL, glob.glob('{folder}/*.so.*')))\n")
