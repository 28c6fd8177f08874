"""Answers of models with labels of what a reader must see: see README.md."""
