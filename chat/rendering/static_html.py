"""Changes the HTML of messages for pages without scripts, such as exports."""

from __future__ import annotations

import re

from django.utils.safestring import SafeString

# Texts are escaped, so only `elements` writes these attributes.
_SORT_BUTTON = re.compile(
    r' data-column="\d+" aria-sort="none"><button type="button" data-action="sort">'
    r"((?:[^<]++|<(?!/button></th>|th[ >]))*+)</button></th>"
)


def remove_sort_buttons(html: SafeString) -> SafeString:
    """Return the HTML with the names of columns in place of the buttons that sort tables in texts."""
    return SafeString(_SORT_BUTTON.sub(r">\1</th>", html))
