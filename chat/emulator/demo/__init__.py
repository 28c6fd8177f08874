"""The parser of the demo model: it turns prompts that it understands into programs.

Callers use `plan`. `maths`, `tables` and `lists` of numbers, which become tables, answer one kind of question each.
`table_files` reads tables. `language` reads words (`words.toml`) and writes texts (`texts.toml`, `programs.toml`).

Only Python blocks of a prompt are run as they are. Other text never becomes code: formulas are rebuilt.
"""
