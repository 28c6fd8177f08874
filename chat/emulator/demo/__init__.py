"""The parser of the demo model: it turns prompts that it understands into programs.

`plan` is the entrance; `maths`, `tables` and `lists` of numbers, which become tables, answer one kind of question each.
`table_files` reads tables. `language` reads words (`words.toml`) and writes texts (`texts.toml`, `programs.toml`).

User text never becomes code: programs hold rebuilt formulas, literals, and the server's expression for a table.
"""
