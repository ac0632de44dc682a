"""The user's objects are read, never asked."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy
import pytest
import torch

from whygrad.frameworks.shared import objects
from whygrad.frameworks.shared.scopes import is_opaque, is_plain, parts, variables, variables_of
from whygrad.frameworks.shared.values import Outside
from whygrad.frameworks.torch import modules
from whygrad.frameworks.torch.names import Names


@pytest.fixture
def hostile():
    path = Path(__file__).parents[1] / "hostile.py"
    spec = importlib.util.spec_from_file_location("hostile", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


READERS = {
    "is_a": lambda value: objects.is_a(value, str, dict, torch.Tensor, torch.nn.Parameter),
    "class_name": objects.class_name,
    "package_of": lambda value: objects.package_of(type(value)),
    "is_of": lambda value: objects.is_of(value, objects.FRAMEWORKS),
    "own": objects.own,
    "attributes": objects.attributes,
    "shows": lambda value: objects.shows(value, "handle"),
    "shown": lambda value: [objects.shown(value, name) for name in ("handle", "variables", "other", "items")],
    "is_users": lambda value: objects.is_users(value, ("parameters",)),
    "items": objects.items,
    "members": objects.members,
    "listed": objects.listed,
    "leaves": lambda value: list(objects.leaves([value, [value]])),
    "size": objects.size,
    "subscript": objects.subscript,
    "plain_float": objects.plain_float,
    "plain_number": objects.plain_number,
    "plain_array": objects.plain_array,
    "is_plain": is_plain,
    "is_opaque": is_opaque,
    "parts": lambda value: list(parts(value)),
    "of_data": lambda value: Outside().of_data(value),
    "of_number": lambda value: Outside().of_number(value),
    "walk": lambda value: Names().walk(
        [("name", value, 0), ("names", [value], 0), ("keys", {"key": value}, 0)]
    ),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_nobody_is_asked(hostile, reader):
    for value in hostile.everything().values():
        reader(value)
    assert hostile.CALLS == []


def test_these_objects_would_tell(hostile):
    """This can fail: what one usually writes is counted."""
    for name, value in hostile.everything().items():
        if name not in ("of_meta", "keyed"):
            before = len(hostile.CALLS)
            with pytest.raises(OSError):
                getattr(value, "handle", None)
                isinstance(value, torch.Tensor)
            assert len(hostile.CALLS) > before, name


def test_what_is_in_there_is_found_all_the_same(hostile):
    net = torch.nn.Linear(1, 1)
    held = hostile.HostileDict(net=net), hostile.HostileList([net]), hostile.HostileTuple((net,))
    for value, path in zip(held, ("['net']", "[0]", "[0]"), strict=True):
        names = Names()
        names.walk([("agent", value, 0)])
        assert names.tensors[id(net.weight)].name == f"agent{path}.weight"
    assert hostile.CALLS == []


def test_a_key_is_written_as_one_writes_it(hostile):
    assert objects.subscript("actor") == "['actor']" and objects.subscript(3) == "[3]"
    assert objects.subscript(hostile.HostileStr("actor")) == "['actor']"
    assert objects.subscript(True) == "[True]" and objects.subscript((1, 2)) == "[...]"


def test_attributes_that_a_framework_defines_are_asked_for():
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5)
    assert objects.shown(optimizer, "param_groups")[0]["lr"] == 0.5
    assert objects.shown(torch.ones(2), "shape") == (2,)
    assert objects.shown(torch.nn.Linear(2, 1), "weight").shape == (1, 2)
    assert objects.shown(torch.ones(2), "nothing", 7) == 7


def test_a_subclass_of_the_user_is_asked_for_what_the_framework_defines_alone():
    class Net(torch.nn.Linear):
        @property
        def training_time(self):
            raise AssertionError("a property of the user's")

        def __getattr__(self, name):
            raise AssertionError(name)

    net = object.__new__(Net)
    assert objects.shown(net, "training_time") is None
    assert objects.shown(net, "in_features") is None
    assert objects.shown(net, "_parameters", 3) == 3


def test_numbers_and_arrays_as_they_are():
    class Array(numpy.ndarray):
        def __array_finalize__(self, base):
            if base is not None and type(base) is Array:
                raise AssertionError("numpy made another one")

    held = numpy.ones(3).view(Array)
    found = objects.plain_array(held)
    assert type(found) is numpy.ndarray and found.tolist() == [1, 1, 1]
    assert objects.plain_array(numpy.float32(2)).tolist() == 2
    assert objects.plain_array([1, 2]) is None
    assert objects.plain_number(3) == 3 and objects.plain_number(True) is None
    assert objects.plain_number(10**400) is None


def test_the_body_of_a_class_may_have_a_mapping_of_its_own(hostile):
    found = []

    class Brings(type):
        @classmethod
        def __prepare__(cls, name, bases):
            class Own(dict):
                def __iter__(self):
                    raise AssertionError("read by us")

                keys = items = __iter__

            return Own()

        def __new__(cls, name, bases, namespace):
            return type.__new__(cls, name, bases, dict(dict.items(namespace)))

    class Inside(metaclass=Brings):
        one = 1
        found.append(variables_of(sys._getframe()))

    assert found[0]["one"] == 1


def test_a_module_that_loads_itself_when_it_is_touched_stays_unloaded(tmp_path, monkeypatch):
    (tmp_path / "lazy_one.py").write_text("raise SystemExit('loaded')")
    monkeypatch.syspath_prepend(tmp_path)
    spec = importlib.util.find_spec("lazy_one")
    spec.loader = importlib.util.LazyLoader(spec.loader)
    lazy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lazy)
    lasting, _ = variables({"lazy": lazy, "__file__": "train.py"}, None)
    Names().walk(lasting)
    assert type(lazy).__name__ == "_LazyModule"


def test_parameters_are_listed_where_torch_keeps_them():
    class Listing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
            self.tied = self.inner[0]

        def named_parameters(self, *args, **kwargs):
            raise AssertionError("asked")

        parameters = modules = named_modules = named_children = children = named_parameters

    plain = torch.nn.Module()
    plain.inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    plain.tied = plain.inner[0]
    names = [name for name, _ in plain.named_parameters()]
    assert [name for name, _ in modules.named_parameters(plain)] == names
    assert [name for name, _ in modules.named_modules(plain)] == [n for n, _ in plain.named_modules()]
    assert [name for name, _ in modules.named_parameters(Listing())] == names
    assert modules.lists_itself(Listing()) and not modules.lists_itself(plain)


def test_parameters_of_compiled_modules_are_listed_too():
    scripted = torch.jit.trace(torch.nn.Sequential(torch.nn.Linear(2, 1)), torch.ones(1, 2))
    assert [name for name, _ in modules.named_parameters(scripted)] == ["0.weight", "0.bias"]


@pytest.mark.tensorflow
def test_containers_that_tensorflow_tracks_are_read_whole():
    tf = pytest.importorskip("tensorflow")
    private = importlib.import_module("whygrad.frameworks.tensorflow.private")

    class Agent(tf.Module):
        def __init__(self):
            self.a_list, self.a_dict, self.a_tuple = [1, 2], {"one": 1}, (1, 2, 3)

    held = vars(Agent())
    a_list, a_dict, a_tuple = (private.unwrapped(held[name]) for name in ("a_list", "a_dict", "a_tuple"))
    assert objects.listed(a_list) == [1, 2] and objects.size(a_list) == 2
    assert objects.items(a_dict) == [("one", 1)]
    assert objects.listed(a_tuple) == [1, 2, 3]


@pytest.mark.tensorflow
def test_what_a_keras_optimizer_was_built_for():
    keras = pytest.importorskip("keras")
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    optimizer = keras.optimizers.Adam(0.5)
    optimizer.build(model.trainable_variables)
    assert objects.shown(optimizer, "built") is True
    assert len(objects.listed(objects.shown(optimizer, "_trainable_variables"))) == 2
    assert float(objects.shown(optimizer, "learning_rate")) == 0.5
    assert len(objects.listed(objects.shown(model, "layers"))) == 1
