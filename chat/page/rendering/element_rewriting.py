"""Rewrites elements of the parser's HTML: code, formulas, tables, images, links, footnotes, headings and check boxes.

The parser escapes `<`, `>`, `"` and `&` in text and attribute values, so everything that looks like a tag is a tag.
Each function changes every element by itself, so blocks that are rewritten separately equal blocks rewritten together.
The sanitizer runs after this step.
"""

from __future__ import annotations

import html
import re
from functools import partial
from itertools import count

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.page.rendering.file_links import FileLinks
from chat.page.rendering.highlight import find_language, highlight_code
from chat.page.rendering.maths import render_formula
from chat.vocabulary.html_elements import TAKEN_ADDRESS
from chat.vocabulary.number_text import group_thousands

WIDE_FORMULA_CHARS = 48
"""Formulas within a line whose LaTeX is longer get a box that scrolls."""
LABEL_LIMIT_CHARS = 24

_HEADING = re.compile(r"<(/?)h([1-6])>")
_IMAGE_OR_LINK_TAG = re.compile(r'<img src="([^"]*)" alt="([^"]*)"(?: title="[^"]*")? />|<a |</a>')
_WEB_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_ABSOLUTE_ADDRESS = re.compile(r"https?://|mailto:", re.IGNORECASE)
_QUESTION = re.compile(r'<li><a href="#ask">([^<]{1,300})</a>(?=</li>)')
"""A list item with a question that the answer suggests: `- [First 50 primes](#ask)`. `composer.js` sends it."""
_LINK_IN_PAGE = re.compile(r'<a href="#[^"]*"(?: title="[^"]*")?>')
_LINK = re.compile(r'<a href="([^"]*)"(?: title="[^"]*")?>')
_MATH = re.compile(r'<span data-math-style="(inline|display)">([^<]*)</span>')
_CODE = re.compile(r'<pre><code(?: class="language-([^"]*)")?(?: data-math-style="display")?>([^<]*)</code></pre>')
_LABEL = re.compile(r"[\s,{}:]*([^\s,{}:]*)")
_CHECK_BOX = re.compile(r'<input type="checkbox" ')
_NOTE_LINK = re.compile(r'<a href="#fn-([^"]*)" id="fnref-([^"]*)" data-footnote-ref>(\d+)</a>')
_NOTE = re.compile(r'<li id="fn-[^"]*">')
# No repetition goes past the beginning of the next table or cell, so the time is linear.
_TABLE = re.compile(
    r"<table>\s*+<thead>\s*+<tr>([^<]*+(?>(?:<(?!table>|/tr>)[^<]*+)*))</tr>\s*+</thead>"
    r"([^<]*+(?>(?:<(?!table>|/table>)[^<]*+)*))</table>"
)
_HEADER_CELL = re.compile(r"<th( align=\"(?:left|center|right)\")?>([^<]*+(?>(?:<(?!th[ >]|/th>)[^<]*+)*))</th>")
_ROW = re.compile(r"<tr>")
_NOTE_BACK_LINK = re.compile(
    r' ?<a href="#fnref-[^"]*" class="footnote-backref" data-footnote-backref data-footnote-backref-idx="([\d-]+)"'
    r' aria-label="([^"]*)">↩((?>(?:[^<]++|<(?!/?a[ >]))*))</a>(?=</p>| <a |\n)'
)


