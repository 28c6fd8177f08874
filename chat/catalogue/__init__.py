"""The catalogue as the rest of the product uses it: names that people choose, as settings of a generation.

A name is the slug of a preset or the id of a model. Nothing outside the catalogue can be chosen, but the server's own
default (GEMINI_MODEL) and, where the emulator answers, whatever it knows.
"""
