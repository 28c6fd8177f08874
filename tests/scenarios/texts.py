"""The texts of scenarios: answers, and code with its output."""

from __future__ import annotations

PLAIN = (
    "A moving average replaces each value by the mean of its neighbours. A wide window gives a smooth line that "
    "reacts late; a narrow one follows every bump. Seven days are usual for daily data, since they cover one week."
)
MARKDOWN = """## Three ways to sort

| Method | Typical cost | Stable |
| --- | ---: | :---: |
| Insertion | $n^2$ | yes |
| Merge | $n \\log n$ | yes |
| Heap | $n \\log n$ | no |

1. *Insertion* sort is **fast for short lists**.
2. *Merge* sort needs a second list:

   ```python
   def merge(left, right):
       return sorted(left + right)
   ```

3. *Heap* sort works in place.

> Measure before you choose.

The mean of $n$ values is

$$\\bar{x} = \\frac{1}{n} \\sum_{i=1}^{n} x_i$$

- [x] read the table
- [ ] try it, see [the documentation](https://docs.python.org/3/howto/sorting.html)
"""
HOSTILE = """<script>window.plotlineBroken = true</script>
<img src=x onerror="window.plotlineBroken = true"> [click](javascript:alert(1)) 
[data](data:text/html,<script>1</script>)

<style>body { display: none }</style><form action="https://example.org/"><input name="password"></form>

![pixel](https://example.org/pixel.png) <a href="https://example.org/" target="_top">out</a> </article></div>

`<b>code</b>` and a typed marker [GRAPH:1], and a dead picture ![plot](plot.png) saved as plot.png.
"""
UNICODE = (
    "Line\u2028separator, paragraph\u2029separator, next\u0085line. 中文与日本語, עברית ושלום, مرحبا, "
    "Zoë naïve, 👩‍🔬🏳️‍🌈, e\u0301 decomposed, 𝔐𝔞𝔱𝔥, a\u200bzero-width space and \u202eright to left\u202c.\n"
)

PRODUCT = "product = 6 * 7\nprint(product)"
PLOT = "import matplotlib.pyplot as plt\n\nplt.scatter(x, y)\nplt.savefig('plot.png')\nplt.show()"
TITLED_PLOT = """import numpy as np
import matplotlib.pyplot as plt

x = np.linspace(0, 2 * np.pi, 200)
plt.plot(x, np.sin(x))
plt.title("One period of the sine")
plt.xlabel("x")
plt.ylabel("sin(x)")
print("maximum", np.sin(x).max().round(2))
plt.show()"""
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/usr/bin/entry/entry_point", line 109, in _run_python\n'
    '  File "<string>", line 1, in <module>\n'
    "ZeroDivisionError: division by zero\n"
)
