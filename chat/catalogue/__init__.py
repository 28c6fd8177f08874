"""The catalogue of models: names that users choose, and the settings that a name stands for.

A name is the slug of a preset or the id of a model. Users can choose only names in the catalogue, with two exceptions:
the server's default (DEFAULT_MODEL), and any name if the demo model answers.
"""
