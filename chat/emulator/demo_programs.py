"""The Python that the demo model runs: data, one constant a program.

A program prints its findings as lines `name: value`; the comment that follows quotes them. A line `name = value` at
its start may be replaced by what the prompt said (how many primes, which equation, which file).
"""

from __future__ import annotations

SINE = """\
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
COSINE = SINE.replace("np.sin", "np.cos").replace("sin(x)", "cos(x)")

HISTOGRAM = """\
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

PRIMES = """\
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

CSV = """\
import matplotlib.pyplot as plt
import pandas as pd

path = "data.csv"
with open(path, encoding="utf-8-sig") as file:
    heading = file.readline()
table = pd.read_csv(path, sep=max(",;\\t|", key=heading.count), encoding="utf-8-sig")
numbers = table.select_dtypes("number")
print(table.head().to_string())
print()
print(numbers.describe().round(2).to_string() if len(numbers.columns) else "No numeric column.")
print()

if len(numbers.columns):
    shown = numbers.iloc[:, :6]
    labels = table.select_dtypes(exclude="number")
    named = len(labels.columns) > 0 and len(table) <= 30
    if named:
        shown = shown.set_axis(labels.iloc[:, 0].astype(str), axis=0)
    shown.plot(kind="bar" if named else "line", figsize=(8, 4.5), title=path)
    plt.tight_layout()
    plt.show()
    column = numbers.columns[-1]
    print(f"column: {column}")
    print(f"mean: {numbers[column].mean():.2f}")
    print(f"largest: {numbers[column].max():g}")

print(f"rows: {len(table)}")
print(f"columns: {len(table.columns)}")
"""

DIVISION = """\
values = [12, 7, 0, 3]
for value in values:
    print(f"84 / {value} = {84 / value:.3f}")
"""
DIVISION_REPAIRED = """\
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

PI = """\
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

FIBONACCI = """\
count = 30
numbers = [0, 1]
while len(numbers) < count:
    numbers.append(numbers[-1] + numbers[-2])
numbers = numbers[:count]

print(", ".join(map(str, numbers)))
print(f"last: {numbers[-1]}")
print(f"ratio: {numbers[-1] / numbers[-2]:.10f}")
"""

WALK = """\
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

FIT = """\
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

BARS = """\
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

SALES = """\
import numpy as np
import pandas as pd

months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
random = np.random.default_rng(2)
table = pd.DataFrame({"units": random.integers(80, 200, 12), "price": random.uniform(9, 12, 12).round(2)}, months)
table["revenue"] = (table["units"] * table["price"]).round(2)
table["change"] = table["revenue"].pct_change().map("{:+.1%}".format)

print(table.to_string())
print()
print(f"total: {table['revenue'].sum():,.2f}")
print(f"best month: {table['revenue'].idxmax()}")
print(f"weakest month: {table['revenue'].idxmin()}")
"""

MANDELBROT = """\
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

QUADRATIC = """\
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

SORTS = """\
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

ENDLESS = """\
import time

print("counting started", flush=True)
seconds = 0
while True:
    time.sleep(1)
    seconds += 1
"""
