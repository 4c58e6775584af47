#!/usr/bin/env python3
"""Write small files of kinds beyond the fixtures, one folder a case, and expected.json with the right outcome of each:
structures, filters and element types, names of linked files, virtual datasets, other writers' scales, other formats.

    python make_files.py OUTDIR            # needs ../fixtures/requirements.txt
"""
import hashlib
import json
import sys
import unicodedata
import zlib
from math import sqrt
from pathlib import Path

import h5py
import numpy as np
from hdf5plugin import Bitshuffle, Blosc, Blosc2

RNG = np.random.default_rng(5)
UNLIMITED = h5py.h5s.UNLIMITED
# As planescope shows them.
SHOWN = {"u8": "u4", "i8": "i4", "f2": "f4", "b1": "i1"}
OUT = Path(sys.argv[1])
CASES = {}


def frames(*shape, dtype="u2"):
    return RNG.poisson(3, shape).astype(dtype)


def case(name, array=None, files=("x.h5",), **expected):
    """Notes a case: `array` is what has to be read, by its last two axes."""
    if array is not None:
        kind = SHOWN.get(array.dtype.str[1:], array.dtype.str[1:])
        flat = array.reshape(-1, *array.shape[-2:]).astype("<" + kind)
        expected |= {"sha256": hashlib.sha256(flat.tobytes()).hexdigest(), "shape": list(flat.shape)}
    CASES[name] = {"files": list(files), **expected}


def folder(name):
    path = OUT / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def single(name, array, path="entry/data/data", libver="latest", userblock=0, expect=None, **options):
    with h5py.File(folder(name) / "x.h5", "w", libver=libver, userblock_size=userblock) as file:
        file.create_dataset(path, data=array, **options)
    case(name, array if expect is None else None, **(expect or {}))


def structures():
    bs = Bitshuffle()
    single("v2_tree_without_filter", frames(30, 9, 9), chunks=(1, 4, 9), maxshape=(None, None, 9))
    single("v2_tree_of_tiles", frames(5, 6, 9, 9), chunks=(2, 4, 5, 5), maxshape=(None,) * 4, compression="gzip", shuffle=True)
    single("endless_second_axis", frames(5, 60, 9, 9), chunks=(1, 1, 9, 9), maxshape=(5, None, 9, 9), **bs)
    single("larger_extents", frames(7, 6, 9, 9), chunks=(1, 1, 9, 9), maxshape=(20, 50, 18, 18), **bs)
    single("paged_array_without_filter", frames(2500, 4, 4), chunks=(1, 4, 4))
    single("deep_array_of_4_axes", frames(300, 30, 3, 3), chunks=(1, 1, 3, 3), maxshape=(None, 30, 3, 3), **bs)
    single("user_block_8192", frames(6, 9, 9), userblock=8192, chunks=(1, 9, 9), **bs)
    single("single_chunk_of_4_axes", frames(3, 4, 9, 9), chunks=(3, 4, 9, 9), **bs)
    single("five_axes", frames(3, 2, 4, 9, 9), chunks=(1, 1, 1, 9, 9), **bs)
    single("five_axes_contiguous", frames(2, 3, 4, 9, 9))
    single("six_axes_two_of_one", frames(1, 1, 3, 4, 9, 9), chunks=(1, 1, 1, 4, 9, 9))
    single("five_axes_scattered", frames(4, 4, 3, 9, 9), chunks=(2, 2, 1, 9, 9), expect={"error": "unsupported_structure"})
    for name, dtype in dict(big_i4=">i4", f2="<f2", big_f4=">f4", u8="<u8", big_i8=">i8", bool="?").items():
        single(f"dtype_{name}", frames(6, 8, 9, dtype=dtype), chunks=(1, 8, 9), **bs)
    array = frames(6, 8, 9, dtype="u1")
    with h5py.File(folder("dtype_bit_field") / "x.h5", "w") as file:
        data = h5py.h5d.create(file.id, b"data", h5py.h5t.STD_B8LE, h5py.h5s.create_simple(array.shape))
        data.write(h5py.h5s.ALL, h5py.h5s.ALL, array, mtype=h5py.h5t.STD_B8LE)
    case("dtype_bit_field", array)
    wide = frames(3, 8, 9, dtype="u8")
    wide[1, 2, 3] = 2 ** 32
    single("count_beyond_32_bits", wide, chunks=(1, 8, 9), expect={"error": "corrupt_chunk", "unreadable_frames": [[1, 2]]})
    for codec in ("blosclz", "lz4", "zlib", "zstd"):
        for shuffle in (0, 1, 2):
            single(f"blosc_{codec}_{shuffle}", frames(9, 64, 64), chunks=(2, 64, 64), **Blosc(cname=codec, clevel=5, shuffle=shuffle))
    single("blosc2", frames(3, 64, 64), chunks=(1, 64, 64), **Blosc2(), expect={"error": "unsupported_filter:32026"})
    single("scale_offset", frames(3, 64, 64), chunks=(1, 64, 64), scaleoffset=0, expect={"error": "unsupported_filter:6"})
    array = frames(4, 16, 16)
    with h5py.File(folder("filter_masks") / "x.h5", "w", libver="latest") as file:
        data = file.create_dataset("d", array.shape, "u2", chunks=(1, 16, 16), compression="gzip", shuffle=True, fletcher32=True)
        data[0], data[3] = array[0], array[3]
        data.id.write_direct_chunk((1, 0, 0), array[1].tobytes(), filter_mask=7)
        shuffled = np.frombuffer(array[2].tobytes(), "u1").reshape(-1, 2).T.tobytes()
        data.id.write_direct_chunk((2, 0, 0), zlib.compress(shuffled), filter_mask=4)
    case("filter_masks", array)
    with h5py.File(folder("bad_checksum") / "x.h5", "w") as file:
        data = file.create_dataset("d", data=array, chunks=(1, 16, 16), fletcher32=True)
        place = data.id.get_chunk_info(2).byte_offset
    path = OUT / "bad_checksum/x.h5"
    whole = bytearray(path.read_bytes())
    whole[place + 9] ^= 1
    path.write_bytes(whole)
    case("bad_checksum", error="corrupt_chunk", unreadable_frames=[[2, 3]])
    with h5py.File(folder("many_attributes") / "x.h5", "w", libver="latest") as file:
        data = file.create_dataset("entry/data/data", data=array, chunks=(1, 16, 16), **bs)
        for i in range(2000):
            data.attrs[f"attribute_{i:05}"] = "x" * (i % 90)
            file.create_group(f"entry/group_{i}")
    case("many_attributes", array)


