"""Settings of the documentation site: `make docs` builds it, warnings are errors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes

import fwrl

project = "fwrl"
author = "The fwrl authors"
copyright = "The fwrl authors, MIT licence"
release = version = fwrl.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["build", "images"]

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

FOREIGN = "BaseException, Env, RecordConstructorArgs, Wrapper, tuple"  # what these define, others describe
autodoc_default_options = {"members": True, "member-order": "bysource", "inherited-members": FOREIGN}
autodoc_typehints = "description"
autodoc_typehints_description_target = "all"
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}  # numpy's name, not the union that it abbreviates
napoleon_use_ivar = True
default_role = "code"  # docstrings name things in single backticks
highlight_language = "text"  # of blocks that do not say: formulas, commands
pygments_dark_style = "a11y-dark"  # its light one is the default
smartquotes_action = "D"  # dashes, which Sphinx itself writes with hyphens; no quotes, as s' is a state

html_theme = "furo"
html_title = "fwrl"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["front-door.html"]  # one file that also works on its own
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"  # set by the browser itself, so that pages need no network
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0a5c99", "color-brand-content": "#0a5c99"},
    "dark_css_variables": {"color-brand-primary": "#6cb8f0", "color-brand-content": "#6cb8f0"},
}

ARRAY = r"[~\w.]*ndarray\[tuple\[[~\w.]*Any, \.\.\.\], [~\w.]*dtype\[[~\w.]*?(\w+)\]\]"
PRIVATE = r"~?(?:collections\.abc|fwrl(?:\.[a-z]\w*)+)\.(?=[A-Z])"  # the module of a type
TYPE_FIELD = re.compile(r"(type|vartype|rtype)\b")
TYPES = {
    ARRAY: r"NDArray[\1]",
    PRIVATE: "",
    r"TypeAliasForwardRef\('(\w+)'\)": r"\1",
    r"\bFloats\b": "NDArray[float64]",
    r"\b_generator\.": "",
    r"Callable\[\[\.\.\.\]": "Callable[...",
}

UNLISTED = "OTHER-PAGES"  # a line of the contents in index.md
FIRST_PAGE = "reference/fwrl"  # names that `fwrl` exports are described there, and not again where they are defined
SENTENCE, WORD = 32, 24  # characters; what is longer does not fit into one of three, or of two, columns of a phone
MANY = 7  # columns; a table with more is wider than a page
PUBLIC = {id(getattr(fwrl, name)) for name in fwrl.__all__}


def list_other_pages(app: Any, docname: str, source: list[str]) -> None:
    """List in the contents, at UNLISTED, the pages that `index.md` does not name."""
    if docname == "index":
        here = {path.stem for path in Path(app.srcdir).glob("*.md")}
        others = sorted(here - {"index", *source[0].split()})
        source[0] = source[0].replace(f"{UNLISTED}\n", "".join(f"{name}\n" for name in others))


def left_out(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what is described elsewhere: fields of named tuples, names that `fwrl` exports, names of others."""
    if (getattr(thing, "__doc__", None) or "").startswith("Alias for field number"):
        return True
    if what == "class" and name == "Config":  # an attribute of agents; the class has its own description
        return True
    if what == "module":
        foreign = not getattr(thing, "__module__", "fwrl").startswith("fwrl")
        return foreign or (app.env.docname != FIRST_PAGE and id(thing) in PUBLIC) or None
    return None


