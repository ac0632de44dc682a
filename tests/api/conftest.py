"""Small networks, and a count of everything that watching puts into the process."""

import sys
import threading

import pytest
import torch
from torch import nn
from torch.nn.modules import module
from torch.optim import optimizer

PATCHED = [
    (torch.optim.Optimizer, "__init__"),
    (torch.set_grad_enabled, "__init__"),
    (torch.inference_mode, "__enter__"),
    (torch.inference_mode, "__exit__"),
    (torch, "compile"),
    (nn.Module, "compile"),
    (torch.Tensor, "backward"),
    (torch.Tensor, "detach"),
]


def state_of_the_process():
    """Hooks, modes, patches, profilers and import finders, as they are now."""
    return {
        "optimizer hooks": [
            len(optimizer._global_optimizer_pre_hooks),
            len(optimizer._global_optimizer_post_hooks),
        ],
        "module hooks": {
            name: len(hooks)
            for name, hooks in vars(module).items()
            if name.startswith("_global_") and isinstance(hooks, dict)
        },
        "modes": torch._C._len_torch_function_stack(),
        "patches": [vars(owner).get(name) for owner, name in PATCHED],
        "profiles": (threading.getprofile(), sys.getprofile(), sys.gettrace()),
        "hooks of python": (sys.excepthook, threading.excepthook),
        "finders": list(sys.meta_path),
    }


@pytest.fixture
def untouched():
    """The process is as it was before the test."""
    before = state_of_the_process()
    yield state_of_the_process
    assert state_of_the_process() == before


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


@pytest.fixture
def nets():
    """An actor of two layers, and a critic of state and action."""
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)), nn.Linear(5, 1)