def links(name, links, files, **expected):
    """A master that links files of 10 frames each."""
    array = frames(10 * len(links), 9, 9)
    for i, file_name in enumerate(files):
        with h5py.File(folder(name) / file_name, "w", libver="v108") as file:
            file.create_dataset("entry/data/data", data=array[10 * i:10 * i + 10], chunks=(1, 9, 9), maxshape=(None, 9, 9), **Bitshuffle())
    with h5py.File(folder(name) / "m_master.h5", "w", libver="v108") as file:
        group = file.create_group("entry/data")
        for i, link in enumerate(links):
            group[f"data_{i + 1:06}"] = h5py.ExternalLink(link, "/entry/data/data")
    case(name, None if expected else array, [*files, "m_master.h5"], **expected)


def names():
    links("link_windows", ["C:\\data\\m_data_000001.h5", "\\\\server\\m_data_000002.h5"], ["m_data_000001.h5", "m_data_000002.h5"])
    links("link_address", ["file:///data/m%20y_data_000001.h5"], ["m y_data_000001.h5"])
    decomposed = unicodedata.normalize("NFD", "Ångström_data_000001.h5")
    links("link_decomposed", [decomposed], [unicodedata.normalize("NFC", decomposed)])
    links("link_case", ["M_DATA_000001.H5"], ["m_data_000001.h5"])
    old = ["old_data_000001.h5", "old_data_000002.h5"]
    links("renamed", old, ["new (1)_data_000001.h5", "new (1)_data_000002.h5"])
    links("second_copy", old, ["old_data_000001 (1).h5", "old_data_000002 (1).h5"])
    links("numbers_alone", old, ["lamella_1.hdf5", "lamella_2.hdf5"])


