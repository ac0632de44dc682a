"""What is written comes back; what does not fit together does not."""

from __future__ import annotations

import subprocess
import sys
import zlib
from dataclasses import replace

import msgspec
import numpy
import pytest
from tests.unit.storage.samples import Everything, actor_critic, empty, nothing_seen

from whygrad.model import (
    About,
    Backward,
    Evidence,
    Flow,
    Note,
    Observation,
    Op,
    Raised,
    Recording,
    Site,
    Update,
    source,
)
from whygrad.storage import limits
from whygrad.storage.packing import Broken, pack, unpack

MAGIC = b"whygrad evidence 2\n"


def back(recording, **options):
    """There and back, with the source text that the recording brings along."""
    with source.reading(source.Texts(recording.sources)):
        found = unpack(pack(recording, **options))
    return replace(found, whygrad=recording.whygrad)


def opened(data):
    """What is inside of a file, as plain objects."""
    return msgspec.msgpack.decode(zlib.decompress(data.removeprefix(MAGIC)))


def sealed(plain):
    """And a file again."""
    return MAGIC + zlib.compress(msgspec.msgpack.encode(plain))


@pytest.mark.parametrize("recording", [actor_critic(), actor_critic(cut=False), empty(), nothing_seen()])
def test_what_is_written_comes_back(recording):
    assert back(recording) == recording


def test_every_field_of_the_model_comes_back():
    # GIVEN a recording in which no field has its default value
    recording = Everything().recording()
    # THEN it is the same after it was written and read, but for source text, which is read from files
    assert back(recording) == replace(recording, sources={})


def test_what_flows_share_is_written_and_made_once():
    recording = actor_critic()
    evidence = recording.observed["torch"].evidence
    plain = opened(pack(recording))
    met = {id(op) for u in evidence.updates for b in u.backwards for op in b.flow.ops.values()}
    assert len(plain["ops"]) == len(met)
    sites = [(s["file"], s["line"]) for s in plain["sites"]]
    assert len(sites) == len(set(sites))
    again = back(recording).observed["torch"].evidence
    first, second = (u.backwards[0].flow for u in again.updates[:2])
    shared = first.ops.keys() & second.ops.keys()
    assert shared and all(first[n] is second[n] for n in shared)


def test_files_get_other_names_and_bring_their_text(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("a = 1\n\x0cb = 2  # a form feed is no end of a line\n")
    notes = (Note("here", Site(str(script), 2, code="b = 2")),)
    found = unpack(
        pack(Recording(About("train.py", notes=notes)), named=lambda file: file.rpartition("/")[2])
    )
    assert found.about.notes[0].site == Site("train.py", 2, code="b = 2")
    assert found.sources == {"train.py": script.read_text()}
    with source.reading(source.Texts(found.sources)):
        assert source.line("train.py", 2).startswith("\x0cb = 2")
        assert source.line("other.py", 1) == source.line(str(script), 1) == ""
    assert source.line(str(script), 1) == "a = 1\n"


def test_without_source_not_a_line_of_it_is_in_the_file(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("secret = 42\n")
    site = Site(str(script), 1, "<module>", "secret = 42")
    recording = Recording(
        About("train.py", exception=Raised("ValueError", "no", site), notes=(Note("a", site),))
    )
    assert b"secret" in msgspec.msgpack.encode(opened(pack(recording)))
    assert b"secret" not in msgspec.msgpack.encode(opened(pack(recording, with_source=False)))


def test_numbers_and_texts_of_a_framework_become_plain():
    class Version(str):
        """As torch has one."""

    seen = Observation(Evidence(looks={}), version=Version("2.13"))
    clip = replace(seen, evidence=Evidence(always_absent={1: frozenset([int(numpy.int64(3))])}))
    loss = Backward(1, None, (), Flow(), value=numpy.float32(0.5))
    with_loss = replace(seen, evidence=Evidence(loose=(loss,)))
    found = unpack(pack(Recording(About("x"), {"a": clip, "b": with_loss})))
    assert type(found.observed["a"].version) is str
    assert found.observed["b"].evidence.loose[0].value == 0.5


def test_what_is_no_text_is_written_all_the_same():
    recording = actor_critic()
    about = replace(recording.about, argv=("--name", "\udcff"), exception=Raised("ValueError", "\ud800"))
    found = back(replace(recording, about=about))
    assert found.about.argv == ("--name", "\\udcff") and found.about.exception.message == "\\ud800"
    assert found.observed == recording.observed


def test_files_of_other_versions_of_the_model_can_be_read():
    # GIVEN a file of a version that did not know a field yet, and one that knows more
    plain = opened(pack(actor_critic()))
    plain["ops"][0].pop("carries", None)
    plain["ops"][0]["of the future"] = [1, 2]
    plain["recording"]["about"]["of the future"] = {}
    assert unpack(sealed(plain)).about.script == "train.py"


def test_another_format_is_refused_with_its_number():
    with pytest.raises(Broken, match="has format '1', and this version of whygrad reads format 2"):
        unpack(b"whygrad evidence 1\n" + zlib.compress(b""))


def test_a_kind_of_operation_that_nobody_knows_is_one_sentence():
    plain = opened(pack(actor_critic()))
    assert any(op.get("kind") == "linear" for op in plain["ops"])
    plain["ops"][0]["kind"] = "of the future"
    with pytest.raises(Broken, match=r"^is damaged: Invalid enum value 'of the future'[^\n]*$"):
        unpack(sealed(plain))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is no evidence"),
        (b"PK\x03\x04", "is no evidence"),
        (MAGIC, "is not complete"),
        (MAGIC + b"no zlib", "is damaged"),
        (MAGIC + zlib.compress(b""), "truncated"),
        (MAGIC + zlib.compress(b"\xdd\xff\xff\xff\xff"), "is damaged"),
        (MAGIC + zlib.compress(b"\x81" * 100_000), "is damaged"),
    ],
)
def test_what_is_no_evidence(data, why):
    with pytest.raises(Broken, match=why):
        unpack(data)


