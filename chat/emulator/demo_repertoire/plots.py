"""Prompts about plots: curves, bars, a fractal."""

from __future__ import annotations

from chat.emulator.demo_repertoire.entry import DemoPrompt, PromptTexts

SINE_PROGRAM = """\
import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 4 * np.pi, 401)
y = np.sin(x)

plt.figure(figsize=(8, 4.5))
plt.plot(x, y, linewidth=2)
plt.axhline(0, color="gray", linewidth=0.8)
plt.title("sin(x)")
plt.xlabel("x in radians")
plt.ylabel("y")
plt.grid(alpha=0.3)
plt.tight_layout()
plt.show()

peaks = np.flatnonzero((y[1:-1] > y[:-2]) & (y[1:-1] > y[2:])) + 1
print(f"highest: {y.max():.4f}")
print(f"lowest: {y.min():.4f}")
print(f"peaks: {len(peaks)}")
print(f"first peak: {x[peaks[0]]:.3f}")
"""
SINE = DemoPrompt(
    r"\bsin(e|us)?\b|sinus|(?<!co)sine ?wave|正弦",
    SINE_PROGRAM,
    {
        "en": PromptTexts(
            "Plot a sine wave",
            "**Plotting a sine wave**\n\nTwo full turns show the period well. I will also find the peaks, so that "
            "the answer can name numbers instead of guessing them.\n\n\n",
            "I'll draw two full turns of a sine wave and look for its peaks.\n\n",
            "The wave runs between **{lowest}** and **{highest}**. It has **{peaks}** peaks in this range, the "
            "first at x = **{first_peak}**, which is π/2.\n\n"
            "Ask me to *make it a cosine* to compare.",
        ),
        "de": PromptTexts(
            "Zeichne eine Sinuskurve",
            "**Sinuskurve zeichnen**\n\nZwei volle Perioden zeigen den Verlauf gut.\n\n\n",
            "Ich zeichne zwei volle Perioden der Sinuskurve und suche ihre Hochpunkte.\n\n",
            "Die Kurve verläuft zwischen **{lowest}** und **{highest}**. Im gezeigten Bereich hat sie **{peaks}** "
            "Hochpunkte, den ersten bei x = **{first_peak}**, also bei π/2.",
        ),
        "zh": PromptTexts(
            "画一条正弦曲线",
            "**绘制正弦曲线**\n\n画两个完整周期，并找出峰值。\n\n\n",
            "我来画两个完整周期的正弦曲线，并找出它的峰值。\n\n",
            "曲线的最小值是 **{lowest}**，最大值是 **{highest}**。图中共有 **{peaks}** 个峰，"
            "第一个峰在 x = **{first_peak}**，即 π/2 附近。",
        ),
    },
)

COSINE_PROGRAM = SINE_PROGRAM.replace("np.sin", "np.cos").replace("sin(x)", "cos(x)")
COSINE = DemoPrompt(
    r"\bcos(ine)?\b|kosinus|余弦",
    COSINE_PROGRAM,
    {
        "en": PromptTexts(
            "Make it a cosine",
            "**Plotting a cosine**\n\nThe same drawing as for a sine, a quarter of a turn earlier.\n\n\n",
            "I'll draw two full turns of a cosine.\n\n",
            "The curve starts at its highest point, **{highest}**, falls to **{lowest}**, and is back at its "
            "peak at x = **{first_peak}**, which is 2π.",
        )
    },
)

BARS_PROGRAM = """\
import matplotlib.pyplot as plt

fruits = {"Apples": 42, "Pears": 27, "Plums": 35, "Cherries": 51, "Grapes": 18}

plt.figure(figsize=(7, 4.2))
bars = plt.bar(fruits.keys(), fruits.values(), color="#457b9d")
plt.bar_label(bars)
plt.title("Baskets sold")
plt.tight_layout()
plt.show()

best = max(fruits, key=fruits.get)
print(f"total: {sum(fruits.values())}")
print(f"best: {best}")
print(f"most: {fruits[best]}")
"""
BARS = DemoPrompt(
    r"bar chart|balkendiagramm|säulendiagramm|条形图|柱状图",
    BARS_PROGRAM,
    {
        "en": PromptTexts(
            "Draw a bar chart",
            "**Drawing bars**\n\nFive groups with labels on the bars.\n\n\n",
            "I'll chart some made-up fruit sales.\n\n",
            "Of **{total}** baskets, the most were **{best}** with {most}.",
        )
    },
)

MANDELBROT_PROGRAM = """\
import matplotlib.pyplot as plt
import numpy as np

limit = 60
real, imaginary = np.meshgrid(np.linspace(-2.2, 0.8, 600), np.linspace(-1.2, 1.2, 480))
c = real + 1j * imaginary
z = np.zeros_like(c)
steps = np.zeros(c.shape, dtype=int)
for _ in range(limit):
    inside = np.abs(z) <= 2
    z[inside] = z[inside] ** 2 + c[inside]
    steps += inside

plt.figure(figsize=(7.5, 6))
plt.imshow(steps, extent=(-2.2, 0.8, -1.2, 1.2), cmap="magma", origin="lower")
plt.colorbar(label="steps before escape")
plt.title("Mandelbrot set")
plt.tight_layout()
plt.show()

print(f"points: {c.size}")
print(f"in the set: {(steps == limit).mean():.1%}")
"""
MANDELBROT = DemoPrompt(
    r"mandelbrot|fractal|fraktal|heat ?map|分形",
    MANDELBROT_PROGRAM,
    {
        "en": PromptTexts(
            "Draw the Mandelbrot set",
            "**Drawing the Mandelbrot set**\n\nNumPy can iterate all points at once.\n\n\n",
            "I'll iterate $z \\to z^2 + c$ for every point of the picture.\n\n",
            "Of {points} points, **{in_the_set}** did not escape within 60 steps; they are the bright area.",
        )
    },
)
