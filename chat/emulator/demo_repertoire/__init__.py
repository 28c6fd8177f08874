"""The prompts that the demo model knows, by topic, each with the program that it runs and the texts around it.

A program prints its results as lines `name: value`, and the comment that follows it quotes them. The demo model
replaces a line `name = value` at the start of a program by a value from the prompt: how many primes, which equation,
which file.
"""
