#!/usr/bin/env python3
"""Write HDF5 files of random shape, chunking, index, filters and element type, and what is in them.

    python make_files.py OUTDIR SEED COUNT

Each case is N.h5 with N.raw, the pixels of the frames that were written whole, one after another, little-endian, as
planescope shows them (64-bit integers as 32, 16-bit floats as 32). cases.json lists per file: dataset, frames,
detector, dtype, the frames that were written whole, and, unless they are many, where
the HDF5 library finds the chunks: [offset, length, filter mask].
"""
import ctypes
import json
import sys
from pathlib import Path

import h5py
import hdf5plugin
import numpy as np

LIBVERS = ("earliest", "v108", "v110", "v112", "v200", "latest")
DTYPES = ("u1", "<u2", "<u4", "i1", "<i2", "<i4", ">u2", ">u4", ">i2", "<f4", "<f8", ">f4", "<f2", "<u8", "<i8", "?")
# h5py stores bool as an enumeration of i1.
SHOWN = {"u8": "u4", "i8": "i4", "f2": "f4", "b1": "i1"}
LIBRARY = ctypes.CDLL(str(sorted((Path(h5py.__file__).resolve().parent.parent / "h5py.libs").glob("libhdf5-*"))[0]))


FEW_CHUNKS = 200


def filters(rng, itemsize):
    """Arguments of create_dataset, at random."""
    bitshuffle = dict(nelems=int(rng.choice([0, 0, 8, 64, 1024])), cname=str(rng.choice(["lz4", "lz4", "zstd", "none"])))
    level = int(rng.integers(1, 10))
    gzip = dict(compression="gzip", compression_opts=level, shuffle=bool(rng.integers(2)))
    lzf = dict(compression="lzf", shuffle=bool(rng.integers(2)))
    choices = [
        {}, dict(hdf5plugin.Bitshuffle(**bitshuffle)), dict(hdf5plugin.Bitshuffle(**bitshuffle)), gzip, lzf,
        dict(hdf5plugin.LZ4(nbytes=int(rng.choice([0, 64, 1000])))), dict(hdf5plugin.Zstd(clevel=level)),
        dict(shuffle=True),
        dict(hdf5plugin.Blosc(cname=str(rng.choice(["blosclz", "lz4", "lz4hc", "zlib", "zstd"])), clevel=level,
                              shuffle=int(rng.integers(3)))),
    ]
    chosen = choices[rng.integers(len(choices))]
    if rng.integers(4) == 0:
        chosen["fletcher32"] = True
    return chosen


def space(rng):
    """Shape, chunks and largest shape, at random; frames of a few pixels, few enough to be quick."""
    rank = int(rng.choice([2, 3, 3, 3, 4, 4, 5]))
    frames = {2: [], 3: [rng.integers(1, 60)], 4: rng.integers(1, 9, 2), 5: rng.integers(1, 5, 3)}[rank]
    shape = [int(n) for n in (*frames, *rng.integers(1, 34, 2))]
    if rng.integers(8) == 0 and rank == 3:
        shape = [int(rng.integers(1000, 4000)), *(int(n) for n in rng.integers(1, 5, 2))]
    chunks = []
    for axis, length in enumerate(shape):
        is_frame_axis = axis < rank - 2
        whole = rng.integers(3) > 0 if not is_frame_axis else rng.integers(4) == 0
        one = is_frame_axis and rng.integers(2) == 0
        chunks.append(length if whole else 1 if one else int(rng.integers(1, length + 1)))
    if rank == 5:
        chunks[:2] = [1, 1]
        # A last axis of one is left out of five.
        shape[-1] += shape[-1] == 1
    if rank == 3 and shape[0] >= 1000:
        chunks[0] = int(rng.choice([1, 1, 2]))
    largest = []
    for length in shape:
        largest.append(None if rng.integers(4) == 0 else length + int(rng.integers(0, 40)) if rng.integers(6) == 0 else length)
    return shape, chunks, largest


def pixels(rng, shape, dtype):
    kind = np.dtype(dtype).kind
    values = rng.poisson(rng.choice([0.05, 2.0, 90.0]), shape)
    if kind == "f":
        return (values * 0.37 - 1).astype(dtype)
    if kind == "b":
        return values > 1
    if rng.integers(3) == 0:
        values[rng.random(shape) < 0.01] = 100
    return (values - (kind == "i")).astype(dtype)


