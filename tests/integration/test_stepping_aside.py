"""What the user sees when something of ours fails, or an object does not let itself be looked at."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.forked("torch")

TRAINS = """
    import torch
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(10):
        loss = net(torch.ones(2, 3)).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print(net.weight.sum().item())
"""
ODD = """
    import torch
    class Config(dict):
        def items(self): raise OSError("not connected")
        values = __iter__ = items
    class Items(list):
        def __len__(self): raise OSError("not connected")
        __iter__ = __len__
    class Remote(torch.nn.Module):
        def __getattr__(self, name): raise OSError(name)
    class Proxy:
        @property
        def __dict__(self): raise OSError("not connected")
    config, items, remote, proxy = Config(a=1), Items([1]), Remote.__new__(Remote), Proxy()
    globals()[3] = "a name that is none"
"""


def report(lab):
    return json.loads((lab.folder / "out" / "report.json").read_text())


@pytest.mark.torch
def test_objects_that_cannot_be_looked_at_are_passed_over(lab):
    lab.write(ODD + TRAINS)
    lab.same("train.py")
    lab.whygrad("run", "--out", "out", "train.py")
    assert report(lab)["healthy"] and not report(lab)["blind"]
    assert report(lab)["updates"][0]["networks"] == ["net"]
    assert [note for note in report(lab)["notes"] if note["kind"] == "internal"] == []


def broken(lab, place):
    """Python with one function of ours replaced by one that raises."""
    module, _, name = place.partition(":")
    lab.write(
        f"""
        import sys, importlib
        from whygrad.cli.main import main
        def fails(*args, **kwargs):
            raise RuntimeError("injected")
        owner = importlib.import_module("{module}")
        *way, last = "{name}".split(".")
        for part in way:
            owner = getattr(owner, part)
        setattr(owner, last, fails)
        sys.exit(main())
        """,
        "broken.py",
    )
    return lab.python("broken.py", "run", "--out", "out", "train.py")


@pytest.mark.torch
@pytest.mark.parametrize(
    ("place", "ending"),
    [
        pytest.param("whygrad.cli.target:split", "raise KeyError('mine')", marks=pytest.mark.long),
        ("whygrad.running.session:Session.execute", "raise SystemExit(3)"),
        pytest.param(
            "whygrad.running.program:Program.prepare", "raise KeyError('mine')", marks=pytest.mark.long
        ),
        ("whygrad.frameworks.torch.observer:Observer.start", ""),
    ],
)
def test_what_cannot_be_watched_runs_bare(lab, place, ending):
    lab.write(TRAINS + f"    {ending}\n")
    alone, done = lab.python("train.py"), broken(lab, place)
    assert (done.stdout, done.code) == (alone.stdout, alone.code)
    assert done.stderr.startswith(alone.stderr)
    assert report(lab)["exit_code"] == alone.code
    assert not report(lab)["healthy"] and report(lab)["findings"] == []
    assert "injected" in report(lab)["blind"] and "injected" in done.stderr


@pytest.mark.torch
def test_judging_stops_where_sight_was_lost(lab):
    """The recorder fails: the optimizer steps on, and nobody says that it does not."""
    lab.write(TRAINS)
    done = broken(lab, "whygrad.frameworks.torch.recorder:Recorder.operation")
    assert done.code == 0
    assert report(lab)["updates"][0]["count"] == 10
    assert report(lab)["findings"] == [] and not report(lab)["healthy"]
    assert "judging stopped at update 1" in " ".join(done.stderr.split())


@pytest.mark.torch
@pytest.mark.parametrize(
    "place",
    [
        "whygrad.frameworks.torch.recorder:Recorder.operation",
        "whygrad.frameworks.torch.observer:Observer.start",
    ],
)
def test_judged_again_it_is_as_blind_as_it_was(lab, place):
    """The evidence knows from where on there is none."""
    lab.write(TRAINS)
    broken(lab, place)
    done = lab.whygrad("judge", "out", "--json", "again.json")
    again = json.loads((lab.folder / "again.json").read_text())
    assert done.code == 2
    assert again["blind"] and again == report(lab)


@pytest.mark.torch
def test_evidence_that_cannot_be_written_is_told_of_in_the_report(lab):
    lab.write(TRAINS)
    done = broken(lab, "whygrad.storage.packing:pack")
    told = "the evidence could not be written: RuntimeError: injected"
    assert f"whygrad: {told}" in done.stderr
    assert [note["text"] for note in report(lab)["notes"] if note["kind"] == "internal"] == [told]
    assert report(lab)["healthy"] and not (lab.folder / "out" / "evidence.wg").exists()
