"""What the demo model understands: a table of prompts with the program each one runs and the words around it.

Comments are templates over the lines `name: value` that the program printed, so every number in them was computed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from chat.emulator import demo_programs as programs


@dataclass(frozen=True, slots=True)
class Words:
    """What is said around a program, in one language."""

    example: str
    """A prompt that leads here, shown to those who ask what the demo can do."""
    thought: str
    intro: str
    comment: str


@dataclass(frozen=True, slots=True)
class Repair:
    """A second program after the first one failed."""

    explanation: str
    """Said between the two; may quote `{error}`, the last line of the traceback."""
    program: str


@dataclass(frozen=True, slots=True)
class DemoPrompt:
    """One thing the demo can do."""

    pattern: str
    """Found anywhere in the prompt, whatever the case; named groups replace lines `name = ...` of the program."""
    program: str
    words: Mapping[str, Words]
    """By language: `en` always, `de` and `zh` for some."""
    repair: Repair | None = None
    needs_table: bool = False
    """Whether an attached CSV file is read."""


PROMPTS: tuple[DemoPrompt, ...] = (
    DemoPrompt(
        r"\bsin(e|us)?\b|sinus|(?<!co)sine ?wave|正弦",
        programs.SINE,
        {
            "en": Words(
                "Plot a sine wave",
                "**Plotting a sine wave**\n\nTwo full turns show the period well. I will also find the peaks, so that "
                "the answer can name numbers instead of guessing them.\n\n\n",
                "I'll draw two full turns of a sine wave and look for its peaks.\n\n",
                "The wave runs between **{lowest}** and **{highest}**. It has **{peaks}** peaks in this range, the "
                "first at x = **{first_peak}**, which is π/2.\n\n"
                "Ask me to *make it a cosine* to compare.",
            ),
            "de": Words(
                "Zeichne eine Sinuskurve",
                "**Sinuskurve zeichnen**\n\nZwei volle Perioden zeigen den Verlauf gut.\n\n\n",
                "Ich zeichne zwei volle Perioden der Sinuskurve und suche ihre Hochpunkte.\n\n",
                "Die Kurve verläuft zwischen **{lowest}** und **{highest}**. Im gezeigten Bereich hat sie **{peaks}** "
                "Hochpunkte, den ersten bei x = **{first_peak}**, also bei π/2.",
            ),
            "zh": Words(
                "画一条正弦曲线",
                "**绘制正弦曲线**\n\n画两个完整周期，并找出峰值。\n\n\n",
                "我来画两个完整周期的正弦曲线，并找出它的峰值。\n\n",
                "曲线的最小值是 **{lowest}**，最大值是 **{highest}**。图中共有 **{peaks}** 个峰，"
                "第一个峰在 x = **{first_peak}**，即 π/2 附近。",
            ),
        },
    ),
    DemoPrompt(
        r"\bcos(ine)?\b|kosinus|余弦",
        programs.COSINE,
        {
            "en": Words(
                "Make it a cosine",
                "**Plotting a cosine**\n\nThe same drawing as for a sine, a quarter of a turn earlier.\n\n\n",
                "I'll draw two full turns of a cosine.\n\n",
                "The curve starts at its highest point, **{highest}**, falls to **{lowest}**, and is back at its "
                "peak at x = **{first_peak}**, which is 2π.",
            )
        },
    ),
    DemoPrompt(
        r"histogram|normal distribution|normalverteilung|直方图|正态",
        programs.HISTOGRAM,
        {
            "en": Words(
                "Show a histogram of 2000 random values",
                "**Drawing a histogram**\n\nA normal distribution is what most people expect to see.\n\n\n",
                "I'll draw random values from a normal distribution with mean 100 and deviation 15.\n\n",
                "The sample has a mean of **{mean}** and a standard deviation of **{deviation}**. **{within}** of the "
                "values lie within one deviation of the mean; theory says 68.3%.",
            ),
            "de": Words(
                "Zeige ein Histogramm von Zufallszahlen",
                "**Histogramm zeichnen**\n\nEine Normalverteilung passt gut.\n\n\n",
                "Ich ziehe Zufallszahlen aus einer Normalverteilung mit Mittelwert 100 und Streuung 15.\n\n",
                "Der Mittelwert der Stichprobe ist **{mean}**, die Standardabweichung **{deviation}**. **{within}** "
                "der Werte liegen höchstens eine Standardabweichung vom Mittelwert entfernt.",
            ),
            "zh": Words(
                "画一个随机数的直方图",
                "**绘制直方图**\n\n用正态分布的样本。\n\n\n",
                "我从均值 100、标准差 15 的正态分布中抽取随机数。\n\n",
                "样本均值为 **{mean}**，标准差为 **{deviation}**。有 **{within}** 的值落在均值一个标准差之内。",
            ),
        },
    ),
    DemoPrompt(
        r"(first|die ersten|前)?\s*(?P<count>\d{1,4})?\s*(个)?\s*(primes?\b|prime numbers|primzahl|素数|质数)",
        programs.PRIMES,
        {
            "en": Words(
                "List the first 50 primes",
                "**Finding primes**\n\nTrial division by the primes found so far is fast enough here.\n\n\n",
                "I'll find them by trial division.\n\n",
                "These are the first **{found}** primes. The last one is **{last}**, and together they make **{sum}**.",
            ),
            "de": Words(
                "Berechne die ersten 50 Primzahlen",
                "**Primzahlen suchen**\n\nProbedivision genügt hier.\n\n\n",
                "Ich suche sie durch Probedivision.\n\n",
                "Das sind die ersten **{found}** Primzahlen. Die letzte ist **{last}**, ihre Summe ist **{sum}**.",
            ),
            "zh": Words(
                "列出前 50 个素数",
                "**寻找素数**\n\n用试除法就够快了。\n\n\n",
                "我用试除法来找。\n\n",
                "以上是前 **{found}** 个素数。最后一个是 **{last}**，它们的和是 **{sum}**。",
            ),
        },
    ),
    DemoPrompt(
        r"\bcsv\b|\btabelle\b|this (table|data|file)|数据|表格",
        programs.CSV,
        {
            "en": Words(
                "Describe and plot this CSV (attach a file)",
                "**Reading the table**\n\nFirst I look at the columns, then I draw the numeric ones.\n\n\n",
                "I'll read the file with pandas, describe it and plot its numbers.\n\n",
                "The table has **{rows}** rows and **{columns}** columns. In the column *{column}* the mean is "
                "**{mean}** and the largest value **{largest}**.",
            ),
            "de": Words(
                "Beschreibe diese CSV-Datei (mit Anhang)",
                "**Tabelle lesen**\n\nErst die Spalten ansehen, dann zeichnen.\n\n\n",
                "Ich lese die Datei mit pandas, beschreibe sie und zeichne ihre Zahlen.\n\n",
                "Die Tabelle hat **{rows}** Zeilen und **{columns}** Spalten. In der Spalte *{column}* ist der "
                "Mittelwert **{mean}** und der größte Wert **{largest}**.",
            ),
            "zh": Words(
                "描述并绘制这个 CSV 文件（请附上文件）",
                "**读取表格**\n\n先看各列，再画出数值列。\n\n\n",
                "我用 pandas 读取文件，描述它并画出其中的数值。\n\n",
                "表格有 **{rows}** 行、**{columns}** 列。*{column}* 一列的均值为 **{mean}**，最大值为 **{largest}**。",
            ),
        },
        needs_table=True,
    ),
    DemoPrompt(
        r"divi(de|sion)|\bfail|\berror\b|fehler|除以零",
        programs.DIVISION,
        {
            "en": Words(
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
            programs.DIVISION_REPAIRED,
        ),
    ),
    DemoPrompt(
        r"monte.?carlo|\bpi\b|π|圆周率",
        programs.PI,
        {
            "en": Words(
                "Estimate pi with a Monte Carlo simulation",
                "**Estimating pi**\n\nThe share of random points inside a quarter circle is π/4.\n\n\n",
                "I'll throw random points at a square and count those inside the quarter circle.\n\n",
                "**{inside}** points fell inside, which gives π ≈ **{estimate}**. That is off by {error}. To halve the "
                "error, four times as many points are needed.",
            ),
            "de": Words(
                "Schätze Pi mit Monte-Carlo",
                "**Pi schätzen**\n\nDer Anteil der Punkte im Viertelkreis ist π/4.\n\n\n",
                "Ich werfe zufällige Punkte auf ein Quadrat und zähle die im Viertelkreis.\n\n",
                "**{inside}** Punkte liegen im Viertelkreis, also π ≈ **{estimate}**; der Fehler ist {error}.",
            ),
            "zh": Words(
                "用蒙特卡罗方法估算圆周率",
                "**估算圆周率**\n\n落在四分之一圆内的点的比例是 π/4。\n\n\n",
                "我向正方形随机投点，数出落在四分之一圆内的点。\n\n",
                "有 **{inside}** 个点落在圆内，因此 π ≈ **{estimate}**，误差为 {error}。",
            ),
        },
    ),
    DemoPrompt(
        r"(first\s+(?P<count>\d{1,3})\s+)?fibonacci",
        programs.FIBONACCI,
        {
            "en": Words(
                "Compute the first 30 Fibonacci numbers",
                "**Adding up**\n\nEach number is the sum of the two before it.\n\n\n",
                "I'll add them up one by one.\n\n",
                "The last one is **{last}**. Neighbours have the ratio **{ratio}**, close to the golden ratio "
                "$\\frac{{1 + \\sqrt{{5}}}}{{2}}$.",
            )
        },
    ),
    DemoPrompt(
        r"random walk|irrfahrt|zufallsbewegung|随机游走",
        programs.WALK,
        {
            "en": Words(
                "Simulate a random walk",
                "**Simulating walks**\n\nSeveral walks side by side show how much they differ.\n\n\n",
                "I'll let five walkers take 1000 steps each.\n\n",
                "After {steps} steps the walkers are **{mean_end}** away from the start on average; the theory for "
                "many walkers says {expected}. The farthest any of them got is **{farthest}**.",
            )
        },
    ),
    DemoPrompt(
        r"linear (fit|regression)|fit a line|scatter|regress|trend line|散点|回归",
        programs.FIT,
        {
            "en": Words(
                "Fit a line to noisy data",
                "**Fitting a line**\n\nLeast squares on points with known slope shows how well it works.\n\n\n",
                "I'll make noisy points around the line $y = 2.5x + 4$ and fit a line to them.\n\n",
                "The fitted line is $y = {slope}x + {intercept}$. It explains **{explained}** of the variance.",
            )
        },
    ),
    DemoPrompt(
        r"bar chart|balkendiagramm|säulendiagramm|条形图|柱状图",
        programs.BARS,
        {
            "en": Words(
                "Draw a bar chart",
                "**Drawing bars**\n\nFive groups with labels on the bars.\n\n\n",
                "I'll chart some made-up fruit sales.\n\n",
                "Of **{total}** baskets, the most were **{best}** with {most}.",
            )
        },
    ),
    DemoPrompt(
        r"sales|monthly|umsatz|销售",
        programs.SALES,
        {
            "en": Words(
                "Make a table of monthly sales",
                "**Making a table**\n\nTwelve months with units, price and revenue.\n\n\n",
                "I'll make up twelve months of sales and sum them up.\n\n",
                "The year's revenue is **{total}**. The best month was **{best_month}**, the weakest "
                "**{weakest_month}**. The numbers are random, only the sums are real.",
            )
        },
    ),
    DemoPrompt(
        r"mandelbrot|fractal|fraktal|heat ?map|分形",
        programs.MANDELBROT,
        {
            "en": Words(
                "Draw the Mandelbrot set",
                "**Drawing the Mandelbrot set**\n\nNumPy can iterate all points at once.\n\n\n",
                "I'll iterate $z \\to z^2 + c$ for every point of the picture.\n\n",
                "Of {points} points, **{in_the_set}** did not escape within 60 steps; they are the bright area.",
            )
        },
    ),
    DemoPrompt(
        r"(?P<equation>-?[\d.]*\s*\*?\s*x\s*(\^|\*\*|²)[\d.x^*²+\- ]*=[\d.x^*²+\- ]*[\dx²])"
        r"|quadratic|quadratische|二次方程",
        programs.QUADRATIC,
        {
            "en": Words(
                "Solve x^2 - 5x + 6 = 0",
                "**Solving an equation**\n\nSympy gives exact roots, and I can check them.\n\n\n",
                "I'll solve it with sympy and check the roots.\n\n",
                "The roots are **{roots}**. The discriminant is {discriminant}, and in factors the left side is "
                "`{factors}`.",
            )
        },
    ),
    DemoPrompt(
        r"\bsort",
        programs.SORTS,
        {
            "en": Words(
                "Compare sort times",
                "**Comparing sorts**\n\nInsertion sort against merge sort against the built-in one.\n\n\n",
                "I'll time three ways to sort lists of growing length.\n\n",
                "For 1600 values, insertion sort took {insertion}, merge sort {merge} and the built-in sort "
                "**{built_in}**. Merge sort beat insertion sort by a factor of **{factor}**, and the factor grows "
                "with the length.",
            )
        },
    ),
    DemoPrompt(
        r"endless|infinite loop|timeout|time ?limit|endlos|死循环",
        programs.ENDLESS,
        {
            "en": Words(
                "Run an endless loop",
                "**Running into the limit**\n\nThis cannot end by itself.\n\n\n",
                "I'll start a loop that never ends. It will be ended after 30 seconds; you can also press Stop.\n\n",
                "The loop ended by itself, which it should not have done.",
            )
        },
    ),
)

GREETINGS: Mapping[str, str] = {
    "en": "I am Plotline's **demo model**. I am not an AI: I know a few prompts by heart. What I run is real, though: "
    "the code below my answers is executed in a sandbox on this server, and its output and graphs are what came out."
    "\n\nTry one of these:\n\n{examples}\n\nOr send Python of your own in a fenced block, and I will run it:\n\n"
    "````\n```python\nprint(sum(range(101)))\n```\n````\n\n"
    "To talk to Gemini itself, whoever runs this server sets `GEMINI_API_KEY` and starts it again.\n",
    "de": "Ich bin das **Demo-Modell** von Plotline. Ich bin keine KI: Ich kenne ein paar Eingaben auswendig. Was ich "
    "ausführe, ist aber echt: Der Code läuft in einer Sandbox auf diesem Server.\n\nZum Beispiel:\n\n{examples}\n\n"
    "Oder schick eigenes Python in einem Codeblock (` ```python `), dann führe ich es aus.\n\nFür Gemini selbst setzt "
    "der Betreiber dieses Servers `GEMINI_API_KEY` und startet neu.\n",
    "zh": "我是 Plotline 的**演示模型**。我不是人工智能，只认识几种提示。"
    "但我运行的代码是真的：它在本服务器的沙箱中执行。\n\n"
    "可以试试：\n\n{examples}\n\n也可以把自己的 Python 放在代码块（` ```python `）里发给我，"
    "我会运行它。\n\n"
    "要使用真正的 Gemini，请服务器管理员设置 `GEMINI_API_KEY` 并重新启动。\n",
}


def language_of(prompt: str) -> str:
    """`zh`, `de` or `en`, by the prompt's letters and a few words."""
    if re.search(r"[\u4e00-\u9fff]", prompt):
        return "zh"
    german = r"[äöüß]|\b(zeichne|zeige|berechne|beschreibe|schätze|bitte|eine?n?|die|das|und|hallo|mach\w*)\b"
    return "de" if re.search(german, prompt, re.IGNORECASE) else "en"


def greeting(prompt: str) -> str:
    """What the demo says to a prompt it does not know: what it is and what it can do."""
    language = language_of(prompt)
    known = [entry.words[language] for entry in PROMPTS if language in entry.words]
    return GREETINGS[language].format(examples="\n".join(f"- {words.example}" for words in known))


def find(prompt: str) -> tuple[DemoPrompt, Words, dict[str, str]] | None:
    """The entry that a prompt leads to, its words in the prompt's language, and the values of its named groups."""
    for entry in PROMPTS:
        hit = re.search(entry.pattern, prompt, re.IGNORECASE)
        if hit:
            return entry, _words(entry, prompt), {name: value for name, value in hit.groupdict().items() if value}
    return None


def find_for_table(prompt: str) -> tuple[DemoPrompt, Words, dict[str, str]]:
    """The entry for a prompt that came with a table: whatever it says, the table is what it is about."""
    [entry] = [entry for entry in PROMPTS if entry.needs_table]
    return entry, _words(entry, prompt), {}


def _words(entry: DemoPrompt, prompt: str) -> Words:
    return entry.words.get(language_of(prompt), entry.words["en"])