def shortened(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> Any:
    """The signature without what Python makes up: arguments of a protocol, representations of functions."""
    if not signature:
        return None
    if getattr(thing, "_is_protocol", False):
        return "", returns
    named = re.sub(r"<function (\w+)>", r"\1", signature)
    return re.sub(r"<factory>|<function <lambda>>", "...", named), returns


def drop_repeats(app: Any, domain: str, what: str, content: Any) -> None:
    """Drop the types of arguments that are described as attributes, and of results that are nothing."""
    fields = {field[0].astext(): field for field in content.findall(nodes.field)}
    for name, field in fields.items():
        kind, _, argument = name.partition(" ")
        repeated = kind in ("param", "type") and f"ivar {argument}" in fields
        empty = name == "rtype" and field[1].astext() == "None"
        if empty or (repeated and not fields[f"param {argument}"][1].astext()):
            field.parent.remove(field)


def name_types(app: Any, domain: str, what: str, content: Any) -> None:
    """Write types as people do, not as Python represents them."""
    fields = [field for field in content.findall(nodes.field) if TYPE_FIELD.match(field[0].astext())]
    written = [*content.parent.findall(addnodes.desc_annotation), *content.parent.findall(addnodes.desc_returns)]
    for node in [*(field[1][0] for field in fields), *written]:
        text = node.astext().removeprefix(" -> ")  # an arrow is written before what is returned
        for internal, usual in TYPES.items():
            text = re.sub(internal, usual, text)
        if text != node.astext().removeprefix(" -> "):
            node.clear()
            node += nodes.Text(text)


def formula(node: Any, as_block: bool = False) -> str:
    r"""A formula as MathML, with what docutils does not set by itself: primes, and the bars `\lvert` and `\rvert`."""
    found: str = tex2mathml(node.astext().replace("'", r"^{\prime}"), as_block=as_block)
    for bar, form in (('<mo class="mathopen">|</mo>', "prefix"), ("<mo>|</mo>", "postfix")):
        found = found.replace(bar, f'<mo form="{form}" stretchy="false">|</mo>')
    return found


def write_inline(translator: Any, node: Any) -> None:
    """Write a formula in a line; a word joiner keeps the punctuation that follows on the same line."""
    translator.body.append(f"{formula(node)}\N{WORD JOINER}")
    raise nodes.SkipNode


def write_block(translator: Any, node: Any) -> None:
    """Write a separate formula; one that is too wide for its page can be scrolled."""
    translator.body.append(f'<div class="math">{formula(node, as_block=True)}</div>')
    raise nodes.SkipNode


def mark_words(app: Any, doctree: Any) -> None:
    """Mark code in a line that is too short to be broken (`site.css`)."""
    for literal in doctree.findall(nodes.literal):
        if len(literal.astext()) <= WORD:
            literal["classes"].append("word")


def mark_tables(app: Any, doctree: Any) -> None:
    """Mark wide tables, and those that are too wide for a phone unless their rows become cards (`site.css`)."""
    for table in doctree.findall(nodes.table):
        rows = [[entry.astext() for entry in row.children] for row in table.findall(nodes.row)]
        texts = [text for row in rows for text in row[1:]]
        sentences = len(rows[0]) > 2 and max(map(len, texts)) > SENTENCE
        if sentences or max((len(word) for text in texts for word in text.split()), default=0) > WORD:
            table["classes"].append("cards")
            label_cells(table)
        elif len(rows[0]) > MANY:
            table["classes"].append("wide")


def label_cells(table: Any) -> None:
    """Write into each cell what its column is called, for cards to show; nothing where there are two columns."""
    head, *rows = table.findall(nodes.row)
    for row in rows if len(head) > 2 else ():
        for name, cell in zip(head, row, strict=True):
            if cell.astext():
                label = name.astext().removesuffix(" ...")
                cell[0].insert(0, nodes.inline("", f"{label}: ", classes=["label"]))


def setup(app: Any) -> None:
    """Connect to the events of Sphinx."""
    app.connect("source-read", list_other_pages)
    app.connect("autodoc-skip-member", left_out)
    app.connect("autodoc-process-signature", shortened)
    app.connect("object-description-transform", drop_repeats, priority=900)  # after autodoc has put types there
    app.connect("object-description-transform", name_types, priority=901)
    app.connect("doctree-read", mark_words)
    app.connect("doctree-read", mark_tables)
    app.add_html_math_renderer("mathml", inline_renderers=(write_inline, None), block_renderers=(write_block, None))
