"""model.json: what it promises, checked against the files before a single weight is read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whygrad import strangers
from whygrad.zoo.tfjs.files import Folder
from whygrad.zoo.tfjs.network import ModelError
from whygrad.zoo.tfjs.options import is_number

LARGEST_JSON = 64 * 2**20
LARGEST_WEIGHTS = 4 * 2**30
ITEM_BYTES = {"float32": 4, "int32": 4, "bool": 1}
STORED_BYTES = {"uint8": 1, "uint16": 2, "float16": 2}


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor of a group: how it is stored, and how it is to be."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    stored: str  # the dtype on disk
    scale: float = 1.0
    minimum: float = 0.0

    @property
    def count(self) -> int:
        """How many numbers."""
        return math.prod(self.shape)

    @property
    def stored_bytes(self) -> int:
        """How many bytes on disk."""
        return self.count * (STORED_BYTES | ITEM_BYTES)[self.stored]


@dataclass(frozen=True, slots=True)
class Group:
    """Tensors in a row, cut into files without regard to their borders."""

    files: tuple[str, ...]
    sizes: tuple[int, ...]
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """A model.json that can be believed."""

    folder: Folder
    topology: Any
    groups: tuple[Group, ...]


def read(path: Path) -> Manifest:
    """Read and check model.json; the files of the weights are only measured."""
    if path.is_dir():
        path = path / "model.json"
    folder = Folder(path.parent)
    raw = _json(folder, path.name)
    if not isinstance(raw, Mapping):
        raise ModelError(f"{path.name} is not a JSON object")
    if raw.get("format", "layers-model") != "layers-model":
        kind = str(raw["format"])[:40]
        raise ModelError(f"{path.name} has the format {kind!r}; only a 'layers-model' can be read")
    if "modelTopology" not in raw or "weightsManifest" not in raw:
        raise ModelError(
            f"{path.name} is not a TensorFlow.js layers-model: it needs modelTopology and weightsManifest"
        )
    groups = tuple(_group(folder, group) for group in _list(raw["weightsManifest"], "weightsManifest"))
    entries = [entry for group in groups for entry in group.entries]
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ModelError(f"the manifest has two weights called {twice!r}")
    if sum(entry.count for entry in entries) * 4 > LARGEST_WEIGHTS:
        raise ModelError(f"the weights would take more than {LARGEST_WEIGHTS >> 30} GiB of memory")
    return Manifest(folder, raw["modelTopology"], groups)


def _json(folder: Folder, name: str) -> Any:
    size = folder.size(name)
    if size > LARGEST_JSON:
        raise ModelError(f"{name} has {size} bytes, more than the {LARGEST_JSON} that a model.json may have")
    try:
        return strangers.parsed(folder.read(name, size))
    except ModelError:
        raise
    except ValueError as error:
        raise ModelError(f"{name} is not JSON: {str(error)[:100]}") from None


def _group(folder: Folder, raw: Any) -> Group:
    if not isinstance(raw, Mapping):
        raise ModelError("the weightsManifest holds something that is not a group of weights")
    files = tuple(_list(raw.get("paths"), "paths of a group"))
    entries = tuple(_entry(item) for item in _list(raw.get("weights"), "weights of a group"))
    needed = sum(entry.stored_bytes for entry in entries)
    if needed > LARGEST_WEIGHTS:
        raise ModelError(f"a group of weights asks for {needed} bytes, more than {LARGEST_WEIGHTS >> 30} GiB")
    sizes = tuple(folder.size(file) for file in files)
    if sum(sizes) != needed:
        raise ModelError(
            f"the files {', '.join(files)[:100]} have {sum(sizes)} bytes, and the weights need {needed}"
        )
    return Group(files, sizes, entries)


def _entry(raw: Any) -> Entry:
    if not isinstance(raw, Mapping) or not isinstance(raw.get("name"), str) or not raw["name"]:
        raise ModelError("the manifest has a weight without a name")
    name, dtype = raw["name"], raw.get("dtype")
    if not name.isprintable() or len(name) > 1000:
        raise ModelError(f"the manifest has a weight without a proper name: {name[:60]!r}")
    shape = raw.get("shape")
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape) or len(shape) > 8:
        raise ModelError(f"the weight {name!r} has the shape {str(shape)[:60]}, not a list of whole numbers")
    if not isinstance(dtype, str) or dtype not in ITEM_BYTES:
        raise ModelError(
            f"the weight {name!r} has the type {str(dtype)[:40]!r}; float32, int32 and bool can be read"
        )
    entry = Entry(name, tuple(shape), dtype, *_quantization(name, dtype, raw.get("quantization")))
    if entry.count * 4 > LARGEST_WEIGHTS:
        raise ModelError(
            f"the weight {name!r} of shape {shape} would take more than {LARGEST_WEIGHTS >> 30} GiB"
        )
    return entry


def _quantization(name: str, dtype: str, raw: Any) -> tuple[str, float, float]:
    if raw is None:
        return dtype, 1.0, 0.0
    stored = raw.get("dtype") if isinstance(raw, Mapping) else None
    if not isinstance(stored, str) or stored not in STORED_BYTES or dtype == "bool":
        raise ModelError(
            f"the weight {name!r} is quantised as {str(stored)[:40]!r}; uint8, uint16 and float16 are known"
        )
    if stored == "float16":
        if dtype != "float32":
            raise ModelError(f"the weight {name!r} is quantised as float16, but its type is {dtype}")
        return stored, 1.0, 0.0
    numbers = (raw.get("scale"), raw.get("min"))
    if not all(map(is_number, numbers)):
        raise ModelError(f"the weight {name!r} is quantised without a finite scale and min")
    return stored, float(numbers[0]), float(numbers[1])


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ModelError(f"model.json has no list of {what}")
    return value
