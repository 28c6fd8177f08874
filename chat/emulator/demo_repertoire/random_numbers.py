"""Prompts about random numbers and estimates: distributions, simulations, a fitted line."""

from __future__ import annotations

from chat.emulator.demo_repertoire.entry import DemoPrompt, PromptTexts

HISTOGRAM_PROGRAM = """\
import matplotlib.pyplot as plt
import numpy as np

count = 2000
values = np.random.default_rng(7).normal(loc=100, scale=15, size=count)

plt.figure(figsize=(8, 4.5))
plt.hist(values, bins=40, color="#2a9d8f", edgecolor="white")
plt.axvline(values.mean(), color="#e76f51", linewidth=2, label="mean")
plt.title(f"{count} values of a normal distribution")
plt.xlabel("value")
plt.ylabel("how many")
plt.legend()
plt.tight_layout()
plt.show()

inside = np.abs(values - values.mean()) < values.std()
print(f"mean: {values.mean():.2f}")
print(f"deviation: {values.std():.2f}")
print(f"within: {inside.mean():.1%}")
"""
HISTOGRAM = DemoPrompt(
    r"histogram|normal distribution|normalverteilung|直方图|正态",
    HISTOGRAM_PROGRAM,
    {
        "en": PromptTexts(
            "Show a histogram of 2000 random values",
            "**Drawing a histogram**\n\nA normal distribution is what most people expect to see.\n\n\n",
            "I'll draw random values from a normal distribution with mean 100 and deviation 15.\n\n",
            "The sample has a mean of **{mean}** and a standard deviation of **{deviation}**. **{within}** of the "
            "values lie within one deviation of the mean; theory says 68.3%.",
        ),
        "de": PromptTexts(
            "Zeige ein Histogramm von Zufallszahlen",
            "**Histogramm zeichnen**\n\nEine Normalverteilung passt gut.\n\n\n",
            "Ich ziehe Zufallszahlen aus einer Normalverteilung mit Mittelwert 100 und Streuung 15.\n\n",
            "Der Mittelwert der Stichprobe ist **{mean}**, die Standardabweichung **{deviation}**. **{within}** "
            "der Werte liegen höchstens eine Standardabweichung vom Mittelwert entfernt.",
        ),
        "zh": PromptTexts(
            "画一个随机数的直方图",
            "**绘制直方图**\n\n用正态分布的样本。\n\n\n",
            "我从均值 100、标准差 15 的正态分布中抽取随机数。\n\n",
            "样本均值为 **{mean}**，标准差为 **{deviation}**。有 **{within}** 的值落在均值一个标准差之内。",
        ),
    },
)

PI_PROGRAM = """\
import matplotlib.pyplot as plt
import numpy as np

count = 20000
x, y = np.random.default_rng(3).random((2, count))
inside = x * x + y * y <= 1
estimate = 4 * inside.mean()

plt.figure(figsize=(5.5, 5.5))
plt.scatter(x[inside], y[inside], s=1, color="#264653")
plt.scatter(x[~inside], y[~inside], s=1, color="#e9c46a")
plt.title(f"{count} points, pi is about {estimate:.4f}")
plt.gca().set_aspect("equal")
plt.tight_layout()
plt.show()

print(f"inside: {inside.sum()}")
print(f"estimate: {estimate:.4f}")
print(f"error: {abs(estimate - np.pi):.4f}")
"""
PI = DemoPrompt(
    r"monte.?carlo|\bpi\b|π|圆周率",
    PI_PROGRAM,
    {
        "en": PromptTexts(
            "Estimate pi with a Monte Carlo simulation",
            "**Estimating pi**\n\nThe share of random points inside a quarter circle is π/4.\n\n\n",
            "I'll throw random points at a square and count those inside the quarter circle.\n\n",
            "**{inside}** points fell inside, which gives π ≈ **{estimate}**. That is off by {error}. To halve the "
            "error, four times as many points are needed.",
        ),
        "de": PromptTexts(
            "Schätze Pi mit Monte-Carlo",
            "**Pi schätzen**\n\nDer Anteil der Punkte im Viertelkreis ist π/4.\n\n\n",
            "Ich werfe zufällige Punkte auf ein Quadrat und zähle die im Viertelkreis.\n\n",
            "**{inside}** Punkte liegen im Viertelkreis, also π ≈ **{estimate}**; der Fehler ist {error}.",
        ),
        "zh": PromptTexts(
            "用蒙特卡罗方法估算圆周率",
            "**估算圆周率**\n\n落在四分之一圆内的点的比例是 π/4。\n\n\n",
            "我向正方形随机投点，数出落在四分之一圆内的点。\n\n",
            "有 **{inside}** 个点落在圆内，因此 π ≈ **{estimate}**，误差为 {error}。",
        ),
    },
)

WALK_PROGRAM = """\
import matplotlib.pyplot as plt
import numpy as np

count = 1000
steps = np.random.default_rng(11).choice([-1, 1], size=(5, count))
walks = steps.cumsum(axis=1)

plt.figure(figsize=(8, 4.5))
plt.plot(walks.T, linewidth=1.2)
plt.axhline(0, color="gray", linewidth=0.8)
plt.title("Five random walks")
plt.xlabel("step")
plt.ylabel("distance from the start")
plt.tight_layout()
plt.show()

print(f"steps: {count}")
print(f"farthest: {np.abs(walks).max()}")
print(f"mean end: {np.abs(walks[:, -1]).mean():.1f}")
print(f"expected: {(2 * count / np.pi) ** 0.5:.1f}")
"""
WALK = DemoPrompt(
    r"random walk|irrfahrt|zufallsbewegung|随机游走",
    WALK_PROGRAM,
    {
        "en": PromptTexts(
            "Simulate a random walk",
            "**Simulating walks**\n\nSeveral walks side by side show how much they differ.\n\n\n",
            "I'll let five walkers take 1000 steps each.\n\n",
            "After {steps} steps the walkers are **{mean_end}** away from the start on average; the theory for "
            "many walkers says {expected}. The farthest any of them got is **{farthest}**.",
        )
    },
)

FIT_PROGRAM = """\
import matplotlib.pyplot as plt
import numpy as np

random = np.random.default_rng(5)
x = np.linspace(0, 10, 60)
y = 2.5 * x + 4 + random.normal(scale=2.5, size=x.size)

slope, intercept = np.polyfit(x, y, 1)
correlation = np.corrcoef(x, y)[0, 1]

plt.figure(figsize=(8, 4.5))
plt.scatter(x, y, s=22, label="measured")
plt.plot(x, slope * x + intercept, color="#d62828", linewidth=2, label="fitted line")
plt.xlabel("x")
plt.ylabel("y")
plt.legend()
plt.tight_layout()
plt.show()

print(f"slope: {slope:.3f}")
print(f"intercept: {intercept:.3f}")
print(f"explained: {correlation**2:.1%}")
"""
FIT = DemoPrompt(
    r"linear (fit|regression)|fit a line|scatter|regress|trend line|散点|回归",
    FIT_PROGRAM,
    {
        "en": PromptTexts(
            "Fit a line to noisy data",
            "**Fitting a line**\n\nLeast squares on points with known slope shows how well it works.\n\n\n",
            "I'll make noisy points around the line $y = 2.5x + 4$ and fit a line to them.\n\n",
            "The fitted line is $y = {slope}x + {intercept}$. It explains **{explained}** of the variance.",
        )
    },
)
