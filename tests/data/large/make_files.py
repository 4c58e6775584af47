#!/usr/bin/env python3
"""Write acquisitions that are large in number and small in bytes, to time how long it takes to list them.

    python make_files.py OUTDIR

million/   1,048,576 frames of 96 x 96 u16 in 105 data files of 10,000, the last one partial. All chunks are one
           chunk's bytes; the full data files are one file under 104 names.
links/     a master that links 1,500 data files, of which 3 are there.
declared/  a dataset of 4,000,000 frames of 192 x 192 u16, of which two were written.
"""
import os
import sys
from pathlib import Path

import h5py
import numpy as np
from hdf5plugin import Bitshuffle

SIDE, PER_FILE, FRAMES = 96, 10_000, 1 << 20


def data_file(path, frames, chunk, per_chunk=1):
    with h5py.File(path, "w", libver="v108") as file:
        group = file.create_group("entry/data")
        data = group.create_dataset("data", (frames, SIDE, SIDE), "u2", chunks=(per_chunk, SIDE, SIDE),
                                    maxshape=(None, SIDE, SIDE), **Bitshuffle())
        for frame in range(frames):
            data.id.write_direct_chunk((frame, 0, 0), chunk)


def master(path, stem, links):
    with h5py.File(path, "w", libver="v108") as file:
        group = file.create_group("entry/data")
        for number in range(1, links + 1):
            group[f"data_{number:06d}"] = h5py.ExternalLink(f"{stem}_data_{number:06d}.h5", "/entry/data/data")
        specific = file.create_group("entry/instrument/detector/detectorSpecific")
        specific["nimages"], specific["ntrigger"] = np.uint64(1), np.uint64(FRAMES)


def one_chunk(folder):
    path = folder / "chunk.h5"
    frame = np.random.default_rng(1).poisson(0.4, (1, SIDE, SIDE)).astype("u2")
    with h5py.File(path, "w") as file:
        data = file.create_dataset("data", data=frame, chunks=frame.shape, **Bitshuffle())
        chunk = data.id.read_direct_chunk((0, 0, 0))[1]
    path.unlink()
    return chunk


def main():
    out = Path(sys.argv[1])
    for name in ("million", "links", "declared"):
        (out / name).mkdir(parents=True, exist_ok=True)
    chunk = one_chunk(out)
    folder = out / "million"
    files = -(-FRAMES // PER_FILE)
    name = "million_data_{:06d}.h5".format
    data_file(folder / name(1), PER_FILE, chunk)
    for number in range(2, files):
        (folder / name(number)).unlink(missing_ok=True)
        os.link(folder / name(1), folder / name(number))
    data_file(folder / name(files), FRAMES - (files - 1) * PER_FILE, chunk)
    master(folder / "million_master.h5", "million", files)
    folder = out / "links"
    for number in (1, 2, 700):
        data_file(folder / f"links_data_{number:06d}.h5", 20, chunk)
    master(folder / "links_master.h5", "links", 1500)
    with h5py.File(out / "declared/declared.h5", "w", libver="latest") as file:
        data = file.create_dataset("entry/data/data", (4_000_000, 192, 192), "u2", chunks=(1, 192, 192),
                                   maxshape=(None, 192, 192), **Bitshuffle())
        data[0] = data[3_999_999] = np.arange(192 * 192, dtype="u2").reshape(192, 192)


if __name__ == "__main__":
    main()
