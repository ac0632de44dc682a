"""Summaries of real PyTorch training, as TensorBoard's own reader sees them."""

import json
import math
import shutil
from pathlib import Path

import pytest
import torch
from tests.events import load, steps, values
from torch import nn

import whygrad
from whygrad.summaries import history

SCRIPTS = Path(__file__).parent / "scripts"


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))


def train(updates, clip=0.0):
    q_net = network()
    optimizer = torch.optim.Adam(q_net.parameters(), lr=0.01)
    losses = []
    for _ in range(updates):
        loss = q_net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(q_net.parameters(), clip)
        losses.append(loss.item())
        optimizer.step()
    return q_net, losses


SCHEDULES = {
    "True": (True, list(range(1, 21))),
    "5": (5, [5, 10, 15, 20]),
    "callable": (lambda number: number in (2, 3, 11), [2, 3, 11]),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_honoured(tmp_path, name):
    given, expected = SCHEDULES[name]
    with whygrad.watching(given, out=tmp_path) as run:
        train(20)
    found = load(tmp_path)
    tags = found.Tags()
    assert len(tags["scalars"]) == 4 * 16 + 5  # without the clip's
    assert {tuple(e.step for e in found.Scalars(tag)) for tag in tags["scalars"]} == {tuple(expected)}
    assert len(tags["histograms"]) == 8
    assert {tuple(e.step for e in found.Histograms(tag)) for tag in tags["histograms"]} == {tuple(expected)}
    assert run.result.watched.updates == len(expected)
    assert run.folder == str(tmp_path)


def test_a_function_is_told_the_optimizers_name(tmp_path):
    asked = []

    def wanted(number, optimizer):
        asked.append((number, optimizer))
        return optimizer == "critic_opt"

    actor, critic = network(), network()
    actor_opt = torch.optim.SGD(actor.parameters(), lr=0.01)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.01)
    with whygrad.watching(wanted, out=tmp_path):
        for _ in range(3):
            for net, optimizer in ((actor, actor_opt), (critic, critic_opt)):
                optimizer.zero_grad()
                net(torch.ones(1, 4)).sum().backward()
                optimizer.step()
    assert asked == [(n, name) for n in (1, 2, 3) for name in ("actor_opt", "critic_opt")]
    groups = {tag.partition("/")[0] for tag in load(tmp_path).Tags()["scalars"]}
    assert groups == {"critic_opt", *(f"critic.{i}.{p}" for i in (0, 2) for p in ("weight", "bias"))}


def test_figures_are_those_of_the_gradients_and_variables(tmp_path):
    q_net = network()
    optimizer = torch.optim.SGD(q_net.parameters(), lr=0.5)
    with whygrad.watching(True, out=tmp_path):
        loss = q_net(torch.ones(3, 4)).pow(2).mean()
        loss.backward()
        gradient, before = q_net[0].weight.grad.double(), q_net[0].weight.detach().double().clone()
        optimizer.step()
    after = q_net[0].weight.detach().double()
    found = load(tmp_path)
    for group, tensor in (("gradients", gradient), ("variable", before)):
        wanted = {
            "mean": tensor.mean(),
            "std": tensor.std(correction=0),
            "min": tensor.min(),
            "max": tensor.max(),
            "norm": tensor.norm(),
            "zeros": (tensor == 0).double().mean(),
            "nonfinite": torch.tensor(0.0),
        }
        for figure, value in wanted.items():
            (event,) = found.Scalars(f"q_net.0.weight/{group}/{figure}")
            assert event.value == pytest.approx(value.item(), rel=1e-6, abs=1e-12), figure
    (ratio,) = found.Scalars("q_net.0.weight/update/ratio")
    assert ratio.value == pytest.approx(((after - before).norm() / before.norm()).item(), rel=1e-5)
    assert found.Scalars("optimizer/loss")[0].value == pytest.approx(loss.item())
    assert found.Scalars("optimizer/learning_rate")[0].value == pytest.approx(0.5)


def test_before_and_after_clipping(tmp_path):
    with whygrad.watching(True, out=tmp_path):
        _, losses = train(5, clip=0.01)
    before = values(tmp_path, "optimizer/gradient_norm_before_clip")
    after = values(tmp_path, "optimizer/gradient_norm")
    share = values(tmp_path, "optimizer/clip_share")
    assert all(a == pytest.approx(0.01, rel=1e-3) and before[n] > a for n, a in after.items())
    assert all(share[n] == pytest.approx(1 - after[n] / before[n], rel=1e-4) for n in share)
    one = values(tmp_path, "q_net.0.weight/gradients/norm_before_clip")
    assert all(0 < one[n] < before[n] for n in before)
    assert list(values(tmp_path, "optimizer/loss").values()) == pytest.approx(losses)


