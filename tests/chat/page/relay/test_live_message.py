"""The sum of a live message's swaps equals the message rendered whole, wherever its text was cut."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.messages.answer import Answer
from chat.messages.changes import Change, EngineMoved, MessagesLeftOut, PartStarted, Waited
from chat.messages.log import fold
from chat.page.fragments import text_options
from chat.page.readers import OWNER
from chat.page.relay.live_message import LiveMessage
from chat.page.rendering import documents, stream
from chat.page.rendering.stream import split_markdown
from chat.vocabulary.parts import (
    OUTCOME_DEADLINE_EXCEEDED,
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Text,
    Thought,
    WrittenFile,
)
from chat.vocabulary.stream_events import PartReceived, StreamEvent, TextBecameThought
from tests.attachments.conftest import png
from tests.chat.page.relay.live_page import MESSAGE_ID, TURN, LivePage, render_whole, shown_runs
from tests.display_bundles import BUNDLES
from tests.part_examples import EXAMPLES
from tests.time_growth import GROWTH_LIMIT, time_growth


def cut(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts with each text cut at every character."""
    for part in parts:
        if isinstance(part, Text | Thought) and part.is_open_text and part.text:
            for character in part.text:
                yield replace(part, text=character)
        else:
            yield part


WORDS = st.lists(
    st.sampled_from(
        ["# A\n", "text ", "\n", "\n\n", "- a\n", "  - b\n", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "```python\n",
         "x = 1\n", "```\n", "[GRAPH:0]", "[GRA", "PH:0]", "**b", "**", "> q\n", "1. n\n", "[x]: http://x\n", "[x]",
         "<b>", "$a$", "\\[\n", "\\]", "[^1]", "[^1]: n\n", "~", "===\n", "---\n", "    code\n", "\r\n", "é", "𝒳"]
    ),
    max_size=30,
)  # fmt: skip
SIGNED = {"thought_signature": "cw=="}
RUNNING = CodeExecutionResult(output="1\n", engine=Engine.SESSION)
GRAPH = InlineData("image/png", data=png(3))
TABLE = Display({"text/plain": "a table"})
PLOT_CODE = "plt.title('First')\nplt.show()\nplt.title('Second')\nplt.show()"
URI = "data:image/png;base64," + base64.b64encode(png(4)).decode()
PRINTED = CodeExecutionResult(output=f"a {URI} graph", engine=Engine.SESSION)
CUT = [CodeExecutionResult(output=piece, engine=Engine.SESSION) for piece in (URI[:3], URI[3:40], URI[40:])]
OUTPUTS: list[Part] = [RUNNING, GRAPH, TABLE, PRINTED, *CUT]


def session_run(outputs: Sequence[Part], last_text: str | None, outcome: str | None) -> list[Part]:
    """Return the parts of a run in the session. The last part repeats all output; without an outcome, the output is
    cut.

    `last_text`: output that only the last part has. `None`: the last part has no output.
    """
    code = ExecutableCode(PLOT_CODE, "PYTHON", engine=Engine.SESSION)
    texts = [output.long_text for output in outputs if isinstance(output, CodeExecutionResult)]
    output = None if last_text is None else "".join([*texts, last_text])
    ended = CodeExecutionResult(output=output, outcome=outcome or "", engine=Engine.SESSION)
    return [code, *outputs, *([ended] if outcome else [])]


def call_run(call_id: str, ending: Sequence[str], *, is_edited: bool) -> list[Part]:
    """Return the parts of a tool's call. `ending`: the outcome and the response, in any order."""
    code = ExecutableCode("1", call_id=call_id, engine=Engine.SESSION, made_by=call_id, is_edited=is_edited)
    result = CodeExecutionResult(output="1\n", call_id=call_id, engine=Engine.SESSION, made_by=call_id)
    endings: dict[str, Part] = {
        "outcome": replace(result, outcome=OUTCOME_OK),
        "response": FunctionResponse("run_python", {}, call_id, made_by=call_id),
    }
    return [code, result, *(endings[name] for name in ending)]