def create(group, name, rng, shape, chunks, largest, dtype):
    """A dataset of random layout, and what of it will be written (None: all)."""
    layout = rng.integers(12)
    if layout < 2:
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        is_small = np.prod(shape) * np.dtype(dtype).itemsize < 60000
        dcpl.set_layout(h5py.h5d.COMPACT if layout == 0 and is_small else h5py.h5d.CONTIGUOUS)
        tid = h5py.h5t.py_create(np.dtype(dtype), logical=True)
        return h5py.Dataset(h5py.h5d.create(group.id, name.encode(), tid, h5py.h5s.create_simple(tuple(shape)), dcpl))
    arguments = filters(rng, np.dtype(dtype).itemsize)
    if layout == 2 and not any(n is None for n in largest):
        arguments = {}
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(tuple(chunks))
        dcpl.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        tid = h5py.h5t.py_create(np.dtype(dtype), logical=True)
        plane = h5py.h5s.create_simple(tuple(shape), tuple(n if n is not None else h5py.h5s.UNLIMITED for n in largest))
        return h5py.Dataset(h5py.h5d.create(group.id, name.encode(), tid, plane, dcpl))
    if layout == 3:
        # Chunks at the edge stored raw (H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS).
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(tuple(chunks))
        dcpl.set_deflate(3)
        if LIBRARY.H5Pset_chunk_opts(ctypes.c_int64(dcpl.id), ctypes.c_uint(2)) < 0:
            raise RuntimeError("H5Pset_chunk_opts failed")
        tid = h5py.h5t.py_create(np.dtype(dtype), logical=True)
        plane = h5py.h5s.create_simple(tuple(shape))
        return h5py.Dataset(h5py.h5d.create(group.id, name.encode(), tid, plane, dcpl))
    return group.create_dataset(name, shape, dtype, chunks=tuple(chunks), maxshape=tuple(largest), **arguments)


def write(path, rng):
    """One file; gives its entry of cases.json and the pixels."""
    shape, chunks, largest = space(rng)
    dtype = str(rng.choice(DTYPES))
    values = pixels(rng, shape, dtype)
    rank, frames = len(shape), int(np.prod(shape[:-2]))
    name = "entry/data/data" if rank == 2 else str(rng.choice(["entry/data/data", "data", "a/b/c/stack", "Experiments/x/data"]))
    options = dict(libver=str(rng.choice(LIBVERS)), userblock_size=int(rng.choice([0, 0, 0, 512, 2048])))
    with h5py.File(path, "w", **options) as file:
        for i in range(int(rng.choice([0, 0, 3, 40]))):
            file.create_group(f"other_{i:03}")
        dataset = create(file.require_group(name.rsplit("/", 1)[0]) if "/" in name else file, name.rsplit("/", 1)[-1],
                         rng, shape, chunks, largest, dtype)
        # Sometimes only the later frames are written: where room is made late, whole chunks of frames stay absent.
        first = int(rng.integers(0, shape[0])) if rank == 3 and rng.integers(4) == 0 else 0
        is_late = dataset.id.get_create_plist().get_alloc_time() == h5py.h5d.ALLOC_TIME_INCR
        if first:
            dataset[first:] = values[first:]
            values[:first] = 0
        else:
            dataset[...] = values
        file.flush()
        edges = dataset.chunks
        # Without the chunks' places, which HDF5 2.0 gives wrongly for fixed arrays. Each question walks the whole index.
        count = dataset.id.get_num_chunks() if edges else 0
        infos = [dataset.id.get_chunk_info(i) for i in range(count)] if count <= FEW_CHUNKS else None
    written = list(range(frames))
    if first and is_late and edges:
        written = [frame for frame in written if (frame // edges[0] + 1) * edges[0] > first]
    plain = np.dtype(dtype).newbyteorder("<")
    shown = np.dtype(SHOWN.get(plain.str[1:], plain.str[1:])).newbyteorder("<")
    flat = values.reshape(-1, *shape[-2:])[written].astype(shown)
    entry = {
        "dataset": "/" + name, "shape": shape, "chunks": list(edges) if edges else None, "dtype": shown.name, "options": options,
        "written": written, "detector": shape[-2:], "frames": frames,
        "list": sorted([int(info.byte_offset), int(info.size), int(info.filter_mask)] for info in infos) if infos is not None
        else None,
    }
    return entry, flat.tobytes()


def main():
    out, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    cases = {}
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        name = f"{number:04}"
        cases[name], raw = write(out / f"{name}.h5", rng)
        (out / f"{name}.raw").write_bytes(raw)
    (out / "cases.json").write_text(json.dumps(cases))


if __name__ == "__main__":
    main()
