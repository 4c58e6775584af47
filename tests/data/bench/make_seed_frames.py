#!/usr/bin/env python3
"""Make the distinct frames of the benchmark: a small scan over a crystal phantom.

The frames form a coarse scan grid of GRID x GRID positions, each a 192 x 192 uint16 diffraction
pattern with Poisson counts, stored bitshuffle-LZ4, one frame per chunk. `expand_acquisition.py`
spreads them over a scan of any size. Needs h5py, hdf5plugin and numpy.

    python make_seed_frames.py seed_frames.h5 --frames 256 --preset seed

The phantom is a thin film with a hole and a few crystals, periodic in both scan directions.
It sets, at every scan position: the brightness of the direct disk (absorption), the strength of
the dark field and of the Bragg disks (thickness), and the position of the pattern (deflection,
the gradient of the thickness).
"""

import argparse
import dataclasses
import json
import math
import pathlib
import time

import h5py
import hdf5plugin
import numpy as np

import bslz4
import expected

DETECTOR = 192  # rows and columns of the detector, px
CENTRE = (96.0, 96.0)  # undeflected beam (row, column), px
STUCK = 65535  # value of a bad pixel, counts


@dataclasses.dataclass(frozen=True)
class Preset:
    """Illumination of one workload."""

    radius: float  # direct disk radius, px
    bright: float  # direct disk in vacuum, counts per px
    dark: float  # dark field at the disk edge, counts per px, where the thickness is 0.5
    tail: float  # half-width of the dark field, px
    bragg: float  # Bragg disk brightness, fraction of `bright`, thickest place
    bad_pixels: int = 0  # pixels stuck at 65535 and set in the pixel mask


PRESETS = {
    "seed": Preset(radius=4.4, bright=1440, dark=1.0, tail=30, bragg=0.008),
    "bright": Preset(radius=40, bright=21, dark=1.1, tail=35, bragg=0.06),
    "low": Preset(radius=40, bright=2.1, dark=0.1, tail=35, bragg=0.08),
}
# What the page shows on a machine without data: few counts, so that 1,024 frames fit in 3 MB.
PRESETS["demo"] = Preset(radius=16, bright=4, dark=0.04, tail=30, bragg=0.12)
PRESETS["badpix"] = dataclasses.replace(PRESETS["seed"], bad_pixels=20)

# Crystals: scan position (row, column), half axes and height as fractions of the scan and of the
# greatest thickness; lattice angle in radians.
CRYSTALS = [
    # row, col, half axes, height, angle
    (0.30, 0.28, 0.22, 0.16, 0.80, 0.20),
    (0.68, 0.24, 0.14, 0.18, 0.55, 0.95),
    (0.60, 0.66, 0.20, 0.22, 0.70, 0.55),
    (0.22, 0.76, 0.15, 0.11, 0.60, 1.30),
    (0.88, 0.52, 0.10, 0.13, 0.45, 0.05),
]
HOLE = (0.86, 0.86, 0.14)  # row, column, radius of the hole in the film
REFLECTION = 31.0  # distance of the first Bragg disks from the direct disk, px


def periodic(a):
    """Signed distance on a scan of period 1, in -0.5..0.5."""
    return (a + 0.5) % 1.0 - 0.5


def film(u, v):
    """Thickness of the supporting film at scan position (u, v), as a fraction of the greatest."""
    wave = math.cos(2 * math.pi * u) + math.sin(2 * math.pi * (v - u))
    hole = math.hypot(periodic(u - HOLE[0]), periodic(v - HOLE[1]))
    edge = 1 / (1 + math.exp(-(hole - HOLE[2]) / 0.02))
    return edge * (0.18 + 0.04 * wave)


def crystal(u, v, spec):
    """Thickness of one crystal at scan position (u, v): a smooth dome of elliptic outline."""
    row, col, half_row, half_col, height, _ = spec
    rho2 = (periodic(u - row) / half_row) ** 2 + (periodic(v - col) / half_col) ** 2
    return height * max(0.0, 1 - rho2) ** 1.5


def thickness(u, v):
    """Total thickness, and the (thickness, lattice angle) of every crystal met there."""
    parts = [(crystal(u, v, c), c[5]) for c in CRYSTALS]
    parts = [p for p in parts if p[0] > 0]
    return film(u, v) + sum(t for t, _ in parts), parts


def deflection(u, v):
    """Displacement of the whole pattern (row, column), px: thickness gradient, small descan."""
    step = 0.01
    slope_row = (thickness(u + step, v)[0] - thickness(u - step, v)[0]) / (2 * step)
    slope_col = (thickness(u, v + step)[0] - thickness(u, v - step)[0]) / (2 * step)
    limit = lambda x: 2.4 * math.tanh(0.25 * x)
    descan = 0.5 * math.sin(2 * math.pi * u), 0.5 * math.sin(2 * math.pi * v)
    return limit(slope_row) + descan[0], limit(slope_col) + descan[1]


def disk(distance, radius):
    """A disk with a soft edge of 0.7 px: 1 inside, 0 outside."""
    return 1 / (1 + np.exp(np.clip((distance - radius) / 0.7, -60, 60)))


