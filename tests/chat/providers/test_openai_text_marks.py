"""Marks of a model's template divide its text into reasoning and answer, however the text is cut into chunks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.providers.openai_compatible.text_marks import TextMarks
from chat.vocabulary.stream_events import TextBecameThought

PIECES = ["<think>", "</think>", "<|channel|>", "<|start|>", "<|message|>", "<|end|>", "analysis", "final", "assistant",
          "<|im_end|>", "</Think>", "<|im_start|>", "<s>", "</s>", "[/INST]", "<start_of_turn>", "model", "user",
          "to=functions.f", "<answer>", "</answer>", "[THINK]", "[/THINK]",
          "`", "``", "```", "~~~", "\n", "\r\n", " ", "a", "<", "<|", "</th", "- "]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
HARMONY = (
    "<|channel|>analysis<|message|>I can say it.<|end|><|start|>assistant<|channel|>final<|message|>It is 42.<|return|>"
)


def parts_of(chunks: Iterable[str]) -> list[tuple[bool, str]]:
    """Return the parts that the chunks make: whether each is reasoning, and its text."""
    marks = TextMarks()
    parts: list[tuple[bool, str]] = []
    for piece in [piece for chunk in chunks for piece in marks.feed(chunk)] + marks.close():
        if isinstance(piece, TextBecameThought):
            parts = [(True, text) for _, text in parts]
        elif parts and parts[-1][0] == piece.is_reasoning:
            parts[-1] = (piece.is_reasoning, parts[-1][1] + piece.text)
        else:
            parts.append((piece.is_reasoning, piece.text))
    return parts


def thought(text: str) -> tuple[bool, str]:
    """Return a part that is reasoning."""
    return True, text


def answer(text: str) -> tuple[bool, str]:
    """Return a part that is text of the answer."""
    return False, text


CASES: dict[str, list[tuple[bool, str]]] = {
    "<think>\nHm.\n</think>\n\n42": [thought("Hm.\n"), answer("42")],
    "  \n<think>Hm.</think>42": [thought("Hm."), answer("42")],
    "<think></think>42": [answer("42")],
    "<think>a</think>\n\n<think>b</think>\r\n\r\n42 <think>c": [thought("a\n\nb"), answer("42 <think>c")],
    "a</think>\n<think>b</think>42": [thought("a\n\nb"), answer("42")],
    "<think>not closed": [thought("not closed")],
    "<think>a </thin b</think>c</think>": [thought("a </thin b"), answer("c</think>")],
    "<think>```\nan open fence</think>c": [thought("```\nan open fence"), answer("c")],
    "42 and <think>no tag</think>": [answer("42 and <think>no tag</think>")],
    "<thinker>42": [answer("<thinker>42")],
    " <th": [answer(" <th")],
    "": [],
    " " * 300 + "<think>a</think>": [answer(" " * 300 + "<think>a</think>")],
    # A closing tag without an opening tag.
    "Hm.\n</think>\n\n42": [thought("Hm.\n"), answer("42")],
    "Hm.</think>42 </think> 43": [thought("Hm."), answer("42 </think> 43")],
    "\n</think>\n\n42": [answer("42")],
    "Hm.</think>": [thought("Hm.")],
    "Write `</think>` or ``a ` </think>``.": [answer("Write `</think>` or ``a ` </think>``.")],
    "Write `<think>` first.</think>42": [thought("Write `<think>` first."), answer("42")],
    "The ` is a backtick.</think>42\n": [thought("The ` is a backtick."), answer("42\n")],
    "```html\n</think>\n```\nis a tag": [answer("```html\n</think>\n```\nis a tag")],
    "- ~~~\n  </think>\n  ~~~\n": [answer("- ~~~\n  </think>\n  ~~~\n")],
    "```\n1\n```</think>42": [thought("```\n1\n```"), answer("42")],
    "```\n1\n```\n</think>42": [thought("```\n1\n```\n"), answer("42")],
    # Tags in upper and lower case.
    "<Think>Hm.</THINK>42": [thought("Hm."), answer("42")],
    "Hm.\n</THINK>\n\n42": [thought("Hm.\n"), answer("42")],
    "Write `</Think>`.": [answer("Write `</Think>`.")],
    # Other tags.
    "<thinking>Hm. </think></thinking>42": [thought("Hm. </think>"), answer("42")],
    "Hm.</thought>42 </thought>": [thought("Hm."), answer("42 </thought>")],
    "[THINK]Hm.[/THINK]42 [THINK]": [thought("Hm."), answer("42 [THINK]")],
    "◁think▷Hm.◁/think▷42": [thought("Hm."), answer("42")],
    "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>42<|END_RESPONSE|>": [thought("Hm."), answer("42")],
    "<think>Hm.</think>\n<answer>\n42 <answer>\n</answer></answer>": [
        thought("Hm."),
        answer("42 <answer>\n"),
    ],
    "<answer>42</answer>": [answer("<answer>42</answer>")],
    "It is <|begin_of_box|>42<|end_of_box|>, `<|begin_of_box|>`.": [answer("It is 42, `<|begin_of_box|>`.")],
    # Marks at the end, of other templates.
    "42<|im_end|>": [answer("42")],
    "42\n<|im_end|>\n<|IM_END|>\n": [answer("42\n")],
    "42<end_of_turn>\n": [answer("42")],
    "42 <|eot_id|><|endoftext|>": [answer("42 ")],
    "<|im_end|>": [],
    "42<|im_e": [answer("42<|im_e")],
    "42 <|im_end|> and 43": [answer("42 <|im_end|> and 43")],
    "It ends in `<|im_end|>`": [answer("It ends in `<|im_end|>`")],
    "<think>Hm.</think>42<|eot_id|>": [thought("Hm."), answer("42")],
    "42 [/INST]": [answer("42 ")],
    "42</s>": [answer("42")],
    "<s>41</s>": [answer("<s>41</s>")],
    "It was <s>41</s><|im_end|>": [answer("It was <s>41</s>")],
    "42<|im_end|>\n<|im_start|>user\nWhy?<|im_end|>\n": [answer("42\n\nWhy?")],
    "42<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n43": [answer("42\n\n43")],
    "42<end_of_turn>\n<start_of_turn>model": [answer("42")],
    "```\n<|im_start|>user\nHi<|im_end|>\n```": [answer("```\n<|im_start|>user\nHi<|im_end|>\n```")],
    # Marks at the beginning, of other templates.
    "<|im_start|>assistant\n42": [answer("42")],
    "<|im_start|>assistant\n<think>\nHm.</think>42": [thought("Hm."), answer("42")],
    "<|start_header_id|>assistant<|end_header_id|>\n\n42<|eot_id|>": [answer("42")],
    "<|header_start|>assistant<|header_end|>\n\n42<|eot|>": [answer("42")],
    "<start_of_turn>model\n42<end_of_turn><pad>[EOS]": [answer("42")],
    "<s> [/INST] 42 </s>": [answer("42 ")],
    "<|assistant|>\n42<|user|>": [answer("42")],
    "<｜Assistant｜>42<｜end▁of▁sentence｜>": [answer("42")],
    "<|im_start|>assistant begins a message.": [answer("<|im_start|>assistant begins a message.")],
    "<|im_start|> is a mark": [answer("<|im_start|> is a mark")],
    "`[/INST]` ends a question": [answer("`[/INST]` ends a question")],
    "<s>old</s> new": [answer("<s>old</s> new")],
    # Messages of the Harmony format.
    HARMONY: [thought("I can say it."), answer("It is 42.")],
    "\n" + HARMONY: [thought("I can say it."), answer("It is 42.")],
    HARMONY.replace("I can say it.", "```\n"): [thought("```\n"), answer("It is 42.")],
    "<|channel|>analysis<|message|>Hm.<|end|>\n42": [thought("Hm."), answer("42")],
    "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>final<|message|>42": [
        answer("I look.\n\n42")
    ],
    '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": 1}<|call|>': [answer('{"a": 1}')],
    "42<|return|>": [answer("42")],
    "42<|channel|>commentary": [answer("42")],
    "<|channel|>commentary to=functions.f<|constrain|> json<|message|>{}<|call|>": [answer("{}")],
    "<|start|>assistant<|channel|> final<|message|>42": [answer("42")],
    "The mark <|channel|> and <|message|> and <|end|>.": [answer("The mark  and  and .")],
    "Write `<|end|>`.\n```\n<|channel|>final<|message|>\n```\n": [
        answer("Write `<|end|>`.\n```\n<|channel|>final<|message|>\n```\n")
    ],
    "<|endoftext|> <|channel": [answer("<|endoftext|> <|channel")],
}


@pytest.mark.parametrize(("text", "parts"), CASES.items())
def test_template_marks_separate_thought_and_answer_wherever_the_text_is_cut(
    text: str, parts: list[tuple[bool, str]]
) -> None:
    assert parts_of([text]) == parts
    assert parts_of(text) == parts
    for cut in range(len(text)):
        assert parts_of([text[:cut], text[cut:]]) == parts


@given(text=TEXTS, cuts=st.lists(st.integers(0, 80), max_size=6))
def test_parts_do_not_depend_on_how_the_text_is_divided_into_chunks(text: str, cuts: list[int]) -> None:
    borders = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    assert parts_of(text[start:end] for start, end in pairwise(borders)) == parts_of([text]) == parts_of(text)


def test_only_text_that_may_become_a_template_mark_is_held_back() -> None:
    marks = TextMarks()
    shown = [
        "".join(getattr(piece, "text", "") for piece in marks.feed(chunk)) for chunk in ("a `b <", "x </", "th", "en")
    ]
    assert shown == ["a `b ", "<x ", "", "</then"]


def test_harmony_header_with_a_recipient_means_that_the_model_wrote_a_call() -> None:
    calling, answering = TextMarks(), TextMarks()
    calling.feed("<|channel|>commentary to=functions.f<|message|>{}")
    answering.feed(HARMONY)
    assert (calling.has_call, answering.has_call) == (True, False)


def test_think_tags_in_the_answer_are_text_if_reasoning_comes_in_a_separate_field() -> None:
    marks = TextMarks()
    marks.settle()
    pieces = marks.feed("</think>\n\n42 </think>")
    assert "".join(getattr(piece, "text", "") for piece in pieces) == "42 </think>"