CALL_RUNS = st.permutations(["outcome", "response"]).flatmap(
    lambda ending: st.booleans().map(
        lambda is_edited: [
            *(FunctionCall("run_python", {}, call_id) for call_id in ("x", "y", "z")),
            *call_run("x", ending, is_edited=is_edited),
            *call_run("y", ending[:1], is_edited=False),
        ]
    )
)
"""Three calls of one round: the first has run its code, the second has not ended, the third has not begun."""
GROUPS = st.one_of(
    CALL_RUNS,
    WORDS.map(lambda words: [Text(word) for word in words]),
    WORDS.map(lambda words: [Thought(word) for word in words]),
    st.just([Text("", provider_data=SIGNED)]),
    st.just([Text("signed", provider_data=SIGNED)]),
    # Signatures within a text: on a piece of it, on an empty piece, and on an empty thought.
    st.tuples(WORDS, WORDS, WORDS).map(
        lambda texts: [
            *map(Text, texts[0]),
            Text("".join(texts[1]), provider_data=SIGNED),
            Thought("", provider_data=SIGNED),
            *map(Text, texts[2]),
            Text("", provider_data=SIGNED),
        ]
    ),
    st.just([ExecutableCode("print(1)", "PYTHON"), CodeExecutionResult(output="1\n", outcome=OUTCOME_OK)]),
    # The parts of a run in the session: texts, graphs and rich outputs in any order, then a result with the outcome, or
    # no result if it was stopped.
    st.tuples(
        st.lists(st.sampled_from(OUTPUTS), max_size=6),
        st.sampled_from([None, "", "1\n", URI]),
        st.sampled_from([OUTCOME_OK, OUTCOME_FAILED, OUTCOME_DEADLINE_EXCEEDED, None]),
    ).map(lambda run: session_run(*run)),
    st.just([FunctionCall("f", {"a": 1}, "c"), FunctionResponse("f", {"b": 2}, "c")]),
    st.sampled_from(list(BUNDLES.values())).map(lambda bundle: [Display(bundle)]),
    st.integers(1, 2).map(lambda number: [InlineData("image/png", data=png(number))]),
)
PARTS = st.lists(GROUPS, max_size=6).map(lambda groups: [part for group in groups for part in group])


@given(parts=PARTS, data=st.data())
def test_live_updates_in_any_frames_equal_the_message_rendered_as_a_whole(
    parts: Sequence[Part], data: st.DataObject
) -> None:
    page = LivePage()
    frame: list[Part] = []
    for part in parts:
        frame.append(part)
        if data.draw(st.booleans()):
            page.receive(frame)
            frame = []
    page.receive(frame)
    page.check()
    texts = [run.start for run in shown_runs(page.assembler.answer) if isinstance(run.part, Text | Thought)]
    assert sorted(page.live.rendered_texts()) == texts


@given(parts=PARTS)
def test_live_updates_of_single_characters_equal_the_message_sent_in_one_frame(parts: Sequence[Part]) -> None:
    one_frame, many_frames = LivePage(), LivePage()
    one_frame.receive(parts)
    for part in cut(parts):
        many_frames.receive([part])
    many_frames.check()
    assert many_frames.parts_html == one_frame.parts_html


def test_texts_before_and_after_a_signature_are_rendered_as_one_and_only_new_blocks_are_sent() -> None:
    page = LivePage()
    page.receive([Text("# A\n\nfirst\n\none **bo"), Text("ld** and `co", provider_data=SIGNED)])
    swaps = page.live.update(page.assembler.add(PartReceived(Text("de`\n\nend"))))
    assert "one" in swaps
    assert "<h1" not in swaps
    page.page.swap(swaps)
    assert "<p>one <strong>bold</strong> and <code>code</code></p>" in page.parts_html
    assert page.parts_html.count("data-part-kind") == 1
    assert page.parts_html == render_whole(page.assembler.answer)


def test_thought_that_has_ended_says_how_long_it_took() -> None:
    page = LivePage()
    page.receive([Thought("hm")])
    assert ">Thoughts</summary>" in page.parts_html
    page.receive([Text("a")])
    assert ">Thought for 0.1 s</summary>" in page.parts_html
    page.check()