def mean_pattern(preset, u, v):
    """Expected counts per pixel at scan position (u, v), shape (DETECTOR, DETECTOR)."""
    total, crystals = thickness(u, v)
    shift = deflection(u, v)
    y, x = np.mgrid[0:DETECTOR, 0:DETECTOR]
    y, x = y - CENTRE[0] - shift[0], x - CENTRE[1] - shift[1]
    r = np.hypot(y, x)

    # Interference fringes in the direct disk, turning and drifting over the scan. A plane wave of
    # 3.83 / radius (first zero of the Bessel function J1) averages to nothing over the disk.
    turn = 2 * math.pi * (u + v)
    wave = 3.83 / preset.radius * (y * math.cos(turn) + x * math.sin(turn))
    fringe = 1 + 0.25 * np.cos(wave + 2 * math.pi * (u + 2 * v))
    direct = disk(r, preset.radius)
    pattern = preset.bright * math.exp(-0.3 * total) * direct * fringe

    distance = np.maximum(r - preset.radius, 0)
    pattern += preset.dark * (0.5 + total) * (1 - direct) / (1 + (distance / preset.tail) ** 2)

    reflection = max(REFLECTION, 1.6 * preset.radius)
    for part, angle in crystals:
        for k in range(6):
            a = angle + k * math.pi / 3
            spot = np.hypot(y - reflection * math.sin(a), x - reflection * math.cos(a))
            pattern += preset.bragg * preset.bright * part * disk(spot, preset.radius)
    return pattern


def bad_pixel_mask(count):
    """DECTRIS pixel mask (uint32): `count` bad pixels, one of them in the direct disk."""
    mask = np.zeros((DETECTOR, DETECTOR), np.uint32)
    if count:
        fixed = [97 * DETECTOR + 95, 0, DETECTOR**2 - 1][:count]
        others = np.random.default_rng(7).permutation(DETECTOR**2)
        others = others[~np.isin(others, fixed)][: count - len(fixed)]
        reasons = [1 << 1, 1 << 3, 1 << 4]  # dead, over-responding, noisy
        for i, p in enumerate([*fixed, *others]):
            mask.flat[p] = reasons[i % 3]
    return mask


def make_frames(preset, grid, seed):
    """All frames of the coarse grid (row-major) as uint16, and the pixel mask."""
    mask = bad_pixel_mask(preset.bad_pixels)
    frames = np.empty((grid * grid, DETECTOR, DETECTOR), np.uint16)
    for i in range(grid * grid):
        u, v = (i // grid + 0.5) / grid, (i % grid + 0.5) / grid
        counts = np.random.default_rng([seed, i]).poisson(mean_pattern(preset, u, v))
        frames[i] = np.minimum(counts, STUCK - 1)
    frames[:, mask != 0] = STUCK
    return frames, mask


def write_frames(path, frames, mask, attributes):
    """Write the frames, one bitshuffle-LZ4 chunk each, and read them back by two decoders."""
    with h5py.File(path, "w", libver="v108") as f:
        f.create_dataset(
            "frames", data=frames, chunks=(1, *frames.shape[1:]), **hdf5plugin.Bitshuffle(cname="lz4")
        )
        f.create_dataset("pixel_mask", data=mask, compression="gzip")
        f.attrs.update(attributes)
    with h5py.File(path) as f:
        if not np.array_equal(f["frames"][()], frames):
            raise SystemExit("the HDF5 plugin does not return the frames that were written")
        for i in range(len(frames)):
            chunk = f["frames"].id.read_direct_chunk((i, 0, 0))[1]
            if not np.array_equal(bslz4.decode_chunk(chunk), frames[i].ravel()):
                raise SystemExit(f"the decoder in bslz4.py differs in frame {i}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("output", type=pathlib.Path, help="HDF5 file to write")
    parser.add_argument("--preset", choices=sorted(PRESETS), default="seed")
    parser.add_argument("--frames", type=int, default=1024, help="number of distinct frames, a square (default 1024)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the Poisson counts (default 1)")
    arguments = parser.parse_args()
    grid = math.isqrt(arguments.frames)
    if grid * grid != arguments.frames:
        parser.error("--frames must be a square number")

    start = time.perf_counter()
    preset = PRESETS[arguments.preset]
    frames, mask = make_frames(preset, grid, arguments.seed)
    attributes = {"preset": arguments.preset, "seed": arguments.seed, "grid": [grid, grid]}
    attributes["generator"] = json.dumps(dataclasses.asdict(preset))
    write_frames(arguments.output, frames, mask, attributes)
    table = expected.describe(frames, mask, attributes, expected.chunk_bytes(arguments.output))
    json_path = arguments.output.with_suffix(".expected.json")
    expected.save_json(json_path, table)

    column = table["frames"]
    print(
        f"{arguments.output}: {len(frames)} frames, {np.mean(column['bytes']):.0f} B/frame "
        f"({min(column['bytes'])}-{max(column['bytes'])}), good-pixel max {min(column['max'])}-{max(column['max'])}, "
        f"{np.mean(column['sum']):.0f} counts/frame, {(frames > 255).sum() / len(frames):.0f} px > 255/frame, "
        f"{time.perf_counter() - start:.1f} s"
    )


if __name__ == "__main__":
    main()
