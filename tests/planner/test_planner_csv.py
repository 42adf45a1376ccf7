"""CSV as people write it is read; what cannot be read is refused with the line and the option that helps."""

from __future__ import annotations

import codecs
import gzip

import numpy as np
import pytest

import fwrl
from fwrl.errors import FileError, FwrlError, OptionError
from fwrl.planner.ingest.discover import new_copy, without_folder
from fwrl.planner.ingest.read_options import LogError

MOVES = [("ä", "b"), ("b", "c")]
TEXT = "state,next_state\nä,b\nb,c\n"


def moves(planner):
    """The edges as pairs of labels."""
    experience = planner.experience
    ends = (experience.states.decode(codes.tolist()) for codes in (experience.source, experience.target))
    return sorted(zip(*ends, strict=True))


def fitted(path, content, **options):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return fwrl.fit(path, **options)


@pytest.mark.parametrize(
    "content",
    [
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    ],
    ids=["utf-8", "utf-16-le", "utf-16-be"],
)
def test_a_byte_order_mark_tells_the_encoding(tmp_path, content):
    assert moves(fitted(tmp_path / "log.csv", content)) == sorted(MOVES)


def test_other_encodings_are_named_and_read_on_request(tmp_path):
    path = tmp_path / "log.csv"
    for content, where in ((TEXT, "line 2: not text"), ("Länge," + TEXT, "the first line of .* is not text")):
        with pytest.raises(LogError, match=where) as error:
            fitted(path, content.encode("cp1252"))
        assert error.value.option == "encoding"
    assert moves(fitted(path, TEXT.encode("cp1252"), encoding="cp1252")) == sorted(MOVES)
    packed = tmp_path / "log.csv.gz"
    assert moves(fitted(packed, gzip.compress(TEXT.encode("latin-1")), encoding="latin-1")) == sorted(MOVES)
    with pytest.raises(LogError, match=r"is not text in utf-16"):
        fitted(path, codecs.BOM_UTF16_LE + b"a")
    with pytest.raises(OptionError, match="expected an encoding such as"):
        fwrl.fit(path, encoding="utf-9")


def test_json_lines_may_begin_with_a_mark(tmp_path):
    lines = '{"state": "ä", "next_state": "b"}\n{"state": "b", "next_state": "c"}\n'
    assert moves(fitted(tmp_path / "log.jsonl", codecs.BOM_UTF8 + lines.encode())) == sorted(MOVES)


@pytest.mark.parametrize(
    "text",
    [
        "state, next_state\na, b\nb, c\n",
        " state , next_state\n a , b\nb\t,c\n",
        "\n\nstate,next_state\na,b\nb,c\n",
        "sep=;\nstate;next_state\na;b\nb;c\n",
        'note,state,next_state,note\n"x\ny",a,b,1\n,b,c,2\n',
        '"a, b, c and d";state;next_state\n1;a;b\n2;b;c\n',
        '"one\nname",state,next_state\n1,a,b\n2,b,c\n',
        "x,state,next_state,X\n1,a,b,2\n1,b,c,2\n",
    ],
    ids=["blanks", "more-blanks", "blank-lines", "sep", "breaks", "commas-in-a-name", "break-in-a-name", "twice"],
)
def test_texts_as_people_write_them(tmp_path, text):
    assert moves(fitted(tmp_path / "log.csv", text)) == [("a", "b"), ("b", "c")]


def test_blanks_hide_no_missing_value_and_no_integer(tmp_path):
    text = "trip, time, state, next_state\n1, 5, 7, 8\n1, 6, NA, 9\n"
    with pytest.raises(LogError, match="row 2: expected a value as state, got nothing"):
        fitted(tmp_path / "log.csv", text)
    planner = fwrl.fit(tmp_path / "log.csv", skip_bad=True)
    assert (list(planner.states), planner.experience.time) == ([7, 8], "integer")


def test_of_columns_with_the_same_name_one_is_chosen_by_number(tmp_path):
    text = "state,next_state,state\nx,b,a\ny,c,b\n"
    with pytest.raises(LogError, match="has 2 columns named 'state'") as error:
        fitted(tmp_path / "log.csv", text)
    assert error.value.option == "columns"
    planner = fitted(tmp_path / "log.csv", text, columns={"state": "3"}, header=True)
    assert moves(planner) == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("state,next_state\na,b\nb,c,d,e\n", "line 3: expected 2 values, one for each column, got more"),
        ("state,next_state,action\na,b,l\nb,c\n", "line 3: expected 3 values, one for each column, got fewer"),
        ('state,next_state\na,b\n"b,c\nc,d\n', "line 3: a quote that is not closed"),
        (f"state,next_state\n{'x' * 2_100_000},b\nb,c\n", "line 2: a line of more than 2,000,000 bytes"),
    ],
    ids=["too-many", "too-few", "quote", "long"],
)
def test_a_line_that_cannot_be_divided_is_named_or_left_out(tmp_path, text, said):
    with pytest.raises(LogError, match=rf"log.csv, {said}.*skip such rows") as error:
        fitted(tmp_path / "log.csv", text)
    assert "Error" not in error.value.problem


