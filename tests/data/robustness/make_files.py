#!/usr/bin/env python3
"""Write the small files that tests/robustness.rs cuts and changes: every structure of the walker in a few kilobytes.

    python make_files.py OUTDIR            # needs ../fixtures/requirements.txt
"""
import sys
from pathlib import Path

import h5py
import numpy as np
from hdf5plugin import Bitshuffle

out = Path(sys.argv[1])
frames = np.arange(4 * 8 * 9, dtype="u2").reshape(4, 8, 9)

# Superblock 0, symbol tables, local heaps, version 1 B-trees; a group that holds itself, links in a circle.
with h5py.File(out / "old.h5", "w", libver="earliest") as f:
    d = f.create_dataset("entry/data/data", data=frames, chunks=(1, 8, 9), maxshape=(None, 8, 9), **Bitshuffle())
    d.attrs["image_nr_low"] = np.uint64(1)
    detector = f.create_group("entry/instrument/detector")
    detector["pixel_mask"] = np.eye(8, 9, dtype="u4")
    detector["description"] = "text of any length"
    f["itself"] = f["/"]
    f["circle"] = h5py.SoftLink("/circle")
    f.create_group("STEM Metadata").attrs["NumPixelsX"] = 2
    f["STEM Metadata"].attrs["NumPixelsY"] = 2

# Superblock 2, more links and attributes than fit into the header (fractal heaps, version 2 B-trees).
with h5py.File(out / "master.h5", "w", libver="v108") as f:
    data = f.create_group("entry/data")
    for k in range(1, 11):
        data[f"data_{k:06d}"] = h5py.ExternalLink("old.h5", "/entry/data/data")
    for k in range(10):
        data.attrs[f"attribute_{k}"] = k

# Superblock 3, the chunk indexes of layout 4, and a virtual dataset over them.
with h5py.File(out / "new.h5", "w", libver="latest") as f:
    layout = h5py.VirtualLayout((16, 8, 9), "u2")
    for i, (name, (shape, options)) in enumerate({
        "array": (frames.shape, dict(chunks=(1, 8, 9))),
        "endless": ((None, 8, 9), dict(chunks=(1, 4, 9), compression="gzip")),
        "tree": ((None, None, 9), dict(chunks=(2, 8, 5), compression="lzf", fletcher32=True)),
        "single": (frames.shape, dict(chunks=(4, 8, 9), shuffle=True, compression="gzip")),
    }.items()):
        f.create_dataset(name, data=frames, maxshape=shape, **options)
        layout[4 * i:4 * i + 4] = h5py.VirtualSource(".", name, frames.shape)
    f.create_virtual_dataset("entry/data/data", layout)