@pytest.mark.parametrize("is_one_frame", [False, True])
@pytest.mark.parametrize("texts", [[Text("# A\n\n**b"), Text("**")], [Text("a **b**"), GRAPH, Text("c"), GRAPH]])
def test_text_that_became_a_thought_equals_the_message_rendered_as_a_whole(
    texts: Sequence[Part], *, is_one_frame: bool
) -> None:
    page = LivePage()
    changes: list[Change] = []
    events: list[StreamEvent] = [*map(PartReceived, texts), TextBecameThought()]
    for event in [*events, PartReceived(Text("4 is")), PartReceived(Text(" it"))]:
        changes += page.assembler.add(event)
        if not is_one_frame:
            page.show(changes)
            changes.clear()
            page.check()
    page.show(changes)
    page.check()
    assert page.parts_html.count('data-part-kind="thought"') == sum(isinstance(part, Text) for part in texts[::2])
    assert page.parts_html.count('data-part-kind="text"') == 1


def test_texts_before_and_after_an_attachment_are_separate_elements() -> None:
    page = LivePage()
    page.receive([Text("a", provider_data=SIGNED), GRAPH, Text("b", provider_data=SIGNED), Text("c")])
    page.check()
    assert page.parts_html.count('data-part-kind="text"') == 2


def test_graphs_have_the_titles_of_the_code_before_them() -> None:
    page = LivePage()
    page.receive([*session_run([InlineData("image/png", data=png(1)), GRAPH], None, OUTCOME_OK)])
    page.check()
    assert 'alt="Graph: First"' in page.parts_html
    assert 'alt="Graph: Second"' in page.parts_html
    assert 'download="second.png"' in page.parts_html


def test_title_of_the_drawn_figure_replaces_the_title_in_the_code() -> None:
    page = LivePage()
    known, untitled = replace(GRAPH, title="epoch 3"), replace(GRAPH, data=png(1), title="")
    page.receive(session_run([known, untitled], None, OUTCOME_OK))
    page.check()
    assert re.findall(r'alt="(Graph[^"]*)', page.parts_html) == [
        "Graph: epoch 3",
        "Graph drawn by the code: graph-2.png",
    ]
    assert 'download="epoch-3.png"' in page.parts_html


@pytest.mark.parametrize("prints", [True, False])
def test_link_in_a_text_leads_to_the_download_only_if_earlier_code_wrote_the_file(*, prints: bool) -> None:
    file = WrittenFile("out/result.csv", 8, "2026-01-01T00:00:00Z", is_new=True)
    end = CodeExecutionResult(outcome=OUTCOME_OK, engine=Engine.SESSION, files=(file,))
    text = Text("[a](sandbox:/mnt/data/result.csv) [b](no.csv)\n\nend [c](out/result.csv)")
    page = LivePage()
    page.receive(cut([Text("[early](result.csv)"), ExecutableCode("1", "PYTHON", engine=Engine.SESSION)]))
    if prints:
        page.receive([CodeExecutionResult("saved\n", engine=Engine.SESSION)])
    page.receive(cut([end, text]))
    page.check()
    assert page.parts_html.count(f'<a href="/api/v1/conversations/{MESSAGE_ID}/session/files/out/result.csv"') == 2
    assert page.parts_html.count("href=") == 2


@pytest.mark.parametrize("part", EXAMPLES.values(), ids=EXAMPLES)
def test_live_update_with_any_kind_of_part_equals_the_message_rendered_as_a_whole(part: Part) -> None:
    page = LivePage()
    page.receive([Text("before"), part, Text("after")])
    page.check()


NO_ANSWER = st.lists(
    st.one_of(
        WORDS.map(lambda words: [Thought(word) for word in words]),
        st.just([Text("", provider_data=SIGNED)]),
        st.just([Thought("signed", provider_data=SIGNED)]),
    ),
    max_size=3,
).map(lambda groups: [part for group in groups for part in group])


