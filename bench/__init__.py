"""Measures the relay: Plotline beside the SDK reading alone and beside a bare relay of the SDK's chunks.

Run as `python -m bench`; docs/benchmarks.md says how to read it. Linux only: it pins processes to cores.
"""
