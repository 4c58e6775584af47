#!/usr/bin/env python3
"""Print, as JSON, what a viewer must show for a benchmark acquisition, position by position.

    python bench_answers.py NAME.expected.json SEED_FRAMES.h5

Everything is in scan order. A position that the acquisition did not reach is null. Sums leave out bad pixels; the
pattern (sum and max over all frames) has 0 there.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "bench"))

import numpy as np

import expected


def main():
    table = json.loads(pathlib.Path(sys.argv[1]).read_text())
    acquisition = table["acquisition"]
    index = expected.acquisition_map(table).ravel()
    reached = acquisition["frames"]
    place = lambda column: [column[k] for k in index[:reached]] + [None] * (len(index) - reached)
    names = ["sum", "sum_row", "sum_col", "bf", "adf", "max", "fnv1a64", "weighted64"]
    frames, mask, _ = expected.read_seed(sys.argv[2])
    good = (mask & expected.BAD) == 0
    used = np.bincount(index[:reached], minlength=len(frames))
    clean = np.where(good, frames, 0).astype(np.int64)
    answers = {name: place(table["frames"][name]) for name in names}
    answers |= {
        "scan": acquisition["scan"],
        "frames": reached,
        "detector": table["detector_shape"],
        "bad_pixels": len(table["bad_pixels"]),
        "digest": acquisition["totals"]["digest"],
        "detectors": table["detectors"],
        "pattern_sum": np.tensordot(used, clean, 1).ravel().tolist(),
        "pattern_max": clean[used > 0].max(axis=0).ravel().tolist(),
    }
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
