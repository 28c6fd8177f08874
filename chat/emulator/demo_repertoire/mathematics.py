"""Prompts about mathematics: primes, Fibonacci numbers, equations."""

from __future__ import annotations

from chat.emulator.demo_repertoire.entry import DemoPrompt, PromptTexts

PRIMES_PROGRAM = """\
count = 50
primes = []
candidate = 2
while len(primes) < count:
    if all(candidate % prime for prime in primes if prime * prime <= candidate):
        primes.append(candidate)
    candidate += 1

for start in range(0, count, 10):
    print(" ".join(f"{prime:5d}" for prime in primes[start : start + 10]))
print(f"found: {len(primes)}")
print(f"last: {primes[-1]}")
print(f"sum: {sum(primes)}")
"""
PRIMES = DemoPrompt(
    r"(first|die ersten|前)?\s*(?P<count>\d{1,4})?\s*(个)?\s*(primes?\b|prime numbers|primzahl|素数|质数)",
    PRIMES_PROGRAM,
    {
        "en": PromptTexts(
            "List the first 50 primes",
            "**Finding primes**\n\nTrial division by the primes found so far is fast enough here.\n\n\n",
            "I'll find them by trial division.\n\n",
            "These are the first **{found}** primes. The last one is **{last}**, and together they make **{sum}**.",
        ),
        "de": PromptTexts(
            "Berechne die ersten 50 Primzahlen",
            "**Primzahlen suchen**\n\nProbedivision genügt hier.\n\n\n",
            "Ich suche sie durch Probedivision.\n\n",
            "Das sind die ersten **{found}** Primzahlen. Die letzte ist **{last}**, ihre Summe ist **{sum}**.",
        ),
        "zh": PromptTexts(
            "列出前 50 个素数",
            "**寻找素数**\n\n用试除法就够快了。\n\n\n",
            "我用试除法来找。\n\n",
            "以上是前 **{found}** 个素数。最后一个是 **{last}**，它们的和是 **{sum}**。",
        ),
    },
)

FIBONACCI_PROGRAM = """\
count = 30
numbers = [0, 1]
while len(numbers) < count:
    numbers.append(numbers[-1] + numbers[-2])
numbers = numbers[:count]

print(", ".join(map(str, numbers)))
print(f"last: {numbers[-1]}")
print(f"ratio: {numbers[-1] / numbers[-2]:.10f}")
"""
FIBONACCI = DemoPrompt(
    r"(first\s+(?P<count>\d{1,3})\s+)?fibonacci",
    FIBONACCI_PROGRAM,
    {
        "en": PromptTexts(
            "Compute the first 30 Fibonacci numbers",
            "**Adding up**\n\nEach number is the sum of the two before it.\n\n\n",
            "I'll add them up one by one.\n\n",
            "The last one is **{last}**. Neighbours have the ratio **{ratio}**, close to the golden ratio "
            "$\\frac{{1 + \\sqrt{{5}}}}{{2}}$.",
        )
    },
)

QUADRATIC_PROGRAM = """\
import sympy

equation = "x^2 - 5x + 6 = 0"
x = sympy.Symbol("x")
rules = (*sympy.parsing.sympy_parser.standard_transformations,
         sympy.parsing.sympy_parser.implicit_multiplication_application,
         sympy.parsing.sympy_parser.convert_xor)
left, right = (sympy.parse_expr(side.replace("²", "^2"), {"x": x}, rules) for side in equation.split("="))
difference = sympy.expand(left - right)
roots = sympy.solve(difference, x)

print(f"form: {difference} = 0")
print(f"factors: {sympy.factor(difference)}")
print(f"discriminant: {sympy.discriminant(difference, x)}")
print(f"roots: {', '.join(map(str, roots))}")
print(f"check: {[sympy.simplify(difference.subs(x, root)) for root in roots]}")
"""
QUADRATIC = DemoPrompt(
    r"(?P<equation>-?[\d.]*\s*\*?\s*x\s*(\^|\*\*|²)[\d.x^*²+\- ]*=[\d.x^*²+\- ]*[\dx²])"
    r"|quadratic|quadratische|二次方程",
    QUADRATIC_PROGRAM,
    {
        "en": PromptTexts(
            "Solve x^2 - 5x + 6 = 0",
            "**Solving an equation**\n\nSympy gives exact roots, and I can check them.\n\n\n",
            "I'll solve it with sympy and check the roots.\n\n",
            "The roots are **{roots}**. The discriminant is {discriminant}, and in factors the left side is "
            "`{factors}`.",
        )
    },
)