def test_a_file_that_is_cut_short_or_goes_on():
    data = pack(actor_critic())
    with pytest.raises(Broken, match="is not complete"):
        unpack(data[:-1])
    with pytest.raises(Broken, match="something follows its end"):
        unpack(data + b"x")


def test_a_little_file_that_would_fill_the_memory():
    bomb = MAGIC + zlib.compress(bytes(limits.UNPACKED + 1))
    assert len(bomb) < 100_000
    with pytest.raises(Broken, match="has more than 32 MB in it"):
        unpack(bomb)


def test_more_than_can_be_read_is_not_written(monkeypatch):
    monkeypatch.setattr(limits, "UNPACKED", 1000)
    with pytest.raises(Broken, match="more than can be read"):
        pack(actor_critic())
    monkeypatch.setattr(limits, "UNPACKED", 1 << 20)
    monkeypatch.setattr(limits, "ROWS", 10)
    with pytest.raises(Broken, match="more than can be read"):
        pack(actor_critic())


def test_flows_that_would_fill_the_memory(monkeypatch):
    data = pack(actor_critic())
    monkeypatch.setattr(limits, "MEMBERS", 10)
    with pytest.raises(Broken, match="more than 10 members"):
        unpack(data)


def _flowing(ops, **backward):
    one = Backward(1, None, (1,), Flow({op.id: op for op in ops}))
    update = Update(1, 1, None, frozenset(), frozenset(), (replace(one, **backward),))
    return pack(Recording(About("x"), {"torch": Observation(Evidence(updates=(update,)))}))


def test_references_that_lead_nowhere_or_in_circles():
    fine = (Op(1, "mul", (2, 2)), Op(2, "read"))
    unpack(_flowing(fine))
    with pytest.raises(Broken, match="made from itself"):
        unpack(_flowing((Op(1, "mul", (2,)), Op(2, "add", (1,)))))
    with pytest.raises(Broken, match="there is no operation 3"):
        unpack(_flowing((Op(1, "mul", (2, 3)), Op(2, "read"))))
    for field in ("roots", "exits", "ends", "unconnected", "unused"):
        with pytest.raises(Broken, match="there is no operation 9"):
            unpack(_flowing(fine, **{field: (9,)}))
    with pytest.raises(Broken, match="there is no operation 9"):
        unpack(_flowing(fine, shares={9: {}}))


@pytest.mark.parametrize("number", [-1, 10_000])
def test_numbers_of_rows_that_there_are_not(number):
    plain = opened(pack(actor_critic()))
    update = plain["recording"]["observed"]["torch"]["evidence"]["updates"][0]
    update["backwards"] = [number]
    with pytest.raises(Broken, match="is damaged"):
        unpack(sealed(plain))


def test_two_backwards_of_one_number_and_keys_of_others():
    plain = opened(pack(actor_critic()))
    plain["backwards"][1]["number"] = plain["backwards"][0]["number"]
    with pytest.raises(Broken, match="the same number"):
        unpack(sealed(plain))
    plain = opened(pack(actor_critic()))
    parameters = plain["recording"]["observed"]["torch"]["evidence"]["parameters"]
    parameters[next(iter(parameters))]["key"] = 99
    with pytest.raises(Broken, match="keys"):
        unpack(sealed(plain))


def test_reading_and_writing_needs_msgspec_and_nothing_else_does():
    code = "import sys, whygrad, whygrad.cli.main; whygrad.watching; print('msgspec' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
