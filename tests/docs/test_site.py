"""The documentation site: it builds without a warning, describes every public name, and needs no network."""

from __future__ import annotations

import html
import importlib
import inspect
import json
import re
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import write_commands
import write_names
from check_links import broken_links, fetched

import fwrl

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted((DOCS / "reference").glob("*.md"))
PACKAGES = [name for path in PAGES for name in re.findall(r"automodule:: (\S+)", path.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    pytest.importorskip("furo")
    folder = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--fail-on-warning",
        "--quiet",
        "--builder",
        "html",
        str(DOCS),
        str(folder),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_link_leads_somewhere_and_nothing_is_fetched(site):
    assert broken_links(site) == []
    assert fetched(site) == []


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html">b</a> <a href="#c">c</a> <img src="https://host/d.png">')
    assert broken_links(tmp_path) == ["a.html: b.html", "a.html: #c"]
    assert fetched(tmp_path) == ["a.html: https://host/d.png"]


def described(site: Path) -> set[str]:
    """The full names that the site describes, from its inventory."""
    text = (site / "objects.inv").read_bytes()
    lines = zlib.decompress(text.split(b"\n", 4)[4]).decode().splitlines()
    return {line.split()[0] for line in lines if " py:" in line}


def test_every_public_package_has_a_page():
    folders = {path.parent.name for path in (DOCS.parent / "src" / "fwrl").glob("*/__init__.py")}
    assert {f"fwrl.{name}" for name in folders - {"cli", "web", "kernels", "navigator", "samples"}} <= set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_described(site, package):
    module, names = importlib.import_module(package), described(site)
    ours = [name for name in module.__all__ if getattr(getattr(module, name), "__module__", "fwrl").startswith("fwrl")]
    exported = {name for name in ours if name in fwrl.__all__ and getattr(fwrl, name) is getattr(module, name)}
    homes = {name: f"{'fwrl' if name in exported else package}.{name}" for name in ours}
    missing = [name for name, home in homes.items() if home not in names]
    assert ours
    assert missing == []


def members(cls: type) -> set[str]:
    """The public methods and properties that a class has from `fwrl`, inherited ones included."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("fwrl")]
    told = {
        name
        for base in ours
        for name, thing in vars(base).items()
        if callable(thing) or inspect.isdatadescriptor(thing)
    }
    return {name for name in told if not name.startswith("_") and name != "Config"}


CLASSES = [name for name in fwrl.__all__ if inspect.isclass(getattr(fwrl, name))]


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_member_of_a_class_is_described_with_it(site, name):
    missing = {member for member in members(getattr(fwrl, name)) if f"fwrl.{name}.{member}" not in described(site)}
    assert missing == set()


def test_members_that_others_describe_are_left_out(site):
    assert "value" in members(fwrl.Agent)
    assert {"fwrl.MapError.add_note", "fwrl.NumberedEnv.close", "fwrl.task.Episode.index"} & described(site) == set()


def text_of(page: Path) -> str:
    """What a page shows, without its markup."""
    return html.unescape(re.sub("<[^>]+>", "", page.read_text(encoding="utf-8")))


def test_types_are_written_as_people_write_them(site):
    internal = r"TypeAliasForwardRef|ndarray\[|_generator|<function|<factory>|\(\*args, \*\*kwargs\)"
    pages = {page.stem: re.findall(internal, text_of(page)) for page in (site / "reference").glob("*.html")}
    assert {name: found for name, found in pages.items() if found} == {}
    assert "NDArray[float64]" in text_of(site / "reference" / "fwrl.html")


def test_no_sentence_is_taken_for_a_type(site):
    text = "\n".join(text_of(page) for page in (site / "reference").glob("*.html"))
    returned = re.findall(r"^Return type:\n(.+)$", text, re.MULTILINE)
    assert len(returned) > 100
    assert [words for words in returned if re.search(r"[^|,] (?!\|)|^\(", words)] == []
    assert re.findall(r"^Type:\n(.+)$", text, re.MULTILINE) == []


def test_the_search_works_without_a_server(site):
    script = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)", script, re.DOTALL)[1])  # type: ignore[index]
    assert "warehous" in index["terms"]
    assert {"index", "algorithm", "reference/format"} <= set(index["docnames"])


PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def phone(site: Path) -> Iterator[Any]:
    """A page of a browser as wide as a phone; it fails for anything that is not a file."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright installed")
    from photograph_pages import CHROMIUM

    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=PHONE)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        yield page
        browser.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


OVERFLOW = """() => {
    const wide = box => box.scrollWidth > box.clientWidth + 1;
    const texts = [...document.querySelectorAll("article table.cards")].map(table => table.parentElement);
    return [document.documentElement, ...texts].filter(wide).map(box => box.innerText.slice(0, 60));
}"""