def rewrite_elements(raw_html: str, id_prefix: str, *, has_buttons: bool, file_links: FileLinks) -> str:
    """Return the parser's HTML with all its elements in the form that pages show, except code blocks.

    `id_prefix`: begins the ids of footnotes, which must be unique on the page. Without it, footnotes have no links.
    `has_buttons`: whether tables and suggested questions have buttons. `file_links`: files that links lead to. Other
    links with a relative address become text.
    """
    # While an answer streams, its tail is rendered up to 25 times a second and rarely contains all of these elements,
    # so a search comes before each substitution.
    if "<h" in raw_html:
        # Headings begin at h3: the page's title is h1, and each message has an h2.
        raw_html = _HEADING.sub(lambda tag: f"<{tag[1]}h{min(6, int(tag[2]) + 2)}>", raw_html)
    if "<img " in raw_html:
        raw_html = _rewrite_images(raw_html, file_links)
    if "<a " in raw_html:
        if has_buttons:
            raw_html = _QUESTION.sub(
                r'<li class="question"><button type="button" data-action="ask">\1</button>', raw_html
            )
        # The tooltip shows the complete address. The author's title is dropped because it could name another address.
        raw_html = _LINK_IN_PAGE.sub("<a>", raw_html)
        raw_html = _LINK.sub(partial(_link, file_links=file_links), raw_html)
    if "data-footnote" in raw_html:
        raw_html = _rewrite_footnotes(raw_html, id_prefix)
    if "data-math-style=" in raw_html:
        raw_html = _MATH.sub(_formula, raw_html)
    if "<input " in raw_html:
        raw_html = _CHECK_BOX.sub(f'<input type="checkbox" aria-label="{_("Task")}" ', raw_html)
    if "<table>" in raw_html:
        raw_html = _TABLE.sub(partial(_table, has_buttons=has_buttons), raw_html)
    return raw_html


def rewrite_code_blocks(raw_html: str, *, is_finished: bool = True, has_buttons: bool) -> str:
    """Return the parser's HTML with a header for each code block. Code is not highlighted unless `is_finished`."""
    if not raw_html:
        return raw_html
    return _CODE.sub(partial(_finished_code if is_finished else _unfinished_code, has_buttons=has_buttons), raw_html)


def _link(match: re.Match[str], *, file_links: FileLinks) -> str:
    if _ABSOLUTE_ADDRESS.match(match[1]):
        return f'<a href="{match[1]}" title="{match[1]}" target="_blank">'
    return file_links.link(match[1])


def _rewrite_images(raw_html: str, file_links: FileLinks) -> str:
    """Replace images by links to them, or within a link by their description. So pages load no image from elsewhere.

    Graphs are shown beside the code that drew them, so their images are left out of the text. Other images with an
    address that only the model's own machine can load are shown as their source text.
    """
    is_in_link = False

    def replacement(match: re.Match[str]) -> str:
        nonlocal is_in_link
        if match[0].startswith(("<a", "</a")):
            is_in_link = match[0] == "<a "
            return match[0]
        address, description = match[1], match[2]
        if file_links.is_graph(address):
            return ""
        if address == TAKEN_ADDRESS:
            # The page shows this picture after the text, so only its description is shown here.
            return description
        if not _WEB_ADDRESS.match(address):
            return f"![{description}]({address})"
        label = description or _("Image")
        return label if is_in_link else f'<a href="{address}">{label}</a>'

    raw_html = _IMAGE_OR_LINK_TAG.sub(replacement, raw_html)
    return raw_html.replace("<p></p>\n", "") if file_links.paths else raw_html


def _rewrite_footnotes(raw_html: str, id_prefix: str) -> str:
    """Give footnotes ids that are unique on the page, made of their numbers instead of the author's names."""
    numbers = iter(range(1, raw_html.count('<li id="fn-') + 1))
    raw_html = raw_html.replace(
        'class="footnotes" data-footnotes>', 'class="footnotes" aria-label="{}">'.format(_("Footnotes"))
    )
    if not id_prefix:
        raw_html = _NOTE_LINK.sub(r"\3", raw_html)
        return _NOTE.sub("<li>", _NOTE_BACK_LINK.sub("", raw_html))

    def link(match: re.Match[str]) -> str:
        repetition = match[2][len(match[1]) :]
        return f'<a href="#{id_prefix}-fn-{match[3]}" id="{id_prefix}-fnref-{match[3]}{repetition}">{match[3]}</a>'

    raw_html = _NOTE_LINK.sub(link, raw_html)
    raw_html = _NOTE.sub(lambda tag: f'<li id="{id_prefix}-fn-{next(numbers)}">', raw_html)
    # The character after the arrow makes browsers show the arrow as text, not as an emoji.
    label = _("Back to reference %(number)s") % {"number": r"\1"}
    back_link = rf' <a href="#{id_prefix}-fnref-\1" aria-label="{label}">↩&#xfe0e;\3</a>'
    return _NOTE_BACK_LINK.sub(back_link, raw_html)


