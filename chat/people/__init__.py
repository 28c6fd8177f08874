"""What people may read and write, how they log in, their account pages and their quotas.

Read `access` first: it decides about the rights of a person.
"""
