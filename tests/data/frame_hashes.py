#!/usr/bin/env python3
"""Print, as JSON, the `weighted64` hash of every frame of HDF5 sets, read with h5py and its filters.

    python frame_hashes.py FIXTURES CASE ...     {case: [hash or null, ...]}, cases of the fixtures
    python frame_hashes.py --files FILE ...      {"files": [...]}, one set

Frames lie in the order of their `image_nr_low`, else of their links. A frame that is missing, or that the fixtures call
unreadable, is null. Signed values count as their 32 bits. Of channels the first one is read. A case with `probes` gives
only these: {frame: hash}.
"""

import json
import pathlib
import sys
import tempfile
import unicodedata

sys.path.insert(0, str(pathlib.Path(__file__).parent / "bench"))

import h5py
import hdf5plugin  # noqa: F401  (registers the filters)
import numpy as np

from expected import weighted64


def opened(path, length=None):
    """The file, also while a writer has it open, or cut short: then filled up to its `length` with zeros."""
    try:
        return h5py.File(path)
    except OSError:
        pass
    try:
        return h5py.File(path, swmr=True)
    except OSError:
        copy = pathlib.Path(tempfile.mkdtemp()) / path.name
        copy.write_bytes(path.read_bytes().ljust(length or 0, b"\0"))
        return h5py.File(copy)


def first_dataset(group):
    """The first dataset of frames in a file, at any depth."""
    found = []
    group.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) and item.ndim >= 3 else None)
    return found[0]


def base(name):
    return unicodedata.normalize("NFC", name.replace("\\", "/").split("/")[-1])


def links_of(files):
    """The master among the files and its links to data files, by name; none where there is no such master."""
    for path in files:
        with opened(path) as f:
            data = f.get("entry/data")
            links = [data.get(k, getlink=True) for k in sorted(data)] if isinstance(data, h5py.Group) else []
            links = [link for link in links if isinstance(link, h5py.ExternalLink)]
        if links:
            return path, links
    return None, []


def datasets(files, case):
    """The datasets of a set in order: those that the master links and that are there, else the only file's."""
    length = case.get("file_bytes_expected")
    if len(files) > 1:
        master, links = links_of(files)
        names = {base(path.name): path for path in files}
        there = [(names.get(base(link.filename)), link.path) for link in links]
        if links and not any(path for path, _ in there):
            # Renamed files follow one another as the links do.
            data = sorted(path for path in files if path != master)
            there = list(zip(data, [link.path for link in links]))
        if links:
            return [opened(path)[inside] for path, inside in there if path is not None], True
    master = next((path for path in files if "master" in path.name), files[-1])
    file = opened(master, length)
    return [file[case["dataset"]] if case.get("dataset") else first_dataset(file)], False


def frame(dataset, i, channel):
    if dataset.ndim == 2:
        return dataset[()]
    if dataset.ndim == 3:
        return dataset[i]
    return dataset[i, 0] if channel else dataset[i // dataset.shape[1], i % dataset.shape[1]]


def hashes_of(images):
    return [f"{int(value):016x}" for value in weighted64(images.astype(np.int64).astype(np.uint32))]


def hash_of(image):
    return hashes_of(image[None])[0]


def hashes(files, case):
    """The hash of every frame of one set; frames in the half-open ranges `unreadable_frames` are left alone."""
    found = {}
    start = 0
    channel = bool(case.get("channel"))
    # A case that may be refused or read is read whole.
    unreadable = [] if case.get("or_ok") else case.get("unreadable_frames", [])
    parts, is_linked = datasets(files, case)
    if case.get("probes"):
        return {str(probe["frame"]): hash_of(frame(parts[0], probe["frame"], channel)) for probe in case["probes"]}
    for dataset in parts:
        if is_linked:
            start = int(dataset.attrs.get("image_nr_low", start + 1)) - 1
        count = 1 if dataset.ndim == 2 else dataset.shape[0]
        if dataset.ndim == 4 and not channel:
            count *= dataset.shape[1]
        if dataset.ndim == 3 and not unreadable:
            for i in range(0, count, 1000):
                found.update(enumerate(hashes_of(dataset[i : i + 1000]), start + i))
            start += count
            continue
        for i in range(count):
            if not any(first <= start + i < end for first, end in unreadable):
                found[start + i] = hash_of(frame(dataset, i, channel))
        start += count
    return [found.get(i) for i in range(case["shape"][0] if case else max(found) + 1)]


def main():
    if sys.argv[1] == "--files":
        answers = {"files": hashes([pathlib.Path(name) for name in sys.argv[2:]], {})}
    else:
        folder = pathlib.Path(sys.argv[1])
        cases = json.loads((folder / "expected.json").read_text())["cases"]
        answers = {}
        for name in sys.argv[2:]:
            files = [folder / name / file for file in cases[name]["files"]]
            answers[name] = hashes(files, cases[name])
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