def virtual():
    array = frames(24, 9, 9)
    layout = h5py.VirtualLayout(array.shape, "u2")
    for block in range(3):
        with h5py.File(folder("interleaved") / f"s_{block}.h5", "w") as file:
            file.create_dataset("d", data=array[block::3], chunks=(1, 9, 9), **Bitshuffle())
        layout[block::3] = h5py.VirtualSource(f"s_{block}.h5", "d", (8, 9, 9))
    with h5py.File(folder("interleaved") / "m.h5", "w", libver="latest") as file:
        file.create_virtual_dataset("entry/data/data", layout)
    case("interleaved", array, ["s_0.h5", "s_1.h5", "s_2.h5", "m.h5"])

    shape = (6, 5, 9, 9)
    array = frames(*shape)
    for block in range(3):
        with h5py.File(folder("printf_names") / f"s_{block}.h5", "w") as file:
            file.create_dataset("d", data=array[2 * block:2 * block + 2], chunks=(1, 1, 9, 9), **Bitshuffle())
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    place = h5py.h5s.create_simple(shape, (UNLIMITED, *shape[1:]))
    place.select_hyperslab((0,) * 4, (UNLIMITED, 1, 1, 1), (2, 1, 1, 1), (2, *shape[1:]))
    dcpl.set_virtual(place, b"s_%b.h5", b"d", h5py.h5s.create_simple((2, *shape[1:])))
    with h5py.File(folder("printf_names") / "m.h5", "w", libver="latest") as file:
        h5py.h5d.create(file.create_group("entry/data").id, b"data", h5py.h5t.STD_U16LE,
                        h5py.h5s.create_simple(shape, (UNLIMITED, *shape[1:])), dcpl)
    case("printf_names", array, ["s_0.h5", "s_1.h5", "s_2.h5", "m.h5"], scan=[6, 5])

    # A detector of four modules with gaps: the gaps count nowhere.
    layout = h5py.VirtualLayout((8, 12, 14), "u2")
    total, files = 0, []
    for k in range(4):
        row, col, module = k // 2 * 7, k % 2 * 8, frames(8, 5, 6)
        with h5py.File(folder("modules") / f"module_{k}.h5", "w") as file:
            file.create_dataset("d", data=module, chunks=(1, 5, 6), **Bitshuffle())
        layout[:, row:row + 5, col:col + 6] = h5py.VirtualSource(f"module_{k}.h5", "d", module.shape)
        total += int(module.sum())
        files.append(f"module_{k}.h5")
    with h5py.File(folder("modules") / "m.h5", "w", libver="latest") as file:
        file.create_virtual_dataset("entry/data/data", layout, fillvalue=9)
    case("modules", None, [*files, "m.h5"], outcome="ok", frames_readable=8, sum_good=total, masked_pixels=12 * 14 - 4 * 5 * 6)
    case("a_module_missing", None, ["../modules/" + name for name in [*files[1:], "m.h5"]], outcome="error", error="missing_source")
    folder("a_module_missing")


def milliradians(per_nm, energy_ev):
    return 1e3 * 1239.841984 / sqrt(energy_ev * (energy_ev + 2 * 510998.95)) * per_nm


def dims(group, shape, steps, first=1, attribute=str):
    for axis, (length, (step, unit)) in enumerate(zip(shape, steps), first):
        group.create_dataset(f"dim{axis}", data=np.arange(length) * step).attrs["units"] = attribute(unit)


