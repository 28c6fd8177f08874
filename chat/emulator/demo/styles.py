"""The look of graphs: colours, a title, the size. Lines of code before `plt.show()` change it, in any program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chat.emulator.demo.language import PROGRAMS, VOCABULARY, Prompt, word

_SHOW = re.compile(r"^([ \t]*)plt\.show\(\)", re.MULTILINE)
_TITLE = r"[:：]?\s*[\"“„](?P<title>[^\"“”„¦]{1,100})[\"“”]"


def take_styles(prompt: Prompt, text: str, *, is_change: bool) -> list[str]:
    """Remove the words about the look of a graph from a prompt, and return lines of code for them.

    `text`: the prompt as it was written, for the capitals of a title. `is_change`: whether a graph is to be changed.
    Only then does the name of a colour alone change the colour: in other prompts, `red 3, blue 5` are labels.
    """
    groups = ("styles", "looks") if is_change else ("styles",)
    lines = [PROGRAMS[group][name] for group in groups for name in prompt.take_names(group)]
    for color in VOCABULARY["colors"]:
        names = word(f"colors.{color}")
        phrase = rf"{word('color_phrases.before')} ?{names}|{names} ?{word('color_phrases.after')}"
        if prompt.take(f"(?:{phrase})|{names}" if is_change else phrase):
            lines.append(PROGRAMS["color"].format(color=color))
    if title := prompt.take(word("titles.named") + _TITLE):
        # The prompt is in lower case, so the title is copied from the original text.
        start = text.lower().find(title["title"])
        written = text[start : start + len(title["title"])] if start >= 0 else title["title"]
        lines.append(f"plt.title({written!r})")
    return lines


def has_graph(program: str) -> bool:
    """Return whether a program shows a graph that `with_styles` can change."""
    return _SHOW.search(program) is not None


def with_styles(program: str, lines: Sequence[str]) -> str:
    """Return the program with these lines before each `plt.show()`, with its indentation."""

    def insert(show: re.Match[str]) -> str:
        return "".join(f"{show[1]}{line}\n" for one in lines for line in one.strip().splitlines()) + show[0]

    return _SHOW.sub(insert, program)
