"""What the demo model understands, and what it runs for it.

`plan` is the entrance; `maths`, `tables` and `lists` of numbers, which become tables, answer one kind of question each.
`table_files` reads tables, `language` reads words (`words.toml`) and writes texts (`texts.toml`).

User text never becomes code: programs hold formulas written anew, and literals of names and numbers.
"""
