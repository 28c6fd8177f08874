"""A server that speaks chat completions as an attacker or a badly broken program would."""
