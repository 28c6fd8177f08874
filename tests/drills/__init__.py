"""Drills: the whole installation runs with real services, parts of it fail, and a checker looks for lost data.

`make drills` runs them all. docs/drills.md describes each.
"""
