"""The flow picture in the JSON report, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.model import Drawing, DrawnLoss, Layer, Mark, Site, Step, Weight, Wire

_Write = Callable[[Site | None], dict[str, Any] | None]
_Read = Callable[[dict[str, Any] | None], Site | None]


def write(drawing: Drawing, site: _Write) -> dict[str, Any]:
    """Layers, losses and wires."""
    return {
        "layers": [
            {"name": layer.name, "network": layer.network, "weights": [_weight(w) for w in layer.weights]}
            for layer in drawing.layers
        ],
        "losses": [_loss(loss, site) for loss in drawing.losses],
        "wires": [_wire(wire, site) for wire in drawing.wires],
        "more": drawing.more,
    }


def read(data: dict[str, Any] | None, site: _Read) -> Drawing:
    """What ``write`` has made."""
    if not data:
        return Drawing()
    return Drawing(
        tuple(_read_layer(layer) for layer in data["layers"]),
        tuple(_read_loss(loss, site) for loss in data["losses"]),
        tuple(_read_wire(wire, site) for wire in data["wires"]),
        data.get("more", 0),
    )


def _weight(weight: Weight) -> dict[str, Any]:
    return {
        "name": weight.name,
        "shape": list(weight.shape),
        "gradient": weight.gradient,
        "optimizers": list(weight.optimizers),
        "trainable": weight.trainable,
        "seen": weight.seen,
    }


def _read_layer(data: dict[str, Any]) -> Layer:
    return Layer(data["name"], data["network"], tuple(_read_weight(w) for w in data["weights"]))


def _read_weight(data: dict[str, Any]) -> Weight:
    return Weight(
        data["name"],
        tuple(data["shape"]),
        data["gradient"],
        tuple(data["optimizers"]),
        data["trainable"],
        data.get("seen", True),
    )


def _loss(loss: DrawnLoss, site: _Write) -> dict[str, Any]:
    return {
        "name": loss.name,
        "site": site(loss.site),
        "terms": [{"name": n, "site": site(s)} for n, s in zip(loss.terms, loss.term_sites, strict=True)],
        "optimizers": list(loss.optimizers),
        "error": loss.error,
    }


def _read_loss(data: dict[str, Any], site: _Read) -> DrawnLoss:
    return DrawnLoss(
        data["name"],
        site(data["site"]),
        tuple(term["name"] for term in data["terms"]),
        tuple(site(term["site"]) for term in data["terms"]),
        tuple(data["optimizers"]),
        data.get("error", ""),
    )


def _wire(wire: Wire, site: _Write) -> dict[str, Any]:
    return {
        "source": wire.source,
        "target": wire.target,
        "loss": wire.loss,
        "term": wire.term,
        "carries": wire.carries,
        "cut": {"what": wire.cut.what, "site": site(wire.cut.site)} if wire.cut else None,
        "block": wire.block,
        "via": [{"what": step.what, "site": site(step.site)} for step in wire.via],
    }


def _read_wire(data: dict[str, Any], site: _Read) -> Wire:
    cut = data["cut"]
    return Wire(
        data["source"],
        data["target"],
        data["loss"],
        data["term"],
        data["carries"],
        Step(cut["what"], site(cut["site"]), mark=Mark.CUT) if cut else None,
        data["block"],
        tuple(Step(step["what"], site(step["site"])) for step in data["via"]),
    )
