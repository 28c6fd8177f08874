"""Reads from pages, the API and exports what they say about an answer with code and graphs, to compare them."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chat.vocabulary.code_outcomes import OUTCOMES
from chat.vocabulary.escape_codes import remove_escape_codes
from tests.live_server import Visitor
from tests.parsed_html import ParsedHtml

FORMATS = ("md", "html", "json", "ipynb", "zip")
IMAGE = "image/png"
MARKDOWN_OUTPUT = re.compile(r"^```text\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
MARKDOWN_OUTCOME = re.compile(r"^\*The code ([^*]+)\*$", re.MULTILINE)
NOT_RUN = "skip-execution"
"""The tag of notebook cells whose code did not run to its end."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What one form of an answer says about its code."""

    output: str
    """The output with line feeds as line breaks, and without line breaks at the end."""
    outcome: str
    """The word that pages show for the outcome; empty while the code runs."""
    graphs: int


def plain(*outputs: str) -> str:
    """Return outputs joined as a reader sees them."""
    return re.sub(r"\r\n?", "\n", remove_escape_codes("".join(outputs))).rstrip("\n")


def on_page(html: str) -> Shown:
    """Return what HTML of a page, or of an export, says."""
    page = ParsedHtml(html)
    # Remove the line feed after the start tag, as browsers do.
    outputs = [output.text.removeprefix("\n") for output in page.select("pre", aria_label="Output")]
    outcome = page.only(class_="code-end").attributes["data-end"]
    graphs = {element.attributes.get("data-graph-index") for element in page.elements} - {None}
    return Shown(plain(*outputs), outcome, len(graphs))


def in_messages(messages: list[dict[str, Any]], attachments: Mapping[str, Any] | None = None) -> Shown:
    """Return what the JSON of messages says, as the API and the export write it.

    `attachments`: the attachments of an export by their ids. Messages of the API contain theirs.
    """
    [answer] = [message for message in messages if message["role"] == "model"]
    results = [part for part in answer["parts"] if part["kind"] == "code_execution_result"]
    words = {OUTCOMES[outcome].word for result in results if (outcome := result.get("outcome"))}
    assert len(words) <= 1, "all results of a run have its outcome"
    graphs = [one for one in answer["attachments"] if (attachments[one["id"]] if attachments else one)["is_graph"]]
    return Shown(plain(*(result.get("output", "") for result in results)), "".join(words), len(graphs))


def in_markdown(text: str) -> Shown:
    """Return what Markdown says."""
    predicates = {words.predicate: words.word for words in OUTCOMES.values()}
    outcomes = [predicates[sentence] for sentence in MARKDOWN_OUTCOME.findall(text)]
    assert len(outcomes) <= 1, "the outcome is shown once"
    # The line feed before the closing fence belongs to the output.
    outputs = [f"{output}\n" for output in MARKDOWN_OUTPUT.findall(text)]
    return Shown(plain(*outputs), "".join(outcomes), len(re.findall(r"^!\[", text, flags=re.MULTILINE)))


def in_notebook(text: str, outcome: str) -> Shown:
    """Return what a notebook says. It shows only whether its code ran to its end: `outcome` is checked against this."""
    [cell] = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert (NOT_RUN in cell["metadata"].get("tags", ())) == (outcome != "success")
    texts = [output["text"] for output in cell["outputs"] if output["output_type"] == "stream"]
    graphs = [output for output in cell["outputs"] if IMAGE in output.get("data", {})]
    return Shown(plain(*texts), outcome, len(graphs))


def in_export(document: dict[str, Any]) -> Shown:
    """Return what the JSON of an export says."""
    return in_messages(document["messages"], {one["id"]: one for one in document["attachments"]})


def everything_shown(visitor: Visitor, conversation_id: str) -> dict[str, Shown]:
    """Return what each form of a conversation says, by the name of the form."""

    def get(path: str) -> bytes:
        response = visitor.http.get(f"{visitor.server.url}/api/v1/conversations/{conversation_id}/{path}", timeout=60)
        assert response.status_code == 200, response.text
        return response.content

    files = {name: get(f"export/{name}/") for name in FORMATS}
    page = on_page(visitor.transcript(conversation_id))
    shown = {
        "page": page,
        "api": in_messages(json.loads(get("messages/"))["results"]),
        "md": in_markdown(files["md"].decode()),
        "html": on_page(files["html"].decode()),
        "json": in_export(json.loads(files["json"])),
        "ipynb": in_notebook(files["ipynb"].decode(), page.outcome),
    }
    with zipfile.ZipFile(io.BytesIO(files["zip"])) as archive:
        entries = {
            name.rpartition(".")[2]: archive.read(name).decode()
            for name in archive.namelist()
            if IMAGE[6:] not in name[-4:]
        }
        images = [name for name in archive.namelist() if name.endswith(".png")]
    assert len(images) == page.graphs
    shown |= {
        "zip md": in_markdown(entries["md"]),
        "zip html": on_page(entries["html"]),
        "zip json": in_export(json.loads(entries["json"])),
        "zip ipynb": in_notebook(entries["ipynb"], page.outcome),
    }
    return shown
