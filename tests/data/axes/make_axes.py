#!/usr/bin/env python3
"""Write small HDF5 files whose axes stand in every order, and what must be read from each.

    python make_axes.py OUTDIR

OUTDIR/cases.json is a list of {file, more, path, axes, guess, frames, rows, cols, scan, sha256}: `file` and the files in
`more` are picked together; read in the order `axes`, the dataset gives the patterns whose little-endian bytes have that
SHA-256. `guess` is the order that has to be found without being told, where there is one. `chunks` is the number of
chunks where the file is chunked.
"""

import hashlib
import json
import pathlib
import sys

import h5py
import hdf5plugin
import numpy as np

LETTERS = {4: "rcyx", 3: "nyx", 2: "yx"}
ORDERS = {
    4: ["rcyx", "rcxy", "cryx", "crxy", "yxrc", "yxcr", "xyrc", "xycr", "rycx"],
    3: ["nyx", "nxy", "yxn", "xyn", "ynx", "xny"],
    2: ["yx", "xy"],
}
SHAPES = {4: (5, 7, 9, 11), 3: (13, 9, 11), 2: (9, 11)}
rng = np.random.default_rng(3)


def stored(canonical, letters, order):
    """The array whose axes stand in `order`."""
    return np.ascontiguousarray(canonical.transpose([letters.index(letter) for letter in order]))


def kinds(order, array):
    """Ways to store the array: name and arguments of create_dataset."""
    frame = tuple(side if letter in "yx" else 1 for letter, side in zip(order, array.shape))
    tile = tuple(min(side, part) for side, part in zip(array.shape, (3, 4, 5, 2)))
    slab = tuple(side if letter in "yx" else min(side, 2) for letter, side in zip(order, array.shape))
    return {
        "contiguous": {},
        "tiles": {"chunks": tile, "compression": "gzip", "shuffle": True},
        "slabs": {"chunks": slab, "compression": "gzip", "fletcher32": True},
        "frames": {"chunks": frame, **hdf5plugin.Bitshuffle(cname="lz4")},
    }


