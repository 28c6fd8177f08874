"""Prompts about running programs: a failure and its repair, run times, the time limit."""

from __future__ import annotations

from chat.emulator.demo_repertoire.entry import DemoPrompt, PromptTexts, Repair

DIVISION_PROGRAM = """\
values = [12, 7, 0, 3]
for value in values:
    print(f"84 / {value} = {84 / value:.3f}")
"""
DIVISION_REPAIRED_PROGRAM = """\
values = [12, 7, 0, 3]
done = 0
for value in values:
    if value == 0:
        print("84 / 0 has no result, left out")
        continue
    print(f"84 / {value} = {84 / value:.3f}")
    done += 1
print(f"divided: {done}")
print(f"left out: {len(values) - done}")
"""
DIVISION = DemoPrompt(
    r"divi(de|sion)|\bfail|\berror\b|fehler|除以零",
    DIVISION_PROGRAM,
    {
        "en": PromptTexts(
            "Show me a division that fails",
            "**Dividing by a list of numbers**\n\nOne of them is zero; let me see what happens.\n\n\n",
            "I'll divide 84 by each number of a list.\n\n",
            "Now **{divided}** divisions have a result and **{left_out}** was left out. Dividing by zero has no "
            "answer, so the code must decide what to do *before* it divides.",
        )
    },
    repair=Repair(
        "That failed: `{error}`. The list holds a zero, and Python refuses to divide by it. "
        "I'll check for it first.\n\n",
        DIVISION_REPAIRED_PROGRAM,
    ),
)

SORTS_PROGRAM = """\
import random
import time

import matplotlib.pyplot as plt


def insertion_sort(values):
    values = list(values)
    for end in range(1, len(values)):
        value, place = values[end], end
        while place and values[place - 1] > value:
            values[place] = values[place - 1]
            place -= 1
        values[place] = value
    return values


def merge_sort(values):
    if len(values) < 2:
        return list(values)
    middle = len(values) // 2
    left, right, merged = merge_sort(values[:middle]), merge_sort(values[middle:]), []
    while left and right:
        merged.append((left if left[-1] > right[-1] else right).pop())
    return left + right + merged[::-1]


sizes = [100, 200, 400, 800, 1600]
methods = {"insertion": insertion_sort, "merge": merge_sort, "built in": sorted}
times_ms = {name: [] for name in methods}
for size in sizes:
    values = random.sample(range(size * 10), size)
    for name, sort in methods.items():
        started = time.perf_counter()
        assert sort(values) == sorted(values)
        times_ms[name].append((time.perf_counter() - started) * 1000)

plt.figure(figsize=(7.5, 4.5))
for name, times in times_ms.items():
    plt.plot(sizes, times, marker="o", label=name)
plt.yscale("log")
plt.xlabel("how many values")
plt.ylabel("milliseconds")
plt.legend()
plt.tight_layout()
plt.show()

for name, times in times_ms.items():
    print(f"{name}: {times[-1]:.2f} ms")
print(f"factor: {times_ms['insertion'][-1] / times_ms['merge'][-1]:.1f}")
"""
SORTS = DemoPrompt(
    r"\bsort",
    SORTS_PROGRAM,
    {
        "en": PromptTexts(
            "Compare sort times",
            "**Comparing sorts**\n\nInsertion sort against merge sort against the built-in one.\n\n\n",
            "I'll time three ways to sort lists of growing length.\n\n",
            "For 1600 values, insertion sort took {insertion}, merge sort {merge} and the built-in sort "
            "**{built_in}**. Merge sort beat insertion sort by a factor of **{factor}**, and the factor grows "
            "with the length.",
        )
    },
)

ENDLESS_PROGRAM = """\
import time

print("counting started", flush=True)
seconds = 0
while True:
    time.sleep(1)
    seconds += 1
"""
ENDLESS = DemoPrompt(
    r"endless|infinite loop|timeout|time ?limit|endlos|死循环",
    ENDLESS_PROGRAM,
    {
        "en": PromptTexts(
            "Run an endless loop",
            "**Running into the limit**\n\nThis cannot end by itself.\n\n\n",
            "I'll start a loop that never ends. It will be ended after 30 seconds; you can also press Stop.\n\n",
            "The loop ended by itself, which it should not have done.",
        )
    },
)
