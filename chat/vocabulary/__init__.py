"""The vocabulary that all of Plotline uses: parts, their JSON, stream events, outcomes of code, markers, clean text.

Every other package of `chat` may import this one, and this one imports none of them. Its modules keep no state, except
`outage_log`, which remembers what has been logged. Read `parts` first.
"""
