"""Questions about private tables, and a model that answers them only with what it is sent."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.scenarios.asked import Asked
from tests.scenarios.steps import Calls, End, Steps, Text

SEPARATOR = "; "
_DIGITS = re.compile(r"(:\.|\bround\()\d([f%g)])")
_NUMBER = r"(-?[\d,]+\.?\d*(?:e[+-]?\d+)?)"
_NAME = r"(\[text \d+\]|[^\W\d]\w*)"


@dataclass(frozen=True, slots=True)
class PrivateQuestion:
    """A question about a table. `private_questions.toml` describes the fields."""

    text: str
    code: str
    pattern: str
    truth: str

    @property
    def file(self) -> str:
        """The name of the file that the question is about."""
        return self.text[: self.text.index(".csv") + 4].split()[-1]

    def figures(self, output: str) -> list[str]:
        """Return the figures of an output, in order."""
        pattern = self.pattern.replace("NAME", _NAME).replace("N", _NUMBER)
        return [figure for match in re.finditer(pattern, output, re.MULTILINE) for figure in match.groups()]


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PRIVATE_QUESTIONS = [PrivateQuestion(**one) for one in _TABLES["question"]]
_BY_TEXT = {one.text: one for one in PRIVATE_QUESTIONS}


def answer_from_output(asked: Asked) -> Steps:
    """Run code, and answer with the figures of the output that came back. A withheld figure is printed again
    with more digits.
    """
    question = _BY_TEXT[asked.question]
    code = f"import pandas as pd\ndf = pd.read_csv({question.file!r})\n{question.code.strip()}"
    if not asked.results:
        return [Calls([("run_python", {"code": code})])]
    output = json.loads(asked.results[-1][1])["output"]
    if "[number]" in output and asked.rounds == 1:
        return [Calls([("run_python", {"code": _DIGITS.sub(r"\g<1>8\g<2>", code)})])]
    return [Text(SEPARATOR.join(question.figures(output)) or "The output does not say."), End()]
