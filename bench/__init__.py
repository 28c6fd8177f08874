"""Benchmarks of Plotline, of a bare relay, and of other chat products.

Run them with `make bench` or `python -m bench`. `docs/benchmarks.md` explains the figures. The benchmarks need Linux,
because they pin processes to CPU cores.
"""
