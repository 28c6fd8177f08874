"""The ledger of numbers: where each number in the text of an answer comes from. Pure.

`reading` finds the numbers of a text, `ledger` traces them to outputs, tables, the question and code. A number matches
a source if rounding the source to the written precision gives the number, with its unit. The sentence must not name
another row or column than that of the source.
"""
