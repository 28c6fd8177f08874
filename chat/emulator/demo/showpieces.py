"""Programs that show what running code is like: simulations, a picture, a failure that is repaired, an endless loop."""

from __future__ import annotations

from dataclasses import dataclass

from chat.emulator.demo.answers import Plan, Task, make_plan
from chat.emulator.demo.prompt import Prompt, word

POINTS_LIMIT = 1_000_000
_COUNT = r"(?:(?:\b(?:with|of|using|for|mit|von)\b|用)? ?(?P<n>[1-9]\d{{0,6}})"
_COUNT += r" ?(?:个|\b(?:random |zufälligen? )?)(?:{unit}))"
DIVISION = """\
values = [12, 7, 0, 3]
for value in values:
    print(f"84 / {value} = {84 / value:.3f}")
"""
REPAIRED_DIVISION = """\
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
ENDLESS = """\
import time

print("counting started", flush=True)
seconds = 0
while True:
    time.sleep(1)
    seconds += 1
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
plt.gca().set_aspect("equal")
plt.tight_layout()
plt.show()

print(f"inside: {inside.sum()}")
print(f"estimate: {estimate:.4f}")
print(f"error: {abs(estimate - np.pi):.4f}")
"""
WALK = """\
import matplotlib.pyplot as plt
import numpy as np

count = 1000
walks = np.random.default_rng(11).choice([-1, 1], size=(5, count)).cumsum(axis=1)

plt.figure(figsize=(8, 4.5))
plt.plot(walks.T, linewidth=1.2)
plt.axhline(0, color="gray", linewidth=0.8)
plt.xlabel("step")
plt.ylabel("distance from the start")
plt.tight_layout()
plt.show()

print(f"farthest: {np.abs(walks).max()}")
print(f"mean end: {np.abs(walks[:, -1]).mean():.1f}")
print(f"expected: {(2 * count / np.pi) ** 0.5:.1f}")
"""
PROGRAMS = {
    "pi": (PI,),
    "walk": (WALK,),
    "mandelbrot": (MANDELBROT,),
    "division": (DIVISION, REPAIRED_DIVISION),
    "endless": (ENDLESS,),
}
USUAL_COUNTS = {"pi": 20_000, "walk": 1_000}
_UNITS = {"pi": r"points?\b|samples?\b|punkten?\b|点", "walk": r"steps?\b|schritten?\b|步"}


@dataclass(frozen=True, slots=True)
class Showpiece:
    """One of the programs, with the number of points or steps."""

    kind: str
    count: int = 0

    def plan(self, language: str) -> Plan:
        """Return the plan that runs the programs, with the number of points or steps in place of the usual one."""
        usual = f"count = {USUAL_COUNTS.get(self.kind)}\n"
        programs = (program.replace(usual, f"count = {self.count}\n") for program in PROGRAMS[self.kind])
        return make_plan(self.kind, language, *programs, count=self.count)


def read(prompt: Prompt, previous: Task | None) -> Showpiece | None:
    """Return the program that the prompt asks for."""
    before = previous if isinstance(previous, Showpiece) and prompt.take_all(word("actions.change")) else None
    kind = next((kind for kind in PROGRAMS if prompt.take(word(f"showpieces.{kind}"))), before.kind if before else "")
    if not kind:
        return None
    count = USUAL_COUNTS.get(kind, 0)
    match = prompt.take(_COUNT.format(unit=_UNITS[kind])) if kind in _UNITS else None
    count = int(match["n"]) if match else count
    return Showpiece(kind, count) if count <= POINTS_LIMIT else None
