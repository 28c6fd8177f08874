"""Train the classifier from the prompts in `prompts/`.

`python -m chat.answering.prompt.intent.training` writes `weights.tsv`; `make setup` calls it after a change.

The prompts of each language are in `prompts/<language>.tsv`, with the columns label (`run` or `text`), flag (`data`,
`before` or `-`) and text, in which `\\n` and `\\t` are escaped. To add a language, add a file.

The training is stochastic gradient descent on the logistic loss, in a seeded order. It gives the same file on every
machine and every Python: `math.fsum` rounds once, whereas `sum` rounds differently from Python 3.12 on.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from chat.answering.prompt.intent.classifier import BIAS, WEIGHTS_FILE, Features, extract_features
from chat.answering.prompt.intent.facts import extract_facts
from chat.answering.prompt.intent.rules import sum_points

PROMPTS_FOLDER: Final = Path(__file__).parent / "prompts"
EPOCHS: Final = 30
FIRST_RATE: Final = 0.2
DECAY: Final = 0.0001
"""How fast the learning rate falls with each prompt."""
SHRINKING: Final = 1e-5
"""Weight decay: the strength of the L2 regularization."""
MINIMUM_PROMPTS: Final = 3
"""Minimum number of prompts in which a feature must occur. Other features are dropped."""
DIGITS: Final = 1
"""Number of decimal places of stored weights. Weights that are rounded to zero are not stored."""
PROBABILITY_DIGITS: Final = 6
"""Probabilities are rounded to this number of digits, because the last bits of `exp` differ between machines."""

Row: TypeAlias = list[tuple[int, float]]
"""The features of a prompt: (number, value)."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One labelled prompt."""

    is_wanted: bool
    flag: str
    text: str

    def features(self) -> Features:
        """Return what the classifier weighs in this prompt."""
        facts = extract_facts(self.text, has_data=self.flag == "data", ran_code_before=self.flag == "before")
        return extract_features(facts, sum_points(facts))


def load_prompts(lines: Sequence[str]) -> Iterator[Prompt]:
    """Yield the prompts of the lines of a file."""
    for line in lines:
        label, flag, text = line.split("\t", 2)
        yield Prompt({"run": True, "text": False}[label], flag, text.replace("\\n", "\n").replace("\\t", "\t"))


def prompt_files() -> list[Path]:
    """Return the files of prompts, in a fixed order."""
    return sorted(PROMPTS_FOLDER.glob("*.tsv"))


def train(prompts: Sequence[Prompt]) -> dict[str, float]:
    """Return the weight of each feature."""
    rows = [prompt.features().values() for prompt in prompts]
    counts = Counter(name for row in rows for name in row)
    names = sorted(name for name, count in counts.items() if count >= MINIMUM_PROMPTS)
    numbers = {name: number for number, name in enumerate(names)}
    vectors = [[(numbers[name], value) for name, value in sorted(row.items()) if name in numbers] for row in rows]
    weights, bias = _descend(vectors, [prompt.is_wanted for prompt in prompts], len(names))
    return {BIAS: bias} | dict(zip(names, weights, strict=True))


def _descend(vectors: Sequence[Row], labels: Sequence[bool], features: int) -> tuple[list[float], float]:
    """Return the weights and the bias. All weights share a factor, which makes each step of weight decay cheap."""
    weights, bias, scale, steps = [0.0] * features, 0.0, 1.0, 0
    order, shuffled = list(range(len(vectors))), random.Random(0)
    for _ in range(EPOCHS):
        shuffled.shuffle(order)
        for number in order:
            rate = FIRST_RATE / (1 + DECAY * steps)
            steps += 1
            log_odds = bias + scale * math.fsum([weights[index] * value for index, value in vectors[number]])
            probability = 1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds))))
            error = labels[number] - round(probability, PROBABILITY_DIGITS)
            scale *= 1 - rate * SHRINKING
            bias += rate * error
            step = rate * error / scale
            for index, value in vectors[number]:
                weights[index] += step * value
    return [weight * scale for weight in weights], bias


def write_weights(weights: dict[str, float]) -> None:
    """Write the file of weights, sorted by name."""
    rounded = {name: round(weight, DIGITS) for name, weight in sorted(weights.items())}
    lines = [f"{weight}\t{name}\n" for name, weight in rounded.items() if weight]
    WEIGHTS_FILE.write_text("".join(lines), encoding="utf-8")


def main() -> None:
    """Train on all prompts and write the weights."""
    lines = [line for path in prompt_files() for line in path.read_text(encoding="utf-8").splitlines()]
    weights = train(list(load_prompts(lines)))
    write_weights(weights)
    print(f"{len(lines)} prompts, {len(weights)} features")  # the output of a command


if __name__ == "__main__":
    main()
