"""The words that all of Plotline is written in: parts, their JSON, stream events, outcomes, markers, clean text.

Every other package imports it, and it imports none of them. Its modules keep no state, but for `outages`, which
remembers what has been logged. `parts` is the module to read first.
"""