class Cases:
    def __init__(self, folder):
        self.folder = folder
        self.list = []

    def add(self, file, path, order, frames, scan=None, guess=None, more=(), chunks=None):
        frames = np.ascontiguousarray(frames)
        self.list.append(
            {
                "file": file,
                "more": list(more),
                "path": path,
                "axes": order,
                "guess": guess,
                "frames": len(frames),
                "rows": frames.shape[1],
                "cols": frames.shape[2],
                "scan": scan,
                "chunks": chunks,
                "sha256": hashlib.sha256(frames.tobytes()).hexdigest(),
            }
        )

    def every_order(self):
        for rank, letters in LETTERS.items():
            canonical = rng.integers(0, 60_000, SHAPES[rank]).astype("<u2")
            frames = canonical.reshape(-1, *canonical.shape[-2:])
            scan = list(canonical.shape[:2]) if rank == 4 else None
            for order in ORDERS[rank]:
                array = stored(canonical, letters, order)
                for kind, arguments in kinds(order, array).items():
                    name = f"{order}_{kind}.h5"
                    with h5py.File(self.folder / name, "w") as f:
                        dataset = f.create_dataset("stack", data=array, **arguments)
                        chunks = dataset.id.get_num_chunks() if dataset.chunks else None
                    self.add(name, "/stack", order, frames, scan, chunks=chunks)

    def other_types(self):
        for dtype in (">u4", "<i1", "<f8"):
            canonical = rng.integers(-50 if dtype == "<i1" else 0, 120, SHAPES[4]).astype(dtype)
            frames = canonical.reshape(-1, *canonical.shape[-2:]).astype(np.dtype(dtype).newbyteorder("<"))
            name = f"xycr_{dtype[1:]}.h5"
            with h5py.File(self.folder / name, "w") as f:
                f.create_dataset("stack", data=stored(canonical, "rcyx", "xycr"), chunks=(4, 4, 3, 5))
            self.add(name, "/stack", "xycr", frames, list(SHAPES[4][:2]))

    def channels(self):
        canonical = rng.integers(0, 99, (6, 2, 9, 11)).astype("<u2")
        for order in ("nkyx", "knyx"):
            name = f"{order}.h5"
            with h5py.File(self.folder / name, "w") as f:
                f.create_dataset("stack", data=stored(canonical, "nkyx", order))
            self.add(name, "/stack", order, canonical[:, 0])

    def over_several_files(self):
        canonical = rng.integers(0, 99, (12, 9, 11)).astype("<u2")
        array = stored(canonical, "nyx", "nxy")
        names = [f"turned_data_{i:06d}.h5" for i in (1, 2)]
        for name, part in zip(names, np.split(array, 2)):
            with h5py.File(self.folder / name, "w") as f:
                f.create_dataset("entry/data/data", data=part, chunks=(1, *part.shape[1:]), **hdf5plugin.Bitshuffle(cname="lz4"))
        with h5py.File(self.folder / "turned_master.h5", "w") as f:
            for i, name in enumerate(names):
                f[f"entry/data/data_{i + 1:06d}"] = h5py.ExternalLink(name, "/entry/data/data")
        self.add("turned_master.h5", None, "nxy", canonical, more=names)

        # A virtual dataset whose parts follow one another along its last axis.
        array = stored(canonical, "nyx", "yxn")
        layout = h5py.VirtualLayout(array.shape, array.dtype)
        parts = [f"virtual_{i}.h5" for i in (1, 2)]
        for i, name in enumerate(parts):
            with h5py.File(self.folder / name, "w") as f:
                f.create_dataset("part", data=array[:, :, 6 * i : 6 * i + 6], chunks=(3, 11, 4), compression="gzip")
            layout[:, :, 6 * i : 6 * i + 6] = h5py.VirtualSource(name, "part", (*array.shape[:2], 6))
        with h5py.File(self.folder / "virtual.h5", "w") as f:
            f.create_virtual_dataset("stack", layout)
        self.add("virtual.h5", "/stack", "yxn", canonical, more=parts)

    def known_writers(self):
        four = rng.integers(0, 99, (4, 6, 16, 16)).astype("<u2")
        frames = four.reshape(-1, 16, 16)
        three = rng.integers(0, 99, (10, 16, 16)).astype("<u2")

        def write(name, path, array, matlab=False, **arguments):
            with h5py.File(self.folder / name, "w", userblock_size=512 if matlab else 0) as f:
                dataset = f.create_dataset(path, data=array, **arguments)
                if matlab:
                    dataset.attrs["MATLAB_class"] = np.bytes_("uint16")

        write("matlab_4d.mat", "cube", stored(four, "rcyx", "xycr"), matlab=True)
        self.add("matlab_4d.mat", "/cube", "xycr", frames, [4, 6], guess="xycr")
        write("matlab_4d_detector_first.mat", "cube", stored(four, "rcyx", "crxy"), matlab=True, chunks=(1, 1, 16, 16))
        self.add("matlab_4d_detector_first.mat", "/cube", "crxy", frames, [4, 6], guess="crxy")
        write("matlab_3d.mat", "cube", stored(three, "nyx", "nxy"), matlab=True)
        self.add("matlab_3d.mat", "/cube", "nxy", three, guess="nxy")
        path = "4DSTEM_simulation/data/datacubes/CBED_array_depth0000/datacube"
        write("prismatic.h5", path, stored(four, "rcyx", "crxy"))
        self.add("prismatic.h5", f"/{path}", "crxy", frames, [4, 6], guess="crxy")
        path = "Data/Image/0123456789abcdef0123456789abcdef/Data"
        write("velox.emd", path, stored(three, "nyx", "yxn"), chunks=(16, 16, 1), compression="gzip")
        self.add("velox.emd", f"/{path}", "yxn", three, guess="yxn")
        write("frames_last.h5", "stack", stored(three, "nyx", "yxn"), chunks=(16, 16, 1))
        self.add("frames_last.h5", "/stack", "yxn", three, guess="yxn")
        write("detector_first.h5", "stack", stored(four, "rcyx", "yxrc"), chunks=(16, 16, 1, 1))
        self.add("detector_first.h5", "/stack", "yxrc", frames, [4, 6], guess="yxrc")

    def several(self):
        with h5py.File(self.folder / "several.h5", "w") as f:
            f["big/cube"] = np.zeros((3, 4, 8, 8), "<u2")
            f.create_dataset("big/dark", data=np.zeros((20, 8, 8), "<u2"), chunks=(5, 8, 8), compression="gzip", shuffle=True)
            f["big/mask"] = f["big/cube"]  # the same dataset under another name
            f["names"] = np.array([b"a", b"b"], "S4")
            f["label"] = "text"
            f["pairs"] = np.zeros((4, 4), [("a", "<u2"), ("b", "<u2")])
            f["five"] = np.zeros((1, 1, 1, 2, 2), "u1")
            f.create_dataset("bzip2", data=np.zeros((3, 4, 5), "<u2"), chunks=(1, 4, 5), **hdf5plugin.BZip2())


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    cases = Cases(folder)
    cases.every_order()
    cases.other_types()
    cases.channels()
    cases.over_several_files()
    cases.known_writers()
    cases.several()
    (folder / "cases.json").write_text(json.dumps(cases.list, indent=1))
    print(f"{len(cases.list)} cases in {folder}")


if __name__ == "__main__":
    main()
