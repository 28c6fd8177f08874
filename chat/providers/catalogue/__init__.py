"""The catalogue of models: names that users choose, and the settings that a name stands for.

A name is the slug of a preset or the id of a model. Users can choose only names in the catalogue, with three
exceptions: the server's default (DEFAULT_MODEL), the demo model if it answers, and ids that no row names if
ALLOW_UNLISTED_MODELS is on.
"""
