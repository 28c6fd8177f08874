"""Messages of a kernel become outputs within limits."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.python.kernels.output_limits import IMAGE_LIMIT_BYTES, IMAGES_LIMIT_COUNT, TEXT_LIMIT_BYTES
from chat.python.kernels.output_reader import OutputReader
from chat.python.kernels.outputs import (
    DisplayOutput,
    ErrorOutput,
    Execution,
    ExecutionStatus,
    FileOutput,
    ImageOutput,
    Output,
    Redrawn,
    TextOutput,
    join_text,
    merge_adjacent_text,
)
from chat.python.kernels.shown_outputs import CLEARED_LIMIT_COUNT
from chat.python.kernels.tracebacks import LINES_LIMIT
from chat.vocabulary.display_bundles import TRACEBACK

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"
GIF = b"GIF89arest"
JPEG = b"\xff\xd8\xff\xe0rest"


def read_message(kind: str, **content: object) -> list[Output]:
    outputs = OutputReader().receive(kind, content)
    added = [output for output in outputs if not isinstance(output, Redrawn)]
    assert added == outputs, "the first message changes nothing"
    return added


def base64_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_text_of_stdout_and_of_stderr_keeps_the_name_of_its_stream() -> None:
    assert read_message("stream", name="stdout", text="a") == [TextOutput("stdout", "a")]
    assert read_message("stream", name="stderr", text="a") == [TextOutput("stderr", "a")]


def test_plain_text_of_an_image_is_dropped_but_its_html_is_kept() -> None:
    for kind in ("display_data", "execute_result"):
        data = {"image/png": base64_text(PNG), "text/plain": "<Figure>"}
        assert read_message(kind, data=data) == [ImageOutput("image/png", PNG)]
        rich = {"text/plain": "<Chart>", "text/html": "<b>"}
        assert read_message(kind, data={"image/png": base64_text(PNG), **rich}) == [
            DisplayOutput(rich),
            ImageOutput("image/png", PNG),
        ]
    assert read_message("display_data", data={"image/jpeg": base64_text(JPEG)}) == [ImageOutput("image/jpeg", JPEG)]


def test_png_of_a_latex_formula_is_dropped() -> None:
    data = {"image/png": base64_text(PNG), "text/latex": "$x$", "text/plain": "x"}
    assert read_message("execute_result", data=data) == [DisplayOutput({"text/latex": "$x$", "text/plain": "x"})]


def test_gif_becomes_an_image_output() -> None:
    data = {"image/gif": base64_text(GIF), "text/plain": "<IPython.core.display.Image object>"}
    assert read_message("display_data", data=data) == [ImageOutput("image/gif", GIF)]


def test_image_and_sound_embedded_in_html_become_separate_outputs() -> None:
    html = '<h3>Result</h3><img src="data:{}"><audio><source src="data:audio/wav;base64,{}"></audio>'
    name = "<IPython.core.display.HTML object>"
    source = html.format(f"image/png;base64,{base64_text(PNG)}", base64_text(b"RIFF"))
    display, *files = read_message("execute_result", data={"text/html": source, "text/plain": name})
    assert files == [ImageOutput("image/png", PNG), FileOutput("audio/wav", b"RIFF")]
    assert join_text([display]) == (
        "### Result\n[A picture follows.]\n[A sound cannot be played here; its file follows.]\n"
    )


def test_animation_of_any_size_is_replaced_by_its_first_frame() -> None:
    frames = [base64.encodebytes(PNG + bytes([number]) * 100_000).decode() for number in range(12)]
    lines = [
        '  frames[{}] = "data:image/png;base64,{}"'.format(number, frame.replace("\n", "\\\n"))
        for number, frame in enumerate(frames)
    ]
    html = f'<div class="animation"><button>Once</button></div><script>{chr(10).join(lines)}</script>'
    name = "<IPython.core.display.HTML object>"
    display, frame = read_message("execute_result", data={"text/html": html, "text/plain": name})
    assert frame == ImageOutput("image/png", PNG + bytes(100_000))
    text = join_text([display])
    assert text.startswith(
        "[An animation of 12 frames cannot be played here; its first frame follows. To show it, save"
    )
    assert "Once" not in text


def test_notice_replaces_html_that_is_too_large() -> None:
    data = {"text/html": "<p>a</p>" * 200_000, "text/plain": "<IPython.core.display.HTML object>"}
    _, notice = read_message("display_data", data=data)
    assert notice == TextOutput("stderr", "[text/html of this display left out: it is too large]\n")


def test_plain_text_of_the_last_expression_becomes_stdout_text() -> None:
    assert read_message("execute_result", data={"text/plain": "42"}) == [TextOutput("stdout", "42\n")]


def test_display_with_active_content_is_stored_unchanged() -> None:
    for mime_type in ("text/html", "image/svg+xml", "application/javascript", "text/markdown"):
        bundle = {mime_type: "<svg onload=alert(1)>"}
        assert read_message("display_data", data=bundle) == [DisplayOutput(bundle)]


def test_data_without_an_image_signature_is_dropped() -> None:
    assert read_message("display_data", data={"image/png": base64_text(b"<html>")}) == []
    assert read_message("display_data", data={"image/png": "not base64!"}) == []


def test_image_above_the_limit_is_left_out_with_a_notice() -> None:
    reader = OutputReader()
    (notice,) = reader.receive("display_data", {"data": {"image/png": base64_text(PNG + bytes(IMAGE_LIMIT_BYTES))}})
    assert isinstance(notice, TextOutput)
    assert "left out" in notice.text
    assert reader.is_truncated


def test_image_that_is_shown_twice_is_one_graph() -> None:
    reader = OutputReader()
    for _ in range(2):
        reader.receive("display_data", {"data": {"image/png": base64_text(PNG)}})
    assert reader.outputs == [ImageOutput("image/png", PNG)]


def test_saved_image_becomes_an_output_when_the_cell_ends() -> None:
    saved_image = {"data": {"image/png": base64_text(PNG)}, "metadata": {"saved": True}}
    reader = OutputReader()
    assert reader.receive("display_data", saved_image) == []
    assert reader.finish() == [ImageOutput("image/png", PNG)]
    reader.receive("display_data", {"data": {"image/png": base64_text(PNG)}})
    assert reader.finish() == []


@pytest.mark.parametrize(
    ("told", "title"), [("a\n\x1b[31mb\ud800", "a b\ufffd"), ("x" * 300, "x" * 200), ("", ""), (1, None), (None, None)]
)
def test_title_of_a_figure_is_cleaned_and_reduced_to_one_line(told: object, title: str | None) -> None:
    content = {"data": {"image/png": base64_text(PNG)}, "metadata": {"plotline_title": told}}
    assert OutputReader().receive("display_data", content) == [ImageOutput("image/png", PNG, title)]


@pytest.mark.parametrize(("size_bytes", "kept"), [(IMAGE_LIMIT_BYTES, 4), (100, IMAGES_LIMIT_COUNT)])
def test_saved_images_above_the_limit_are_replaced_by_one_notice(size_bytes: int, kept: int) -> None:
    reader = OutputReader()
    for number in range(kept + 4):
        data = (PNG + bytes([number])).ljust(size_bytes, b"x")
        reader.receive("display_data", {"data": {"image/png": base64_text(data)}, "metadata": {"saved": True}})
    kinds = [type(output) for output in reader.finish()]
    assert kinds == [ImageOutput] * kept + [TextOutput]
    assert reader.is_truncated


def test_text_is_cut_at_the_limit_with_one_notice() -> None:
    reader = OutputReader()
    for _ in range(30):
        reader.receive("stream", {"name": "stdout", "text": "é" * 100_000})
    (text,) = merge_adjacent_text(reader.outputs)
    assert isinstance(text, TextOutput)
    assert reader.is_truncated
    assert text.text.count("[output cut") == 1
    assert TEXT_LIMIT_BYTES <= len(text.text.encode()) <= TEXT_LIMIT_BYTES + 100
    assert not reader.is_flooded
    for _ in range(60):
        reader.receive("stream", {"name": "stdout", "text": "é" * 100_000})
    assert reader.is_flooded


def test_graph_after_cut_text_is_an_output() -> None:
    reader = OutputReader()
    reader.receive("stream", {"name": "stdout", "text": "x" * 2 * TEXT_LIMIT_BYTES})
    assert reader.receive("display_data", {"data": {"image/png": base64_text(PNG)}}) == [ImageOutput("image/png", PNG)]


def test_error_is_text_without_ansi_codes() -> None:
    (error,) = read_message(
        "error", ename="ValueError", evalue="x", traceback=["\x1b[31mTraceback\x1b[0m", "ValueError: x"]
    )
    assert error == ErrorOutput("ValueError", "x", "Traceback\nValueError: x")


def test_display_with_the_long_traceback_precedes_the_shortened_error() -> None:
    lines = ["Traceback (most recent call last):", *["  Cell In[1], line 1"] * 90, "ValueError: x"]
    display, error = read_message("error", ename="ValueError", evalue="x", traceback=lines)
    assert display == DisplayOutput({TRACEBACK: "\n".join(lines)})
    assert isinstance(error, ErrorOutput)
    assert len(error.traceback.splitlines()) == LINES_LIMIT
    # Models read the short form alone.
    assert join_text([display, error]) == f"{error.traceback}\n"


def test_text_of_an_execution_joins_streams_and_errors_and_leaves_out_images() -> None:
    outputs = (
        TextOutput("stdout", "a"),
        ImageOutput("image/png", PNG),
        TextOutput("stderr", "b"),
        ErrorOutput("ValueError", "x", "Traceback (most recent call last):\nValueError: x"),
    )
    execution = Execution(ExecutionStatus.FAILED, outputs, 0.1, is_truncated=False)
    assert execution.text == "ab\nTraceback (most recent call last):\nValueError: x\n"
    assert Execution(
        ExecutionStatus.TIMEOUT, (ErrorOutput("TimeoutError", "late", ""),), 1, is_truncated=False
    ).text == ("TimeoutError: late\n")


def show(reader: OutputReader, **content: object) -> list[Output | Redrawn]:
    """Let a cell show a display."""
    return reader.receive("display_data", content)


def write(reader: OutputReader, text: str, name: str = "stdout") -> list[Output | Redrawn]:
    """Let a cell write text."""
    return reader.receive("stream", {"name": name, "text": text})


def test_progress_bar_is_one_line_that_changes() -> None:
    reader = OutputReader()
    assert write(reader, "\r1/3", "stderr") == [TextOutput("stderr", "1/3")]
    (redrawn,) = write(reader, "\r2/3", "stderr")
    assert isinstance(redrawn, Redrawn)
    # What is printed meanwhile has lines of its own.
    write(reader, "loss 1\n")
    write(reader, "\r3/3\n", "stderr")
    assert "".join(output.text for output in redrawn.read() if isinstance(output, TextOutput)) == "2/3\nloss 1\n3/3\n"
    assert redrawn.cleared == ()


def test_overwritten_text_does_not_count_towards_the_text_limit() -> None:
    reader = OutputReader()
    for number in range(3 * TEXT_LIMIT_BYTES // 1000):
        write(reader, f"\r{number:999d}")
    assert not reader.is_truncated
    assert reader.outputs == [TextOutput("stdout", f"{number:999d}")]


@pytest.mark.parametrize("waits", [True, False])
def test_live_plot_that_is_redrawn_200_times_is_one_graph(*, waits: bool) -> None:
    reader = OutputReader()
    cleared: list[str] = []
    for epoch in range(200):
        for change in [*reader.receive("clear_output", {"wait": waits}), *show(reader, data=png_bundle(epoch))]:
            cleared += change.cleared if isinstance(change, Redrawn) else ()
        write(reader, f"epoch {epoch}\n")
    reader.receive("clear_output", {"wait": True})
    assert reader.finish() == []
    assert reader.outputs == [ImageOutput("image/png", PNG + bytes([199])), TextOutput("stdout", "epoch 199\n")]
    assert cleared == [f"epoch {epoch}" for epoch in range(199)]
    assert not reader.is_truncated


def png_bundle(number: int) -> dict[str, str]:
    """Return the bundle of an image."""
    return {"image/png": base64_text(PNG + bytes([number])), "text/plain": "<Figure>"}


def test_update_changes_all_displays_with_its_id_and_no_other_output() -> None:
    reader = OutputReader()
    for display_id in ("a", "b", "a"):
        shown = show(reader, data={"text/plain": "working"}, transient={"display_id": display_id})
        assert shown == [DisplayOutput({"text/plain": "working"})]
    write(reader, "between\n")
    bundle = {"text/markdown": "**done**", "image/png": base64_text(PNG)}
    (redrawn,) = reader.receive("update_display_data", {"data": bundle, "transient": {"display_id": "a"}})
    done = [DisplayOutput({"text/markdown": "**done**"}), ImageOutput("image/png", PNG)]
    assert isinstance(redrawn, Redrawn)
    assert redrawn.cleared == ("working",)
    assert reader.outputs == [*done, DisplayOutput({"text/plain": "working"}), *done, TextOutput("stdout", "between\n")]
    assert reader.receive("update_display_data", {"data": bundle, "transient": {"display_id": "x"}}) == []


def test_display_can_be_updated_600_times_in_one_cell() -> None:
    reader = OutputReader()
    shown = {"transient": {"display_id": "t"}}
    show(reader, data=png_bundle(0), **shown)
    for number in range(600):
        bundle = {"text/html": f"<p>{number}</p>"} if number % 2 else png_bundle(number % 256)
        reader.receive("update_display_data", {"data": bundle, **shown})
    assert reader.outputs == [DisplayOutput({"text/html": "<p>599</p>"})]
    assert not reader.is_truncated


def test_update_of_a_display_does_not_change_the_same_image_in_another_display() -> None:
    reader = OutputReader()
    for display_id in ("a", "b"):
        show(reader, data=png_bundle(1), transient={"display_id": display_id})
    reader.receive("update_display_data", {"data": png_bundle(2), "transient": {"display_id": "a"}})
    assert reader.outputs == [ImageOutput("image/png", PNG + bytes([number])) for number in (2, 1)]


def test_graph_is_kept_when_its_updates_exceed_the_limit_of_received_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.python.kernels.output_reader.RECEIVED_IMAGES_LIMIT_BYTES", 20)
    reader = OutputReader()
    show(reader, data=png_bundle(0), transient={"display_id": "a"})
    for number in range(1, 5):
        reader.receive("update_display_data", {"data": png_bundle(number), "transient": {"display_id": "a"}})
    image, notice = reader.outputs
    assert image == ImageOutput("image/png", PNG + bytes([1]))
    assert isinstance(notice, TextOutput)
    assert notice.text.startswith("[displays are not updated any more")
    assert not reader.is_flooded


@pytest.mark.parametrize(
    ("markdown", "left"),
    [
        ("![c][1]\n\n[1]: data:image/png;base64,{}\n\n# Results", "![c][1]\n\n[1]: attachment:\n\n# Results"),
        ("![c](data:image/png;base64,{}) The mean is 5.", "![c](attachment:) The mean is 5."),
    ],
)
def test_text_after_an_embedded_image_in_markdown_is_kept(markdown: str, left: str) -> None:
    display, image = read_message("display_data", data={"text/markdown": markdown.format(base64_text(PNG))})
    assert display == DisplayOutput({"text/markdown": left})
    assert image == ImageOutput("image/png", PNG)


def test_image_in_a_css_style_does_not_become_an_output() -> None:
    html = f"<style>a {{ background: url(data:image/png;base64,{base64_text(PNG)}) }}</style><p>5</p>"
    [display] = read_message("display_data", data={"text/html": html})
    assert display == DisplayOutput({"text/html": html})


def test_number_of_cleared_texts_that_are_kept_is_limited() -> None:
    reader = OutputReader()
    kept = left_out = 0
    for number in range(2 * CLEARED_LIMIT_COUNT):
        write(reader, f"{number}\n")
        (redrawn,) = reader.receive("clear_output", {})
        assert isinstance(redrawn, Redrawn)
        kept, left_out = kept + len(redrawn.cleared), left_out + redrawn.left_out
    assert (kept, left_out) == (CLEARED_LIMIT_COUNT, CLEARED_LIMIT_COUNT)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10) | st.sampled_from(["\ud800", "\0", "aGk="]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["image/png", "saved", "display_id"]), inner)
    ),
)
KEYS = st.sampled_from(["transient", "wait", "name", "text", "data", "metadata", "ename", "evalue", "traceback"])
KINDS = st.sampled_from(
    [
        "stream",
        "display_data",
        "update_display_data",
        "clear_output",
        "execute_result",
        "error",
        "status",
        "comm_open",
        "",
    ]
)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(st.tuples(KINDS, st.dictionaries(KEYS, JSON))))
def test_text_from_any_kernel_message_is_valid_utf_8_without_nul(messages: list[tuple[str, dict[str, object]]]) -> None:
    reader = OutputReader()
    for kind, content in messages:
        reader.receive(kind, content)
    reader.finish()
    text = Execution(ExecutionStatus.OK, merge_adjacent_text(reader.outputs), 0, is_truncated=False).text
    assert text.encode().decode() == text
    assert "\0" not in text
