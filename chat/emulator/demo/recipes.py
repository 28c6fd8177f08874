"""Fixed programs without a formula or table, such as a random walk."""

from __future__ import annotations

from dataclasses import replace

from chat.emulator.demo.language import PROGRAMS, TEXTS, VOCABULARY, Plan, Prompt, make_plan, word

USUAL_NUMBERS, NUMBER_LIMIT = {"times_table": 10}, 1_000_000
"""The numbers that are used if a prompt has none (1,000 for programs that are not listed), and the largest number."""


def read_recipe(prompt: Prompt, previous: object) -> Plan | None:
    """Return the plan for the fixed program that the prompt asks for; None without one, or with too large a number."""
    for name in VOCABULARY["recipes"]:
        attempt = replace(prompt)
        if (match := attempt.take(word(f"recipes.{name}"))) is None:
            continue
        given = [int(one) for one in match.groups() if one] or [attempt.take_whole("recipe_amounts.number")]
        number = given[0] or USUAL_NUMBERS.get(name, 1_000)
        if number > NUMBER_LIMIT:
            return None
        prompt.rest = attempt.rest
        comment = TEXTS["recipe_comments"][name][prompt.language]
        return make_plan("recipe", prompt.language, PROGRAMS["recipes"][name].format(n=number), comment=comment)
    return None