def writers():
    shape = (5, 6, 8, 9)
    array = frames(*shape)
    with h5py.File(folder("py4dstem") / "x.h5", "w") as file:
        root = file.create_group("datacube_root")
        calibration = root.create_group("metadatabundle/calibration")
        for key, value in dict(Q_pixel_size=0.5, Q_pixel_units=np.bytes_("mrad"), R_pixel_size=2.5, R_pixel_units=np.bytes_("A")).items():
            calibration[key] = value
        group = root.create_group("datacube")
        group["data"] = array
        dims(group, shape, [(1, "pixels")] * 4, first=0)
    case("py4dstem", array, scan_step_nm=0.25, detector_mrad_per_px=0.5, scan=[5, 6])
    with h5py.File(folder("py4dstem_old") / "x.h5", "w") as file:
        root = file.create_group("4DSTEM_experiment")
        root["data/datacubes/datacube_0/data"] = array
        calibration = root.create_group("metadata/metadata_0/calibration")
        for key, value in dict(R_pixel_size=1.5, R_pixel_size_units="nm", K_pixel_size=0.05, K_pixel_size_units="A^-1").items():
            calibration.attrs[key] = value
        root.create_group("metadata/microscope").attrs["accelerating_voltage"] = 300.0
    case("py4dstem_old", array, scan_step_nm=1.5, detector_mrad_per_px=milliradians(0.5, 300e3), energy_ev=300e3)
    with h5py.File(folder("ncem_emd") / "x.emd", "w") as file:
        group = file.create_group("data/scan")
        group["data"] = array
        dims(group, shape, [(0.5, "[n_m]"), (0.5, "[n_m]"), (0.03, "[Å^-1]"), (0.03, "[Å^-1]")], attribute=lambda unit: np.bytes_(unit.encode()))
        microscope = file.create_group("microscope")
        microscope.attrs["voltage"], microscope.attrs["voltage_units"] = 200.0, "[kV]"
    case("ncem_emd", array, ["x.emd"], scan_step_nm=0.5, energy_ev=200e3, detector_mrad_per_px=milliradians(0.3, 200e3))
    with h5py.File(folder("hyperspy") / "x.hspy", "w") as file:
        group = file.create_group("Experiments/__unnamed__")
        group.create_dataset("data", data=array, chunks=(2, 3, 4, 5), compression="gzip", shuffle=True)
        for axis, (scale, unit) in enumerate([(0.5, "nm"), (0.6, "nm"), (0.3, "$nm^{-1}$"), (0.3, "$nm^{-1}$")]):
            attributes = group.create_group(f"axis-{axis}").attrs
            attributes["scale"], attributes["units"] = scale, unit
        group.create_group("metadata/Acquisition_instrument/TEM").attrs["beam_energy"] = 300.0
    case("hyperspy", array, ["x.hspy"], scan_step_nm=0.6, energy_ev=300e3, detector_mrad_per_px=milliradians(0.3, 300e3))
    with h5py.File(folder("nexus") / "x.nxs", "w") as file:
        group = file.create_group("entry/merlin")
        group.attrs["axes"] = ["y", "x", "qy", "qx"]
        group["data"] = array
        for name, length, step, unit in [("y", 5, 1e-9, "m"), ("x", 6, 1e-9, "m"), ("qy", 8, 2, "mrad"), ("qx", 9, 2, "mrad")]:
            group.create_dataset(name, data=np.arange(length) * step).attrs["units"] = unit
    case("nexus", array, ["x.nxs"], scan_step_nm=1.0, detector_mrad_per_px=2.0)
    with h5py.File(folder("abtem") / "x.hdf5", "w") as file:
        file["array"], file["sampling"] = array.astype("f4"), np.array([0.2, 0.2, 1.1, 1.1])
        file["units"] = np.array(["Å".encode(), "Å".encode(), b"mrad", b"mrad"])
    case("abtem", array.astype("f4"), ["x.hdf5"], scan_step_nm=0.02, detector_mrad_per_px=1.1)
    with h5py.File(folder("fpd") / "x.hdf5", "w") as file:
        group = file.create_group("fpd_expt/fpd_data")
        group.create_dataset("data", data=array[:, :, None], chunks=(2, 2, 1, 8, 9), compression="gzip")
        dims(group, (5, 6, 1, 8, 9), [(0.5, "um"), (0.5, "um"), (1, ""), (0.5, "mrad"), (0.5, "mrad")])
    case("fpd", array, ["x.hdf5"], scan=[5, 6], scan_step_nm=500.0, detector_mrad_per_px=0.5)


def foreign():
    merlin = b"MQ1,000001,00384,01,0256,0256,U16" + bytes(300)
    for name, head in {"scan.mib": merlin, "scan.h5": merlin, "scan.dm4": bytes([0, 0, 0, 4]) + bytes(50), "scan.blo": b"IMGBLO" + bytes(40),
                       "scan_000.tvips": bytes(range(99)), "scan_x128_y128.raw": bytes(range(200)), "scan.npy": b"\x93NUMPY" + bytes(50),
                       ".zarray": b'{"chunks": [1]}', "scan_1.ser": b"\x49\x49\x97\x01aaaa", "scan.tif": b"II*\0" + bytes(50),
                       "scan.mrc": bytes(208) + b"MAP ", "scan.zspy": b"PK\x03\x04" + bytes(40)}.items():
        key = "foreign_" + name.strip(".").replace(".", "_")
        (folder(key) / name).write_bytes(head)
        case(key, None, [name], outcome="error", error="not_hdf5")
    with h5py.File(folder("events") / "x.h5", "w") as file:
        file.create_dataset("electron_events/frames", (30,), h5py.vlen_dtype("u4"))
        file["electron_events/scan_positions"] = np.arange(30)
    case("events", outcome="error", error="unsupported_sparse")
    for key, path, value in [("mask_alone", "mask", np.zeros((9, 9), "u1")), ("peaks_alone", "root/bragg/qx", np.zeros(4)),
                             ("velox_alone", "Data/Image/abc/Data", np.zeros((9, 9), "u2"))]:
        with h5py.File(folder(key) / "x.h5", "w") as file:
            file[path] = value
        case(key, outcome="error", error="no_image_data")


if __name__ == "__main__":
    structures()
    names()
    virtual()
    writers()
    foreign()
    (OUT / "expected.json").write_text(json.dumps({"cases": CASES}, indent=1))
