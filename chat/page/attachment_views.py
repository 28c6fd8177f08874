"""Views that the templates of attachments and written files render: values without behaviour."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from math import ceil

from django.utils.translation import gettext as _

from attachments.images import MaybeImage
from attachments.table_types import is_table_name
from attachments.validation import safe_name
from chat.page.readers import Reader
from chat.page.rendering.plot_code import NO_CAPTION, Caption
from chat.vocabulary.sentences import translate_sentence

STEM_LIMIT_CHARS = 60


@dataclass(frozen=True, slots=True)
class AttachmentView(MaybeImage):
    """An attachment in a message: a figure for graphs and images, a link for other files."""

    index: int
    """The n of its marker, as in `[GRAPH:n]`."""
    attachment_id: uuid.UUID
    url: str
    name: str
    mime_type: str
    size_bytes: int
    width: int | None
    height: int | None
    is_graph: bool
    reader: Reader
    scale: int = 1
    """Pixels of the image for one CSS pixel, in each direction."""
    caption: Caption = NO_CAPTION
    """The caption of a graph, from the code that drew it."""
    code_id: str = ""
    """The id of the page element with the code that drew the graph. Empty: the page has none."""

    @property
    def shown_width(self) -> int | None:
        """The width on the page in CSS pixels."""
        return self.width and ceil(self.width / self.scale)

    @property
    def shown_height(self) -> int | None:
        """The height on the page in CSS pixels."""
        return self.height and ceil(self.height / self.scale)

    @property
    def has_preview(self) -> bool:
        """Whether the page offers a preview, because the file can hold a table and the reader is its owner."""
        return self.reader.may_act and is_table_name(self.name)

    @property
    def label(self) -> str:
        """The text below the image."""
        return (
            (self.caption.title or _("Graph %(number)s") % {"number": self.index + 1}) if self.is_graph else self.name
        )

    @property
    def quote(self) -> str:
        """The beginning of a question that asks for a change of a graph."""
        words = {"number": self.index + 1, "title": self.caption.title}
        if self.caption.title:
            return _("Change the graph “%(title)s” (graph %(number)s):") % words + " "
        return _("Change graph %(number)s:") % words + " "

    @property
    def alt(self) -> str:
        """The text for readers who do not see the image."""
        if not self.is_graph:
            return _("Image: %(name)s") % {"name": self.name}
        if self.caption == NO_CAPTION:
            return _("Graph drawn by the code: %(name)s") % {"name": self.name}
        x_label, y_label = self.caption.x_label, self.caption.y_label
        labels = ((_("x axis: %(label)s"), x_label), (_("y axis: %(label)s"), y_label))
        axes = ", ".join(words % {"label": label} for words, label in labels if label)
        kind = translate_sentence(self.caption.kind) if self.caption.kind else _("Graph")
        name = ": ".join(filter(None, (kind, self.caption.title)))
        return f"{name}. {axes}" if axes else name

    @property
    def file_name(self) -> str:
        """The name under which the image is downloaded."""
        stem = "-".join(re.findall(r"\w+", self.caption.title.lower()))[:STEM_LIMIT_CHARS].strip("-_")
        suffix = self.name.rpartition(".")[2]
        return safe_name(f"{stem}.{suffix}", self.name) if stem and suffix.isalnum() else self.name


@dataclass(frozen=True, slots=True)
class WrittenFileView:
    """A file that code wrote into the working directory of the Python session."""

    name: str
    size_bytes: int
    modified_at: str
    """ISO 8601. If the session's file of this name has another time, later code has changed it."""
    is_new: bool
    """Whether there was no file of this name before the answer."""
    url: str = ""
    """Where the session's file can be downloaded. Empty: this reader may not download it."""
    keep_url: str = ""
    """The URL of the API call that makes the file an attachment."""
    kept: AttachmentView | None = None
    """The attachment that the file became when a person chose to keep it; `None` if no person has."""
    kept_state_url: str = ""
    """The URL of the API call that returns whether the attachment is in storage."""


@dataclass(frozen=True, slots=True)
class ClearedOutputs:
    """Outputs that the code of an answer has shown, and then cleared or changed."""

    texts: tuple[str, ...]
    graphs: tuple[AttachmentView, ...]
    left_out: int
    """Number of cleared outputs that are not kept."""

    @property
    def count(self) -> int:
        """Number of cleared outputs, with those that are not kept."""
        return len(self.texts) + len(self.graphs) + self.left_out
