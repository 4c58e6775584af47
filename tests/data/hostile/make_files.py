#!/usr/bin/env python3
"""Write a set in which every second chunk was changed at random: what a decoder on any GPU has to bear.

    python make_files.py OUTDIR [--frames 20000] [--seed 1]

OUTDIR/hostile.h5 holds /entry/data/data, uint16 (frames, 192, 192), a bitshuffle-LZ4 chunk each. Chunks are those of
../bench/seed_frames.h5; the changed ones have odd numbers. What is right is what the codec of the CPU makes of them.
Needs h5py and numpy; the HDF5 plugin is not used.
"""
import argparse
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

import h5py
import numpy as np

from expand_acquisition import read_seed_file, BITSHUFFLE

arguments = argparse.ArgumentParser()
arguments.add_argument("out", type=Path)
arguments.add_argument("--frames", type=int, default=20_000)
arguments.add_argument("--seed", type=int, default=1)
arguments = arguments.parse_args()
rng = random.Random(arguments.seed)
sound, parameters, _ = read_seed_file(Path(__file__).resolve().parent.parent / "bench/seed_frames.h5")


def changed(chunk):
    """One to four places of `chunk` spoiled: bits, tokens, offsets, lengths; parts left out, doubled, cut off."""
    chunk = bytearray(chunk)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(chunk))
        kind = rng.randrange(8)
        if kind == 0:
            chunk[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            chunk[at] = rng.choice([0, 0xF0, 0x0F, 0xFF])
        elif kind == 2:
            chunk[at : at + 2] = rng.choice([b"\0\0", b"\xff\xff", b"\1\0"])[: len(chunk) - at]
        elif kind == 3:
            chunk[at % 16] = rng.randrange(256)
        elif kind == 4 and len(chunk) > 1:
            del chunk[max(at, 1) :]
        elif kind == 5:
            chunk[at:at] = chunk[at : at + rng.randrange(64)]
        elif kind == 6 and len(chunk) > 32:
            del chunk[at : at + 1 + rng.randrange(16)]
        else:
            chunk[at] = rng.randrange(256)
        chunk = chunk or bytearray(1)
    return bytes(chunk)


arguments.out.mkdir(parents=True, exist_ok=True)
if h5py.h5z.filter_avail(BITSHUFFLE):
    parameters = parameters[3:]  # the plugin itself puts version and element size in front
with h5py.File(arguments.out / "hostile.h5", "w", libver="v108") as f:
    d = f.create_group("entry/data").create_dataset(
        "data",
        shape=(arguments.frames, 192, 192),
        maxshape=(None, 192, 192),
        chunks=(1, 192, 192),
        dtype="u2",
        compression=BITSHUFFLE,
        compression_opts=parameters,
        allow_unknown_filter=True,
    )
    for i in range(arguments.frames):
        chunk = sound[i % len(sound)]
        d.id.write_direct_chunk((i, 0, 0), changed(chunk) if i % 2 else chunk)
