"""What the page has saved, read by numpy, or by a reader that was written from the format's specification.

usage: read_exports.py FILE...   prints JSON: by kind, the values and what else the file tells.
"""
import json
import re
import struct
import sys
from pathlib import Path

import numpy as np


def tiff(path):
    """Baseline TIFF 6.0, one strip: values, and the scale as ImageJ keeps it."""
    data = path.read_bytes()
    assert data[:4] == b"II*\0"
    (at,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<H", data, at)
    tags = {}
    for entry in range(count):
        tag, kind, n, value = struct.unpack_from("<HHII", data, at + 2 + 12 * entry)
        tags[tag] = (kind, n, value)
    assert list(tags) == sorted(tags), "tags stand in order"
    assert (tags[258][2], tags[259][2], tags[339][2]) == (32, 1, 3)
    cols, rows = tags[256][2], tags[257][2]
    start, length = tags[273][2], tags[279][2]
    values = np.frombuffer(data[start : start + length], "<f4").reshape(rows, cols)
    _, n, place = tags[270]
    description = data[place : place + n].rstrip(b"\0").decode()
    assert description.startswith("ImageJ=")
    numerator, denominator = struct.unpack_from("<II", data, tags[282][2])
    unit = re.search(r"^unit=(.*)$", description, re.M).group(1)
    return {"values": values.ravel().tolist(), "unit": unit, "px_per_unit": numerator / denominator}


found = {"png": {}}
for path in map(Path, sys.argv[1:]):
    kind = path.suffix[1:]
    if kind == "npy":
        found[kind] = {"values": np.load(path).ravel().tolist()}
    elif kind == "csv":
        found[kind] = {"values": np.loadtxt(path, delimiter=",").ravel().tolist()}
    elif kind == "raw":
        rows, cols, dtype = re.search(r"_(\d+)x(\d+)_(\w+)\.raw$", path.name).groups()
        found[kind] = {"values": np.fromfile(path, dtype).reshape(int(rows), int(cols)).ravel().tolist()}
    elif kind == "tif":
        found[kind] = tiff(path)
    elif kind == "png":
        data = path.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        found[kind]["_" + path.name.split("_", 1)[1]] = list(struct.unpack(">II", data[16:24]))


def whole(value):
    """JSON of a whole number has no point, whatever its type was; it has no NaN, which is null."""
    if value != value:
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


for kind in ("npy", "csv", "raw", "tif"):
    if kind in found:
        found[kind]["values"] = [whole(value) for value in found[kind]["values"]]
print(json.dumps(found))
