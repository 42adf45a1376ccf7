"""Messages: every text is a message or raises an error that says why not."""

import dataclasses
import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwrl.web.messages import Message, MessageError, parse
from fwrl.web.play.protocol import TYPES

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
names = st.sampled_from(["cell", "value", "side", "name", "seed", "text", "anywhere", "step", "frame"])
nearly = st.builds(
    lambda kind, fields: {"type": kind, **fields},
    st.sampled_from(sorted(TYPES)),
    st.dictionaries(names, anything, max_size=2),
)


@settings(max_examples=400)
@given(said=st.text() | anything.map(json.dumps) | nearly.map(json.dumps))
def test_every_text_is_a_message_or_refused_with_an_error(said):
    outcome: Message | str
    try:
        outcome = parse(said, TYPES)
    except MessageError as error:
        outcome = str(error)
    assert 0 < len(outcome) < 500 if isinstance(outcome, str) else type(outcome) in TYPES.values()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", "expected a JSON object"),
        ("[" * 100_000, "expected a JSON object"),
        ('{"type": "speed", "value": NaN}', "expected a JSON object"),
        ('{"type": "speed", "value": Infinity}', "expected a JSON object"),
        ('{"type": "speed", "value": 1e999}', "at least 1 step a second"),
        ('{"type": "speed", "value": 0.5}', "at least 1 step a second"),
        ('{"type": ["goal"]}', "with a 'type'"),
        ('{"type": "gaol"}', "did you mean 'goal'"),
        ('{"type": "goal"}', r"expected the fields \['cell'\]"),
        ('{"type": "goal", "cell": 1, "x": 1}', r"expected the fields \['cell'\]"),
        ('{"type": "goal", "cell": true}', "as int, got True"),
        ('{"type": "goal", "cell": 1.0}', "as int"),
        ('{"type": "starts", "anywhere": 1}', "as bool"),
        ('{"type": "agent", "side": 2, "name": "ql", "options": {}}', "side 0 or 1"),
        ('{"type": "agent", "side": 1, "name": "ql", "options": []}', "as dict"),
        ('{"type": "triangle", "move": "nxt"}', "did you mean 'next'"),
        ('{"type": "reset", "seed": -1}', "a seed from 0"),
    ],
)
def test_the_error_says_what_is_wrong(said, reason):
    with pytest.raises(MessageError, match=reason):
        parse(said, TYPES)


def test_every_message_can_be_said():
    example = {"int": 1, "float": 2.5, "str": "next", "bool": True, "dict[str, Any]": {"a": 1}}
    for kind, wanted in TYPES.items():
        fields = {field.name: example[str(field.type)] for field in dataclasses.fields(cast(Any, wanted))}
        message = parse(json.dumps({"type": kind, **fields}), TYPES)
        assert message == wanted(**fields)
        assert issubclass(wanted, Message)
