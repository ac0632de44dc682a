"""Names, lists and numbers in sentences."""

from whygrad.model import Site
from whygrad.rules import words
from whygrad.rules.paths.detached import Detached


def test_who_is_the_part_that_suffers_unless_all_of_the_network_does(parameters):
    assert str(words.who(Detached(subjects=parameters()))) == "actor.net"
    assert str(words.who(Detached(subjects=parameters(), whole=frozenset({"actor"})))) == "actor"
    both = parameters("a") + parameters("b")
    assert str(words.who(Detached(subjects=both, whole=frozenset("b")))) == "a.net and b"
    assert str(words.who(Detached(subjects=parameters("pi", ("log_std",))))) == "pi.log_std"


def test_who_of_nobody():
    assert str(words.who(Detached())) == "nothing"


def test_listed():
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b"]) == "a and b"
    assert words.listed(["a", "b", "c"]) == "a, b and c"
    assert words.listed(list("abcdefg")) == "a, b, c and 4 more"


def test_summed_names_layers_then_networks():
    assert words.summed(["pi.log_std"]) == "pi.log_std"
    keys = [f"params['{i}.{part}']" for i in (0, 2) for part in ("weight", "bias")]
    assert words.summed(keys[:2]) == "params['0.weight'], params['0.bias']"
    assert words.summed(keys, "params") == "params (4 parameters)"
    assert words.summed(["a.0.weight", "a.0.bias"]) == "a.0 (2 parameters)"
    many = [f"a.net.{n}.weight" for n in range(6)] + ["b.weight"]
    assert words.summed(many) == "a.net, b.weight (7 parameters)"
    pair = [f"all.agents[{n}].pi.{k}.weight" for n in range(2) for k in range(2)]
    assert (
        words.summed(pair, "all.agents[0], all.agents[1]")
        == "all.agents[0].pi, all.agents[1].pi (4 parameters)"
    )


def test_common_knows_keys():
    assert words.common(["m.heads['a.b'].weight", "m.heads['c'].weight"]) == "m.heads"
    assert words.common(["a.x", "b.x"]) == ""


def test_in_scope_speaks_as_the_line_does():
    assert words.in_scope("agent.critic", "opt = Adam(self.actor.parameters())") == "self.critic"
    assert words.in_scope("agent.critic", "opt = Adam(agent.actor.parameters())") == "agent.critic"
    assert words.in_scope("critic", "opt = Adam(self.actor.parameters())") == "critic"


def test_place():
    here = Site("/a/train.py", 3)
    assert words.place(Site("/a/train.py", 9), here) == "line 9"
    assert words.place(Site("/a/nets.py", 9), here) == "nets.py:9"
    assert words.place(None) == ""


def test_code_is_flat_and_short():
    assert words.code("a  =\n b") == "`a = b`"
    assert words.code("x" * 100, 10) == "`xxxxxxx...`"


def test_a_part_of_a_stack_is_written_with_its_index():
    assert words.attribute("model.encoder.0.weight") == "model.encoder[0]"
    assert words.attribute("model.blocks.1.mlp.2.weight") == "model.blocks[1].mlp[2]"


def test_nothing_is_left_of_a_line_that_gives_a_variable_to_itself():
    assert words.write("values = values") == "delete this line"
    assert words.write("z = encoder(x)") == "write `z = encoder(x)`"
