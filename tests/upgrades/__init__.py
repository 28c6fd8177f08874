"""Databases of releases with their files, which every later version must be able to upgrade.

`python -m tests.upgrades VERSION` makes the folder of a release from the code as it is then. Folders are never changed
after their release, because installations have such databases. Each holds a SQLite database (`database.gz`) and files.
"""
