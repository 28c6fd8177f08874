"""Tests of the stand-in for servers of chat completions."""