def test_no_gradient_is_a_series_of_its_own(tmp_path):
    q_net, idle = network(), nn.Linear(2, 2)
    optimizer = torch.optim.SGD([*q_net.parameters(), *idle.parameters()], lr=0.1)
    with whygrad.watching(True, out=tmp_path):
        for update in range(4):
            optimizer.zero_grad()
            loss = q_net(torch.ones(1, 4)).sum()
            if update >= 2:
                loss = loss + idle(torch.ones(1, 2)).sum()
            loss.backward()
            optimizer.step()
    assert values(tmp_path, "idle.weight/gradients/absent") == {1: 1.0, 2: 1.0, 3: 0.0, 4: 0.0}
    assert steps(tmp_path, "idle.weight/gradients/norm") == [3, 4]
    assert steps(tmp_path, "idle.weight/variable/norm") == [1, 2, 3, 4]
    assert values(tmp_path, "optimizer/absent_gradients") == {1: 2.0, 2: 2.0, 3: 0.0, 4: 0.0}


def test_nan_is_counted_and_hides_nothing(tmp_path):
    net = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    with whygrad.watching(True, out=tmp_path):
        net(torch.tensor([[1.0, math.nan]])).sum().backward()
        optimizer.step()
    assert values(tmp_path, "net.weight/gradients/nonfinite") == {1: 2.0}
    assert values(tmp_path, "net.weight/gradients/max") == {1: 1.0}


