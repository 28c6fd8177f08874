"""Bundles of rich outputs as kernels send them: real output of pandas, polars and SymPy, with shortened styles."""

from __future__ import annotations

from collections.abc import Mapping

from chat.vocabulary.parts import JSON, JSONObject

SMALL_HTML = """\
<div>
<style scoped>
    .dataframe tbody tr th { vertical-align: top; }
</style>
<table border="1" class="dataframe">
  <thead>
    <tr style="text-align: right;">
      <th></th>
      <th>city</th>
      <th>population</th>
      <th>area</th>
    </tr>
  </thead>
  <tbody>
    <tr>
      <th>0</th>
      <td>Oslo</td>
      <td>709037.0</td>
      <td>454.12</td>
    </tr>
    <tr>
      <th>1</th>
      <td>Rome, Italy</td>
      <td>2746984.0</td>
      <td>1287.36</td>
    </tr>
    <tr>
      <th>2</th>
      <td>=1+1</td>
      <td>NaN</td>
      <td>-3.50</td>
    </tr>
  </tbody>
</table>
</div>\
"""
"""A DataFrame with a text, integers with a missing one, and a column of floats."""

MULTI_INDEX_HTML = """\
<div>
<style scoped>
    .dataframe tbody tr th { vertical-align: top; }
</style>
<table border="1" class="dataframe">
  <thead>
    <tr>
      <th></th>
      <th>what</th>
      <th colspan="2" halign="left">size</th>
      <th>cost</th>
    </tr>
    <tr>
      <th></th>
      <th>unit</th>
      <th>w</th>
      <th>h</th>
      <th>eur</th>
    </tr>
    <tr>
      <th>group</th>
      <th>key</th>
      <th></th>
      <th></th>
      <th></th>
    </tr>
  </thead>
  <tbody>
    <tr>
      <th rowspan="2" valign="top">p</th>
      <th>1</th>
      <td>1</td>
      <td>2</td>
      <td>3</td>
    </tr>
    <tr>
      <th>2</th>
      <td>4</td>
      <td>5</td>
      <td>6</td>
    </tr>
    <tr>
      <th rowspan="2" valign="top">q</th>
      <th>1</th>
      <td>7</td>
      <td>8</td>
      <td>9</td>
    </tr>
    <tr>
      <th>2</th>
      <td>10</td>
      <td>11</td>
      <td>12</td>
    </tr>
  </tbody>
</table>
</div>\
"""
"""A DataFrame with two levels in its index and in its columns."""

SHORTENED_HTML = """\
<div>
<style scoped>
    .dataframe tbody tr th { vertical-align: top; }
</style>
<table border="1" class="dataframe">
  <thead>
    <tr style="text-align: right;">
      <th></th>
      <th>n</th>
      <th>square</th>
      <th>name</th>
    </tr>
  </thead>
  <tbody>
    <tr>
      <th>0</th>
      <td>0</td>
      <td>0</td>
      <td>row 0</td>
    </tr>
    <tr>
      <th>1</th>
      <td>1</td>
      <td>1</td>
      <td>row 1</td>
    </tr>
    <tr>
      <th>2</th>
      <td>2</td>
      <td>4</td>
      <td>row 2</td>
    </tr>
    <tr>
      <th>3</th>
      <td>3</td>
      <td>9</td>
      <td>row 3</td>
    </tr>
    <tr>
      <th>4</th>
      <td>4</td>
      <td>16</td>
      <td>row 4</td>
    </tr>
    <tr>
      <th>...</th>
      <td>...</td>
      <td>...</td>
      <td>...</td>
    </tr>
    <tr>
      <th>95</th>
      <td>95</td>
      <td>9025</td>
      <td>row 95</td>
    </tr>
    <tr>
      <th>96</th>
      <td>96</td>
      <td>9216</td>
      <td>row 96</td>
    </tr>
    <tr>
      <th>97</th>
      <td>97</td>
      <td>9409</td>
      <td>row 97</td>
    </tr>
    <tr>
      <th>98</th>
      <td>98</td>
      <td>9604</td>
      <td>row 98</td>
    </tr>
    <tr>
      <th>99</th>
      <td>99</td>
      <td>9801</td>
      <td>row 99</td>
    </tr>
  </tbody>
</table>
<p>100 rows × 3 columns</p>
</div>\
"""
"""A DataFrame of 100 rows, of which pandas shows ten."""

STYLER_HTML = """\
<style type="text/css">
</style>
<table id="T_1">
  <caption>Cities</caption>
  <thead>
    <tr>
      <th id="T_1_level0_col0" class="col_heading level0 col0" >city</th>
      <th id="T_1_level0_col1" class="col_heading level0 col1" >population</th>
      <th id="T_1_level0_col2" class="col_heading level0 col2" >area</th>
    </tr>
  </thead>
  <tbody>
    <tr>
      <td id="T_1_row0_col0" class="data row0 col0" >Oslo</td>
      <td id="T_1_row0_col1" class="data row0 col1" >709037.000000</td>
      <td id="T_1_row0_col2" class="data row0 col2" >454.120000</td>
    </tr>
    <tr>
      <td id="T_1_row1_col0" class="data row1 col0" >Rome, Italy</td>
      <td id="T_1_row1_col1" class="data row1 col1" >2746984.000000</td>
      <td id="T_1_row1_col2" class="data row1 col2" >1287.360000</td>
    </tr>
    <tr>
      <td id="T_1_row2_col0" class="data row2 col0" >=1+1</td>
      <td id="T_1_row2_col1" class="data row2 col1" >nan</td>
      <td id="T_1_row2_col2" class="data row2 col2" >-3.500000</td>
    </tr>
  </tbody>
</table>
"""
"""A styled DataFrame with a caption and without its index."""