def _table(match: re.Match[str], *, has_buttons: bool) -> str:
    """Return a table in a box that scrolls if the table is too wide. `static/js/tables.js` serves its buttons."""
    columns = count()
    header = _HEADER_CELL.sub(lambda cell: _header_cell(cell, next(columns), has_button=has_buttons), match[1])
    numbers = count()
    body = _ROW.sub(lambda tag: f'<tr data-row="{next(numbers)}">', match[2])
    size = f"{_row_count(next(numbers))} × {_column_count(next(columns))}"
    foot = f'<span class="muted">{size}</span>'
    if has_buttons:
        copy = f'<button type="button" class="quiet" data-action="copy-csv">{_("Copy CSV")}</button>'
        save = f'<button type="button" class="quiet" data-action="save-csv">{_("Download CSV")}</button>'
        foot += f'<span class="table-actions">{copy}{save}</span>'
    return (
        '<div class="table-box markdown-table" data-all="">'
        f'<div class="table-scroll" tabindex="0" role="region" aria-label="{_("Table")}, {size}">'
        f"<table>\n<thead>\n<tr>{header}</tr>\n</thead>{body}</table></div>"
        f'<div class="table-foot">{foot}</div></div>'
    )


def _header_cell(cell: re.Match[str], column: int, *, has_button: bool) -> str:
    """Return a cell of the header, perhaps with a button that sorts. One with a link or a check box stays as it is."""
    attribute, content = cell[1] or "", cell[2]
    if "<a" in content or "<input" in content:
        return cell[0]
    label = content or f'<span class="visually-hidden">{_("Column")} {column + 1}</span>'
    if not has_button:
        return f'<th{attribute} scope="col">{label}</th>'
    button = f'<button type="button" data-action="sort">{label}</button>'
    return f'<th{attribute} scope="col" data-column="{column}" aria-sort="none">{button}</th>'


def _row_count(number: int) -> str:
    return ngettext("%(number)s row", "%(number)s rows", number) % {"number": group_thousands(number)}


def _column_count(number: int) -> str:
    return ngettext("%(number)s column", "%(number)s columns", number) % {"number": group_thousands(number)}


def _formula(match: re.Match[str]) -> str:
    return _formula_element(html.unescape(match[2]), is_block=match[1] == "display")


def _formula_element(latex: str, *, is_block: bool) -> str:
    """Return a formula as MathML, or as code if it cannot be converted."""
    formula = render_formula(latex.strip(), is_block=is_block)
    if formula is None:
        attribute = ' class="formula-source"' if is_block else ""
        return f"<code{attribute}>{html.escape(latex.strip(), quote=False)}</code>"
    if is_block or len(latex) > WIDE_FORMULA_CHARS:
        css_class = "formula-block" if is_block else "formula-wide"
        return f'<span class="{css_class}" tabindex="0" role="group" aria-label="{_("Formula")}">{formula}</span>'
    return formula


def _finished_code(match: re.Match[str], *, has_buttons: bool) -> str:
    info, escaped = html.unescape(match[1] or ""), match[2]
    if info == "math" and "<code" not in (formula := _formula_element(html.unescape(escaped), is_block=True)):
        return f"<p>{formula}</p>"
    return _code_block(info, highlight_code(html.unescape(escaped), info), has_button=has_buttons)


def _unfinished_code(match: re.Match[str], *, has_buttons: bool) -> str:
    return _code_block(html.unescape(match[1] or ""), match[2], has_button=has_buttons)


def _code_block(info: str, inner_html: str, *, has_button: bool) -> str:
    """Return code below a header with its language and perhaps a button that copies it."""
    language = find_language(info)
    attribute = f' data-language="{language}"' if language else ""
    word = _LABEL.match(info)
    label = html.escape(language or (word[1][:LABEL_LIMIT_CHARS] if word else "") or _("code"))
    button = f'<button type="button" class="quiet" data-action="copy">{_("Copy")}</button>' if has_button else ""
    return (
        f'<div class="code-block"><div class="code-head"><span>{label}</span>{button}</div>'
        f'<pre tabindex="0" role="group" aria-label="{_("Code")}"{attribute}><code>{inner_html}</code></pre></div>'
    )