def test_on_a_phone_only_code_formulas_and_numbers_are_scrolled_sideways(site, phone):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    found = {}
    for path in pages:
        phone.goto(path.as_uri())
        found[path.relative_to(site).as_posix()] = phone.evaluate(OVERFLOW)
    assert {name: wide for name, wide in found.items() if wide} == {}


def test_a_table_of_sentences_has_no_columns_on_a_phone(site, phone):
    phone.goto((site / "faq.html").as_uri())
    cells = phone.locator("table.cards tbody tr").first.locator("td")
    lefts = {cell.bounding_box()["x"] for cell in cells.all()}
    assert cells.count() == 4
    assert len(lefts) == 1


def test_a_card_says_what_its_lines_are_and_a_table_does_not_repeat_it(site, phone):
    phone.goto((site / "faq.html").as_uri())
    label = phone.locator("table.cards td .label").first
    assert label.inner_text() == "I have: "
    phone.set_viewport_size({"width": 1366, "height": 844})
    assert not label.is_visible()
    phone.set_viewport_size(PHONE)


def test_the_first_column_of_a_wide_table_stays_in_sight(site, phone):
    phone.goto((site / "comparison.html").as_uri())
    cell = phone.locator("table.wide tbody td").first
    box = phone.locator(".table-wrapper:has(table.wide)").first
    before = cell.bounding_box()["x"]
    box.evaluate("box => { box.scrollLeft = 50 }")
    assert box.evaluate("box => box.scrollLeft") == 50
    assert abs(cell.bounding_box()["x"] - before) < 8


def test_the_index_has_one_column_on_a_phone(site, phone):
    phone.goto((site / "genindex.html").as_uri())
    assert min(cell.bounding_box()["width"] for cell in phone.locator("table.genindextable td").all()) > 300


def test_a_word_typed_into_the_search_finds_pages_without_a_server(site, phone):
    phone.goto((site / "index.html").as_uri())
    phone.fill("input[name=q]", "warehouse", force=True)
    phone.locator("input[name=q]").evaluate("box => box.form.submit()")
    phone.wait_for_selector("ul.search li a")
    found = [link.get_attribute("href").partition("?")[0] for link in phone.locator("ul.search li > a").all()]
    assert "warehouse.html" in {link.partition("#")[0] for link in found}


def test_the_code_beside_an_equation_is_included_from_the_source():
    text = (DOCS / "algorithm.md").read_text(encoding="utf-8")
    sources = re.findall(r"\{literalinclude\} (\S+)", text)
    assert len(sources) >= 12
    assert "```python" not in text
    assert all((DOCS / source).is_file() for source in sources)


def test_the_code_beside_an_equation_is_short_and_whole(site):
    page = (site / "algorithm.html").read_text(encoding="utf-8")
    blocks = re.findall(r'<div class="highlight-\w+ notranslate">.*?</pre>', page, re.DOTALL)
    shown = [html.unescape(re.sub("<[^>]+>", "", block)) for block in blocks]
    assert len(shown) >= 12
    assert max(len(line) for code in shown for line in code.splitlines()) <= 100
    assert [code for code in shown if "Args:" in code or ">>>" in code] == []
    for code in shown:
        compile(f"def whole():\n{textwrap.indent(code, '    ')}", "algorithm.html", "exec")


def test_formulas_have_primes(site):
    page = (site / "algorithm.html").read_text(encoding="utf-8")
    formulas = re.findall(r"<math.*?</math>", page, re.DOTALL)
    assert any("\N{PRIME}" in formula for formula in formulas)
    assert [formula for formula in formulas if "'" in formula] == []


def test_the_command_line_reference_is_current():
    assert write_commands.PAGE.read_text(encoding="utf-8") == write_commands.reference(), "run make docs-numbers"


def test_the_names_of_agents_and_worlds_are_current():
    assert write_names.PAGE.read_text(encoding="utf-8") == write_names.reference(), "run make docs-numbers"


def test_the_command_line_reference_says_what_is_required_and_what_holds_otherwise():
    rows = [line for line in write_commands.reference().splitlines() if line.startswith("| `")]
    for option, said in (("--out", "Required."), ("--seed", "Default: `0`."), ("--browser", "Default: `--browser`.")):
        assert any(option in row and said in row for row in rows), option


def test_options_keep_their_two_hyphens(site):
    text = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    assert "--memory" in text
    assert re.findall("\N{EN DASH}[a-z]+", text) == []


def test_help_is_neither_html_nor_empty(site):
    text = text_of(site / "reference" / "commands.html")
    assert "NA, N/A, <NA>, NULL, null" in text
    assert re.findall(r"Default: ``|Default:.*Default:|--no-\w+ [A-Z]{2,}", text) == []


def test_the_command_line_reference_has_every_option_that_help_shows(call):
    text = write_commands.reference()
    for section in text.split("\n## fwrl ")[1:]:
        shown = call(section.split("\n")[0], "--help").out
        options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", shown)) - {"--help"}
        assert options, section
        assert {option for option in options if option not in section} == set()
