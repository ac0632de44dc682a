"""``read``: from model.json to a model, everything checked first, weights last."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from whygrad.zoo.tfjs import manifest as manifests
from whygrad.zoo.tfjs import topology
from whygrad.zoo.tfjs.manifest import Entry, Group, Manifest
from whygrad.zoo.tfjs.network import Model, ModelError, Network

_Key = tuple[str, str]
_PIECE = 2**20


def read(path: str | Path, keep_non_finite: bool = False) -> Model:
    """The model of a model.json, or of the folder that has one."""
    manifest = manifests.read(Path(path))
    network = topology.parse(manifest.topology)
    names = match(network, manifest)
    arrays: dict[str, np.ndarray] = {}
    for group in manifest.groups:
        arrays |= _decode(group, manifest)
    broken = [name for name, array in arrays.items() if not np.isfinite(array).all()]
    if broken and not keep_non_finite:
        raise ModelError(
            f"the weight {broken[0]!r} holds numbers that are not finite: the training had diverged"
        )
    return Model(network, {key: arrays[name] for key, name in names.items()}, names)


def match(network: Network, manifest: Manifest) -> dict[_Key, str]:
    """Which entry is which weight: by name, never by position, and the shapes must agree."""
    entries = {entry.name: entry for group in manifest.groups for entry in group.entries}
    by_last: dict[str, list[str]] = {}
    for name in entries:
        by_last.setdefault(name.rsplit("/", 1)[-1], []).append(name)
    found: dict[_Key, str] = {}
    for (layer, weight), shape in network.weight_shapes().items():
        name = _entry_of(layer, weight, entries, by_last.get(weight, []))
        if entries[name].shape != shape:
            raise ModelError(
                f"the weight {name!r} has the shape {list(entries[name].shape)}, not {list(shape)}"
            )
        if entries[name].dtype != "float32":
            raise ModelError(f"the weight {name!r} is of type {entries[name].dtype}, not float32")
        found[layer, weight] = name
    extra = entries.keys() - set(found.values())
    if extra:
        raise ModelError(f"the weight {min(extra)!r} belongs to no layer of the model")
    if len(set(found.values())) < len(found):
        raise ModelError("two layers claim the same weight: their names cannot be told apart")
    return found


def _entry_of(layer: str, weight: str, entries: dict[str, Entry], ending: list[str]) -> str:
    """``layer/weight``; or with a scope before or a cell between, as Keras 2 names them."""
    exact = f"{layer}/{weight}"
    if exact in entries:
        return exact
    near = [name for name in ending if f"/{layer}/" in f"/{name}"]
    if len(near) != 1:
        raise ModelError(f"the weight {exact!r} is missing from the manifest")
    return near[0]


def _decode(group: Group, manifest: Manifest) -> dict[str, np.ndarray]:
    """Join the files of a group, and cut the tensors from it."""
    data = memoryview(b"".join(map(manifest.folder.read, group.files, group.sizes)))
    arrays, at = {}, 0
    for entry in group.entries:
        arrays[entry.name] = _array(entry, data[at : at + entry.stored_bytes])
        at += entry.stored_bytes
    return arrays


def _array(entry: Entry, data: memoryview) -> np.ndarray:
    """The numbers of one tensor; little-endian on every machine."""
    stored = np.frombuffer(data, np.dtype(entry.stored).newbyteorder("<"))
    if entry.stored not in ("uint8", "uint16"):
        return stored.astype(np.dtype(entry.dtype)).reshape(entry.shape)
    array = np.empty(entry.count, np.dtype(entry.dtype))
    for at in range(0, entry.count, _PIECE):  # in pieces: double precision is needed, but not all at once
        values = stored[at : at + _PIECE].astype(np.float64) * entry.scale + entry.minimum
        array[at : at + _PIECE] = np.round(values) if entry.dtype == "int32" else values
    return array.reshape(entry.shape)