class Kinds(nn.Module):
    """Half a dozen sorts of parameters."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 4, sparse=True)
        self.short = nn.Parameter(torch.randn(5, 4).bfloat16())
        self.wave = nn.Parameter(torch.randn(3, dtype=torch.complex64))
        self.long_one = nn.Parameter(torch.randn(4, dtype=torch.float64))
        self.scalar = nn.Parameter(torch.tensor(2.0))
        self.empty = nn.Parameter(torch.empty(0))
        self.tall = nn.Parameter(torch.randn(6, 2).t())

    def forward(self, index):
        found = (self.table(index).sum() + self.short.float().sum() + self.wave.abs().sum()) * self.scalar
        return found + self.long_one.sum().float() + self.empty.sum() + (self.tall * torch.ones(2, 6)).sum()


def test_every_sort_of_tensor(tmp_path):
    torch.manual_seed(0)
    net = Kinds()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with whygrad.watching(True, out=tmp_path) as run:
        net(torch.tensor([3, 3, 7])).backward()
        table = net.table.weight.grad.to_dense().double()
        parts = torch.view_as_real(net.wave.detach().clone()).double()
        half, tall = net.short.detach().double().clone(), net.tall.detach().double().clone()
        optimizer.step()
    assert run.result.watched.trouble == ""
    found = load(tmp_path)
    one = {tag: found.Scalars(tag)[0].value for tag in found.Tags()["scalars"]}
    assert one["net.table.weight/gradients/norm"] == pytest.approx(table.norm().item())
    assert one["net.table.weight/gradients/std"] == pytest.approx(table.std(correction=0).item())
    assert one["net.table.weight/gradients/zeros"] == pytest.approx((table == 0).double().mean().item())
    assert one["net.wave/variable/mean"] == pytest.approx(parts.mean().item(), rel=1e-5)
    assert one["net.wave/variable/norm"] == pytest.approx(parts.norm().item(), rel=1e-6)
    assert one["net.short/variable/std"] == pytest.approx(half.std(correction=0).item(), rel=1e-6)
    assert one["net.tall/variable/norm"] == pytest.approx(tall.norm().item(), rel=1e-6)
    assert one["net.scalar/variable/mean"] == 2.0
    assert one["net.empty/variable/norm"] == 0.0


def test_tied_weights_are_summarized_once(tmp_path):
    first = nn.Linear(4, 4, bias=False)
    second = nn.Linear(4, 4, bias=False)
    second.weight = first.weight
    net = nn.Sequential(first, second)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with whygrad.watching(True, out=tmp_path):
        net(torch.ones(1, 4)).sum().backward()
        optimizer.step()
    groups = {tag.partition("/")[0] for tag in load(tmp_path).Tags()["scalars"]}
    assert len(groups) == 2


def test_a_closure_is_summarized_with_its_last_gradients(tmp_path):
    net = nn.Linear(2, 1)
    optimizer = torch.optim.LBFGS(net.parameters(), lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = net(torch.ones(1, 2)).pow(2).sum()
        loss.backward()
        return loss

    with whygrad.watching(True, out=tmp_path) as run:
        for _ in range(3):
            optimizer.step(closure)
    assert steps(tmp_path, "net.weight/gradients/norm") == [1, 2, 3]
    assert run.result.watched.trouble == ""


def test_losses_of_two_optimizers_are_told_apart(tmp_path):
    first, second = nn.Linear(2, 1), nn.Linear(2, 1)
    sgd, adam = torch.optim.SGD(first.parameters(), lr=0.01), torch.optim.Adam(second.parameters(), lr=0.01)
    losses = {"sgd": [], "adam": []}
    with whygrad.watching(20, out=tmp_path):
        for update in range(1, 101):
            for name, net, optimizer in (("sgd", first, sgd), ("adam", second, adam)):
                if name == "adam" and update % 2:
                    continue
                loss = net(torch.randn(4, 2)).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses[name].append(loss.item())
    for name, numbers in (("sgd", [20, 40, 60, 80, 100]), ("adam", [20, 40])):
        found = values(tmp_path, f"{name}/loss")
        assert found == pytest.approx({n: losses[name][n - 1] for n in numbers})


def test_optimizers_that_are_made_anew_go_on(tmp_path):
    net = nn.Linear(2, 1)
    with whygrad.watching(True, out=tmp_path):
        for _ in range(3):
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            net(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            del optimizer
    assert steps(tmp_path, "net.weight/gradients/norm") == [1, 2, 3]


def test_a_function_that_fails_stops_summaries_and_nothing_else(tmp_path):
    with whygrad.watching(lambda number: 1 / (number - 3) < 9, out=tmp_path) as run:
        q_net, _ = train(6)
    assert all(torch.isfinite(p).all() for p in q_net.parameters())
    assert "ZeroDivisionError" in run.result.watched.trouble
    assert any("summaries ended early" in note.text for note in run.result.notes)


def test_history_is_in_the_evidence_of_the_run_and_on_disk(tmp_path):
    with whygrad.watching(2, out=tmp_path) as run:
        train(20)
        registry = run._registry
        evidence = registry.observe()["torch"].evidence
    (norm,) = [
        s for s in evidence.history if (s.variable, s.quantity) == ("q_net.0.weight", "gradients/norm")
    ]
    assert norm.steps == tuple(range(2, 21, 2))
    assert norm.optimizer == "optimizer"
    assert list(norm.high) == pytest.approx(
        [v for _, v in sorted(values(tmp_path, "q_net.0.weight/gradients/norm").items())]
    )
    saved = history.load(tmp_path / "watch.history")
    assert [s for s in saved if s.quantity == norm.quantity and s.variable == norm.variable] == [norm]


def test_hooks_are_gone_afterwards(tmp_path):
    before = torch.autograd.backward
    with whygrad.watching(True, out=tmp_path):
        assert torch.autograd.backward is not before
    assert torch.autograd.backward is before
    size = sum(f.stat().st_size for f in tmp_path.iterdir())
    train(3)
    assert sum(f.stat().st_size for f in tmp_path.iterdir()) == size


@pytest.mark.parametrize("script", ["dqn.py", "actor_critic.py"])
def test_bit_equal_weights_and_the_same_output(lab, script):
    shutil.copy(SCRIPTS / script, lab.folder)
    alone = lab.python(script)
    weights = (lab.folder / "weights.bin").read_bytes()
    (lab.folder / "weights.bin").unlink()
    assert lab.whygrad("run", "--quiet", "--out", "out", "--every", "1", script) == alone
    assert (lab.folder / "weights.bin").read_bytes() == weights
    report = json.loads((lab.folder / "out" / "report.json").read_text())
    assert report["watched"]["updates"] == sum(u["count"] for u in report["updates"]) >= 60
    assert report["watched"]["trouble"] == ""
    assert len(load(lab.folder / "out").Tags()["scalars"]) > 50


def test_the_line_to_paste(lab):
    lab.write(
        """
        import torch
        net = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(60):
            optimizer.zero_grad()
            net(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        """
    )
    done = lab.whygrad("run", "--watch", "--every", "20", "--out", "a folder", "train.py")
    assert (
        "whygrad: 3 updates were summarized (every 20 updates): tensorboard --logdir 'a folder'"
        in done.stderr
    )
    done = lab.whygrad("run", "--watch", "train.py")
    assert (
        "no update was summarized: there were 60, and it is every 100 updates; --every 1 takes all"
        in done.stderr
    )
    done = lab.whygrad("run", "--every", "0", "train.py")
    assert done.code == 2 and "positive number" in done.stderr
