"""Writes arrays into one file, without pickles, so that any reader of `.npz` can read it."""

import os
import zipfile

import numpy as np

# Larger tensors are cut to every n-th of their values; their sums are written too.
LARGEST = 1 << 16
_TYPES = "biuf"


def write_arrays(path, arrays):
    """Write {name: array}; the file is there whole or not at all."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_STORED, True) as file:
        for name, array in arrays.items():
            with file.open(name + ".npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, _plain(array), allow_pickle=False)
    os.replace(path + ".part", path)


def read_arrays(path):
    """What `write_arrays` wrote."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def sampled(name, array):
    """The array, or a sample and the sums of all of it, under the names they are written by."""
    array = _plain(array)
    if array.size <= LARGEST:
        return {name: array}
    stride = -(-array.size // LARGEST)
    whole = array.astype(np.float64).ravel()
    sums = np.array([whole.sum(), np.abs(whole).sum(), np.abs(whole).max()])
    return {name: np.ravel(array)[::stride], "sums/" + name: sums}


def joined_rows(values, rows):
    """Rows of a gradient in the order of their numbers, each once: as they add up."""
    values, rows = _plain(values), np.ravel(rows)
    numbers, places = np.unique(rows, return_inverse=True)
    total = np.zeros((len(numbers), *values.shape[1:]), values.dtype)
    np.add.at(total, places, values)
    return total, numbers


def _plain(array):
    array = np.asarray(array)
    if array.dtype.kind not in _TYPES:
        array = array.astype(np.float32)  # bfloat16, which readers do not know
    return np.array(array, order="C", copy=False, ndmin=0)
