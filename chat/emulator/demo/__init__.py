"""What the demo model understands, and what it runs for it.

- `plan`: the entrance; from a conversation to a plan, or to an honest refusal;
- `prompt`, `formulas`, `sources`, `table_files`: read words, formulas, lists of numbers and tables;
- `calculations`, `curves`, `series`, `table_questions` with `tables`, `showpieces`: one kind of question each;
- `words.toml`: the vocabulary, in English, German and Chinese; `texts.toml`: the texts of the answers.

User text never becomes code: programs hold formulas written anew, and literals of names and numbers.
"""
