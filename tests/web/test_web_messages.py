"""Messages: every text is a message or raises an error that says why not."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwrl.web.messages import Message, MessageError, fields_of, parse
from fwrl.web.play.controller import HANDLERS

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
names = st.sampled_from(["cell", "value", "side", "name", "seed", "text", "anywhere", "step", "frame"])
nearly = st.builds(
    lambda kind, fields: {"type": kind, **fields},
    st.sampled_from(sorted(HANDLERS)),
    st.dictionaries(names, anything, max_size=2),
)


@settings(max_examples=400)
@given(said=st.text() | anything.map(json.dumps) | nearly.map(json.dumps))
def test_every_text_is_a_message_or_refused_with_an_error(said):
    outcome: Message | str
    try:
        outcome = parse(said, HANDLERS)
    except MessageError as error:
        outcome = str(error)
    assert 0 < len(outcome) < 500 if isinstance(outcome, str) else outcome.kind in {*HANDLERS, "ack"}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", "expected a JSON object"),
        ("[" * 100_000, "expected a JSON object"),
        ('{"type": "speed", "value": NaN}', "expected a JSON object"),
        ('{"type": "speed", "value": Infinity}', "expected a JSON object"),
        ('{"type": ["goal"]}', "with a 'type'"),
        ('{"type": "gaol"}', "did you mean 'goal'"),
        ('{"type": "goal"}', r"expected the fields \['cell'\]"),
        ('{"type": "goal", "cell": 1, "x": 1}', r"expected the fields \['cell'\]"),
        ('{"type": "goal", "cell": true}', "as int, got True"),
        ('{"type": "goal", "cell": 1.0}', "as int"),
        ('{"type": "starts", "anywhere": 1}', "as bool"),
        ('{"type": "agent", "side": 1, "name": "ql", "options": []}', "as dict"),
    ],
)
def test_the_error_says_what_is_wrong(said, reason):
    with pytest.raises(MessageError, match=reason):
        parse(said, HANDLERS)


def test_every_message_can_be_said():
    example = {int: 1, float: 2.5, str: "next", bool: True, dict[str, Any]: {"a": 1}}
    for kind, handler in HANDLERS.items():
        fields = {name: example[hint] for name, hint in fields_of(handler).items()}
        assert parse(json.dumps({"type": kind, **fields}), HANDLERS) == Message(kind, fields)
