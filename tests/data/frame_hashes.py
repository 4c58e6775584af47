#!/usr/bin/env python3
"""Print, as JSON, the `weighted64` hash of every frame of HDF5 sets, read with h5py and its bitshuffle filter.

    python frame_hashes.py FIXTURES CASE ...     {case: [hash or null, ...]}, cases of the fixtures
    python frame_hashes.py --files FILE ...      {"files": [...]}, one set

Frames lie in the order of their `image_nr_low`, else of their links. A frame that is missing, or that the fixtures call
unreadable, is null. Signed values count as their 32 bits.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "bench"))

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np

from expected import weighted64


def first_frames(group):
    """The first dataset of frames in a file, at any depth."""
    found = []
    group.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) and item.ndim == 3 else None)
    return found[0]


def datasets(files):
    """The datasets of a set in order: those that the master links and that are there, else the only file's."""
    names = {path.name: path for path in files}
    for path in files:
        with h5py.File(path) as f:
            data = f.get("entry/data")
            links = [data.get(k, getlink=True) for k in sorted(data)] if data is not None else []
            links = [link for link in links if isinstance(link, h5py.ExternalLink)]
        if links:
            there = [(names.get(link.filename.replace("\\", "/").split("/")[-1]), link.path) for link in links]
            return [(h5py.File(file), inside) for file, inside in there if file is not None]
    return [(h5py.File(files[-1]), None)]


def hashes(files, unreadable=()):
    """The hash of every frame of one set; frames in the half-open ranges `unreadable` are left alone."""
    found = {}
    start = 0
    for file, inside in datasets(files):
        dataset = file[inside] if inside else first_frames(file)
        start = int(dataset.attrs.get("image_nr_low", start + 1)) - 1
        for i in range(len(dataset)):
            if not any(first <= start + i < end for first, end in unreadable):
                found[start + i] = f"{int(weighted64(dataset[i][None].astype(np.uint32))[0]):016x}"
        start += len(dataset)
    return [found.get(i) for i in range(max(found) + 1)]


def main():
    if sys.argv[1] == "--files":
        answers = {"files": hashes([pathlib.Path(name) for name in sys.argv[2:]])}
    else:
        folder = pathlib.Path(sys.argv[1])
        cases = json.loads((folder / "expected.json").read_text())["cases"]
        answers = {}
        for name in sys.argv[2:]:
            files = [folder / name / file for file in cases[name]["files"]]
            answers[name] = hashes(files, cases[name]["unreadable_frames"])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