@given(attempts=st.lists(NO_ANSWER, max_size=3), last=PARTS, data=st.data())
def test_answer_after_failed_attempts_equals_the_message_rendered_as_a_whole(
    attempts: Sequence[Sequence[Part]], last: Sequence[Part], data: st.DataObject
) -> None:
    page = LivePage()
    pending: list[Change] = []
    for number, parts in enumerate([*attempts, last]):
        if number:
            pending += page.assembler.restart_attempt()
            if data.draw(st.booleans()):
                pending += page.assembler.answer.apply_all([Waited(f"wait {number}")])
        if data.draw(st.booleans()):
            pending += page.assembler.answer.apply_all([MessagesLeftOut(number)])
        if data.draw(st.booleans()):
            pending += page.assembler.answer.apply_all([EngineMoved(f"reason {number}")])
        for part in parts:
            pending += page.assembler.add(PartReceived(part))
            if data.draw(st.booleans()):
                page.show(pending)
                pending.clear()
    page.show(pending)
    page.check()


@given(first=PARTS, second=PARTS, data=st.data())
def test_turn_resumed_in_another_process_equals_the_message_rendered_as_a_whole(
    first: Sequence[Part], second: Sequence[Part], data: st.DataObject
) -> None:
    """A turn that waited for a decision continues in another process, which has not rendered its first part."""
    before = LivePage()
    before.receive(first)
    before.show(before.assembler.start_round())
    after = LivePage()
    after.assembler, after.log = before.assembler, before.log
    after.page, after.live = before.page, LiveMessage(TURN, before.assembler.answer)
    for part in second:
        after.receive([part])
    answer = fold(after.log)
    assert after.parts_html == render_whole(answer)


def test_rendering_that_is_resumed_inside_a_bold_text_keeps_the_text_bold() -> None:
    before = LivePage()
    before.receive([Text("one **bo", provider_data=SIGNED), Thought("", provider_data=SIGNED)])
    after = LivePage()
    after.assembler, after.page, after.live = before.assembler, before.page, LiveMessage(TURN, before.assembler.answer)
    after.receive([Text("ld**")])
    assert "<p>one <strong>bold</strong></p>" in after.parts_html
    assert after.parts_html == render_whole(before.assembler.answer)


def test_time_to_render_a_text_with_many_signatures_is_linear() -> None:
    def receive(parts: int) -> None:
        live = LiveMessage(TURN, Answer())
        for index in range(parts):
            live.update([PartStarted(index, Text("a **word**\n\n", provider_data=SIGNED))])

    assert time_growth(receive, 1600) < GROWTH_LIMIT


@pytest.mark.parametrize("kind", [Text, Thought])
def test_text_split_into_several_documents_equals_the_text_rendered_as_a_whole(
    kind: type[Text | Thought], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (documents, stream):
        monkeypatch.setattr(module, "DOCUMENT_LIMIT_CHARS", 60)
        monkeypatch.setattr(module, "LATER_LIMIT_CHARS", 40)
    text = "one [x]\n\n" * 8 + "\ntwo [y]\n\n[y]: http://y.example\n\nthree\n\n- four\n\nfive"
    for size in (1, 7, 50):
        page = LivePage()
        for start in range(0, len(text), size):
            page.receive([kind(text[start : start + size])])
            closed, tail = split_markdown(text[: start + size], text_options(MESSAGE_ID, 0, OWNER, may_grow=True))
            assert f'{closed}<div id="part-{MESSAGE_ID}-0-tail" class="tail">{tail}</div>' in page.parts_html
        assert page.parts_html.count('class="blocks"') > 2


@pytest.mark.parametrize("end", ["-", "--", "- ", "\n-", "\n=", "\n> -", "\n- [Who", "\n- [Who](#as"])
def test_answer_that_ends_in_an_unfinished_list_item_is_equal_live_and_reloaded(end: str) -> None:
    page = LivePage()
    for character in f"Three points:\n{end}":
        page.receive([Text(character)])
        assert "<h" not in page.parts_html
    page.check()