MANY = "c,d\n" * 600_000


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'state,next_state\na,b\n"b,c\n{MANY}', "has a quote before 'b,c' that isn't closed"),
        (f"state,next_state\na,b\nb,{'x' * 5_000_000}\n", "the last line .* more than 2,000,000 bytes"),
        (f"state,next_state\r\na,{'x' * 5_000_000}\r\n\r\n", "the last line .* more than 2,000,000 bytes"),
    ],
    ids=["quote", "long", "only"],
)
def test_no_end_of_a_log_is_lost_silently(tmp_path, name, text, said):
    """DuckDB leaves out a last record of more than its buffer without a word."""
    with pytest.raises(FileError, match=said):
        fitted(tmp_path / name, gzip.compress(text.encode(), 1) if name.endswith(".gz") else text)


def test_skipping_bad_rows_skips_no_row_that_a_quote_hides(tmp_path):
    """DuckDB counts all that follows an open quote as one bad row."""
    rows = [f"s{k % 50},s{(k + 1) % 50}" for k in range(50_000)]
    rows[25_000] = '"' + rows[25_000]
    with pytest.raises(FwrlError, match=r"log\.csv, line 25,002: a quote that isn't closed hides the rows after it"):
        fitted(tmp_path / "log.csv", "\n".join(["state,next_state", *rows, ""]), skip_bad=True)
    rows[25_000] = '"s0"s,s1'  # a quote that hides nothing
    planner = fitted(tmp_path / "log.csv", "\n".join(["state,next_state", *rows, ""]), skip_bad=True)
    assert planner.summary.transitions == 49_999


def test_a_quote_that_is_opened_in_the_last_column_loses_no_row_silently(tmp_path):
    """DuckDB took all that follows for the padding of a short row."""
    rows = [f"a{k % 97},b{k % 89}" for k in range(700_000)]
    rows[500_000] = 'a,"b'
    with pytest.raises(
        FwrlError, match="a quote that is not closed"
    ):  # with its line, or not: threads race for the error
        fitted(tmp_path / "log.csv", "\n".join(["state,next_state", *rows, ""]))


@pytest.mark.parametrize("first", ['5" pipe,b\n', '"a,",b\n', '"a,",",b"\n', 'a,"b\nc"\n', '"a""",b\n'])
def test_quotes_before_many_rows_are_read(tmp_path, first):
    assert fitted(tmp_path / "log.csv", f"state,next_state\n{first}{MANY}").summary.transitions == 600_001


@pytest.mark.parametrize("name", ["log.csv", "log.txt", "log.csv.gz"])
@pytest.mark.parametrize("content", ["", "\n \n"])
def test_an_empty_file_is_called_empty(tmp_path, name, content):
    packed = gzip.compress(content.encode()) if name.endswith(".gz") else content
    with pytest.raises(FileError, match=rf"{name}' is empty"):
        fitted(tmp_path / name, packed)


@pytest.mark.parametrize("content", ["", "[]", "3", '[["a", "b"]]'])
def test_json_without_objects_is_refused_in_words(tmp_path, content):
    with pytest.raises(FwrlError, match=r"log\.json.*expected .*JSON object|expected JSON objects in .*log\.json"):
        fitted(tmp_path / "log.json", content)


def test_thousands_are_not_taken_for_decimals(tmp_path):
    text = "state;next_state;reward\na;b;-1.234,5\n"
    with pytest.raises(LogError, match=r"got '-1\.234,5'") as error:
        fitted(tmp_path / "log.csv", text, decimal=",")
    assert error.value.option == "skip_bad"  # the option for decimal commas is set already


def test_times_that_are_all_empty_in_one_file_are_bad_rows_there(tmp_path):
    (tmp_path / "one.csv").write_text("trip,time,state,next_state\n1,2024-01-01,a,b\n")
    (tmp_path / "two.csv").write_text("time,trip,state,next_state\n,1,b,c\n")
    logs = [tmp_path / "one.csv", tmp_path / "two.csv"]
    with pytest.raises(LogError, match=r"two\.csv, row 1: expected a value as time, got nothing"):
        fwrl.fit(logs)
    assert fwrl.fit(logs, skip_bad=True).summary.skipped == 1


def test_messages_name_a_copy_as_its_original(tmp_path):
    copy = new_copy("logs/day.csv.gz", ".csv", str(tmp_path / "scratch"))
    assert copy.name == "day.csv"
    assert new_copy("one.csv.gz", ".csv.gz", str(tmp_path / "scratch")).name == "one.csv.gz"
    assert without_folder(f"in {copy}: bad", str(tmp_path / "scratch")) == "in day.csv: bad"


def test_the_values_of_a_large_padded_log_are_those_of_the_bare_one(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 40, (20_000, 2)).tolist()
    for name, form in (("bare.csv", "{},{}"), ("padded.csv", " {} ,\t{} ")):
        lines = [form.format("state", "next_state"), *(form.format(*row) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    bare, padded = (fwrl.fit(tmp_path / name) for name in ("bare.csv", "padded.csv"))
    assert (list(bare.states), moves(bare)) == (list(padded.states), moves(padded))
    np.testing.assert_array_equal(bare.experience.count, padded.experience.count)


def test_a_long_file_is_read_with_little_memory(tmp_path):
    rows = 400_000
    path = tmp_path / "log.csv"
    path.write_text(
        "state,next_state,reward\n" + "".join(f"station {k % 50},station {k % 49},-1.5\n" for k in range(rows))
    )
    assert path.stat().st_size > 10_000_000
    assert fwrl.fit(path, memory="20MB").summary.transitions == rows
