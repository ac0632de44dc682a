"""The instrument itself: edits leave the rest as it is, lines are those of the mutant, operators do what they say."""

from __future__ import annotations

import pytest
from mutants.corpus import programs
from mutants.registry import OPERATORS, mutants_of, operators_named
from mutants.sampling import choose, made_of
from mutants.source import Edit, Source, edited, whole_statements

OWN = programs(("programs",))

ACTOR = """\
import torch

class Actor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.l1(x)

actor = Actor()
critic = torch.nn.Sequential(torch.nn.Linear(3, 1))
optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
for _ in range(3):
    state = torch.randn(4, 2)
    action = actor(state)
    actor_loss = -critic(torch.cat([state, action], 1)).mean()
    optimizer.zero_grad()
    actor_loss.backward()
    optimizer.step()
"""


def mutated(name, text=ACTOR):
    return list(mutants_of("actor", Source(text), OPERATORS[name]))


def line(mutant, number):
    return mutant.text.splitlines()[number - 1].strip()


def test_the_line_of_a_mutant_is_where_its_text_says():
    (mutant,) = mutated("detach-action")
    assert [line(mutant, n) for n in mutant.lines] == [
        "actor_loss = -critic(torch.cat([state, action.detach()], 1)).mean()"
    ]


def test_nothing_else_of_the_text_changes():
    (mutant,) = mutated("minus-missing")
    pairs = list(zip(ACTOR.splitlines(), mutant.text.splitlines(), strict=True))
    assert sum(old != new for old, new in pairs) == 1


def test_a_statement_that_moves_down_is_found_where_it_is_now():
    (mutant,) = mutated("zero-grad-before-step")
    assert [line(mutant, n) for n in mutant.lines] == ["optimizer.zero_grad()"]
    assert mutant.text.index("backward()") < mutant.text.index("zero_grad()")


def test_lines_below_an_insertion_are_counted_on():
    source = Source("a = 1\nb = 2\nc = 3\n")
    result = edited(source, [Edit(6, 6, "new = 0\n")])
    assert result.text == "a = 1\nnew = 0\nb = 2\nc = 3\n"
    assert result.touched == {2}
    assert [result.moved[n] for n in (1, 2, 3)] == [1, 3, 4]


def test_edits_that_overlap_are_refused():
    with pytest.raises(ValueError, match="overlap"):
        edited(Source("value = 1\n"), [Edit(0, 5, "x"), Edit(3, 7, "y")])


def test_a_statement_over_several_lines_counts_as_a_whole():
    assert whole_statements("x = [\n    1,\n    2,\n]\ny = 3\n", {2}) == {1, 2, 3, 4}


@pytest.mark.parametrize("program", OWN, ids=lambda program: program.name)
def test_mutants_are_programs_that_differ_and_have_a_line(program):
    for mutant in made_of([program], list(OPERATORS)):
        compile(mutant.text, mutant.name, "exec")
        assert mutant.text != program.source.text
        assert mutant.lines, mutant.name
        assert max(mutant.lines) <= len(mutant.text.splitlines()), mutant.name


def test_every_operator_fits_one_of_our_programs():
    assert {mutant.operator for mutant in made_of(OWN, list(OPERATORS))} == set(OPERATORS)


def test_operators_are_chosen_by_their_names_or_by_the_files_that_they_stand_in():
    assert operators_named(["never-synced", "detach-action"]) == ["detach-action", "never-synced"]
    later = operators_named(["later*"])
    assert "sync-rebinds" in later
    assert "detach-action" not in later
    assert set(operators_named(["later_targets"])) < set(later)
    assert operators_named(["*"]) == list(OPERATORS)


def test_a_name_that_no_operator_has_is_refused():
    with pytest.raises(ValueError, match="detach-everything"):
        operators_named(["detach-action", "detach-everything"])


def test_a_seed_draws_the_same_sample_again_and_operators_take_turns():
    everything = made_of(OWN, list(OPERATORS))
    one, again, other = (choose(everything, 50, seed) for seed in (1, 1, 2))
    assert one == again != other
    assert len({mutant.operator for mutant in one}) == 50
