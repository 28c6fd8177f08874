"""The last step of rendering: only the elements and attributes listed here reach a page.

Raw HTML of a text is escaped before this step, so every element here was made by the parser, `tags` or
`element_rewriting`.
"""

from __future__ import annotations

import re

import nh3

from chat.page.rendering.grammars import TOKEN_CLASSES
from chat.page.rendering.highlight import LANGUAGES
from chat.page.rendering.mathml import CLASSES, MATHML_ATTRIBUTES
from chat.page.rendering.tag_names import ELEMENT_TAGS

_ID = r"[\w-]+-fn(?:ref)?-\d+(?:-\d+)?"
# One part of a path. It has no dot at its start and no slash, even in encoded form: it leads to no other folder.
_NAME = r"/(?!\.|%2e)(?>(?:[\w.~-]|%(?!2f|5c)[0-9a-f]{2})+)"
_LINK_WITHIN = re.compile(
    rf"#{_ID}|(?:{_NAME})*/api/v1/conversations/[0-9a-f-]{{36}}/session/files(?:{_NAME})+", re.ASCII | re.IGNORECASE
)
"""A relative address of a footnote, or of the download of a session's file (see `file_links`)."""


def _keep_link_within(url: str) -> str | None:
    """Return an address that is not absolute if it has one of the known forms; `None` removes it."""
    return url if _LINK_WITHIN.fullmatch(url) else None


_CLEANER = nh3.Cleaner(
    tags={
        *("p", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "hr", "br", "div", "section"),
        *("table", "thead", "tbody", "tr", "th", "td", "a", "code", "span", "input"),
        *("button", *ELEMENT_TAGS, *MATHML_ATTRIBUTES),
    },
    clean_content_tags=set(),
    attributes={
        "a": {"href", "title", "id", "aria-label"},
        "details": {"open"},
        "div": {"aria-label", "data-all"},
        "input": {"checked", "disabled", "aria-label"},
        "li": {"id"},
        "ol": {"start"},
        "pre": {"aria-label"},
        "section": {"aria-label"},
        "span": {"aria-label"},
        "th": {"data-column"},
        "tr": {"data-row"},
        **{tag: set(names) for tag, names in MATHML_ATTRIBUTES.items() if names},
    },
    tag_attribute_values={
        "a": {"target": {"_blank"}},
        "button": {"type": {"button"}, "data-action": {"ask", "copy", "copy-csv", "save-csv", "sort"}},
        "div": {"tabindex": {"0"}, "role": {"group", "region"}},
        "input": {"type": {"checkbox"}},
        "pre": {"tabindex": {"0"}, "role": {"group"}, "data-language": set(LANGUAGES.values())},
        "span": {"tabindex": {"0"}, "role": {"group"}},
        "td": {"align": {"left", "center", "right"}},
        "th": {"align": {"left", "center", "right"}, "aria-sort": {"none"}, "scope": {"col"}},
    },
    allowed_classes={
        **CLASSES,
        "button": {"quiet"},
        "code": {"formula-source"},
        "li": {"question"},
        "div": {"code-block", "code-head", "markdown-table", "table-box", "table-foot", "table-scroll"},
        "section": {"footnotes"},
        "span": {*TOKEN_CLASSES, "formula-block", "formula-wide", "muted", "table-actions", "visually-hidden"},
    },
    url_schemes={"http", "https", "mailto"},
    url_relative=_keep_link_within,
    link_rel="noopener noreferrer nofollow",
)


def sanitize_html(html: str) -> str:
    """Return the HTML without the elements and attributes that are not listed here."""
    return _CLEANER.clean(html)