POLARS_HTML = """\
<div><style>.dataframe > thead > tr { text-align: right; }</style>
<small>shape: (3, 2)</small><table border="1" class="dataframe">\
<thead><tr><th>foo</th><th>bar</th></tr><tr><td>i64</td><td>str</td></tr></thead>\
<tbody><tr><td>1</td><td>&quot;a&lt;&quot;</td></tr><tr><td>2</td><td>&quot;b&quot;</td></tr><tr><td>null</td><td>null</td></tr></tbody></table></div>\
"""
"""A DataFrame of polars, with the types of its columns."""

SVG = """\
<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="288pt" height="144pt" viewBox="0 0 288 144"
 xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"></rdf:RDF></metadata>
 <defs><style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style></defs>
 <g id="figure_1"><path d="M 0 144 L 288 144 L 288 0 L 0 0 z" style="fill: #ffffff"/>
  <defs><path id="m1" d="M 0 -4 L 4 4 L -4 4 z" style="stroke: #1f77b4"/></defs>
  <g clip-path="url(#p1)"><use xlink:href="#m1" x="40" y="100" style="fill: #1f77b4"/>
   <use xlink:href="#m1" x="140" y="40" style="fill: #ff7f0e"/><use xlink:href="#m1" x="240" y="80"/></g>
  <text x="144" y="20" style="font: 12px sans-serif; text-anchor: middle">Three &lt;points&gt;</text></g>
 <defs><clipPath id="p1"><rect x="10" y="10" width="268" height="124"/></clipPath></defs>
</svg>
"""
"""A picture in the form of matplotlib's."""

MATRIX_LATEX = r"$\displaystyle \left[\begin{matrix}1 & \sqrt{2}\\\frac{x^{2}}{3} & - x\end{matrix}\right]$"


def wide_html(rows: int, columns: int) -> str:
    """Return a DataFrame with numbers, as pandas writes it if it shortens nothing."""
    names = "".join(f"<th>column {column}</th>" for column in range(columns))
    numbers = ([(row * 37 + column * 11) % 101 - 50 for column in range(columns)] for row in range(rows))
    lines = [
        f"<tr><th>{number}</th>{''.join(f'<td>{value}</td>' for value in row)}</tr>"
        for number, row in enumerate(numbers)
    ]
    return (
        f'<table border="1" class="dataframe"><thead><tr style="text-align: right;"><th></th>{names}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


_RECORD: JSON = {"name": "Ada", "tags": ["a", "b"], "nested": {"x": 1.5, "y": None, "is_true": True}}

BUNDLES: Mapping[str, JSONObject] = {
    "small": {"text/html": SMALL_HTML, "text/plain": "         city  population     area\n0        Oslo"},
    "multi_index": {"text/html": MULTI_INDEX_HTML, "text/plain": "what      size     cost"},
    "shortened": {"text/html": SHORTENED_HTML, "text/plain": "     n  square    name"},
    "styler": {"text/html": STYLER_HTML, "text/plain": "<pandas.io.formats.style.Styler at 0x7f0000000000>"},
    "polars": {"text/html": POLARS_HTML, "text/plain": "shape: (3, 2)"},
    "long": {"text/html": wide_html(134, 3), "text/plain": "..."},
    "wide": {"text/html": wide_html(6, 40), "text/plain": "..."},
    "latex": {"text/latex": MATRIX_LATEX, "text/plain": "Matrix([[1, sqrt(2)], [x**2/3, -x]])"},
    "svg": {"image/svg+xml": SVG, "text/plain": "<Figure size 400x200>"},
    "json": {"application/json": _RECORD, "text/plain": "<IPython.core.display.JSON object>"},
    "plotly": {
        "application/vnd.plotly.v1+json": {"data": [{"type": "bar", "x": [1, 2], "y": [3, 4]}], "layout": {}},
        "text/plain": "Figure({\n    'data': [{'type': 'bar', 'x': [1, 2], 'y': [3, 4]}], 'layout': {}\n})",
    },
    "html": {
        "text/html": "<h3>Report</h3><p>All <b>good</b>.</p><script>alert(1)</script>",
        "text/plain": "<IPython.core.display.HTML object>",
    },
    "markdown": {"text/markdown": "**Total:** 3\n\n- a\n- b", "text/plain": "<IPython.core.display.Markdown object>"},
    "text": {"text/plain": "array([[1, 2],\n       [3, 4]])"},
}
"""One bundle of each form that pages show."""
