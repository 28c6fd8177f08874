"""Figures about the structure of this repository, each beside its goal: `python -m tests.measures`.

Only files that git tracks are read. What is counted:

- Entries of `chat/`: its modules and packages, also `apps` and `migrations`, without `__init__`.
- Lines: as `wc -l` counts them. The product is the Python of `chat`, `config` and `attachments` without migrations.
  Templates (html, jinja) and static files (js, css) are no part of its goal. Tests are the Python of `tests`, with its
  stand-in servers. Other types of file, such as weights, labelled prompts, word lists and icons, are not counted.
- Functions: from `def` to the last line, with docstring, without decorators. This figure, and those of `Any`, `noqa`
  and `type: ignore`, are of the product alone, not of tests or benchmarks.
- `Any`: the word, also in imports and comments, as `git grep -ow Any` finds it; then, only its uses in code.
- Environment variables: those of `.env.example`. A test holds them equal to those that the settings read.

`--turn` adds what runs in this process from the POST of a question to the REST API until the turn is `done`, with the
search for a title that follows: functions of `chat` and `attachments`, and the modules that define them. The emulator's
demo model answers over a real socket, one page follows, and caches are warm. Methods, properties and nested functions
count. Lambdas, comprehensions, generated methods, compiled templates and what tests themselves call do not.
`run_python` counts only functions that the same turn without code does not call. `--list` also prints the names in the
order of their first call. Counts are the same in each run; the order differs where threads do.

These are raw counts. The goals hold for the spine of a turn, which is shorter: a person reads it from the list, by
hand. So compare raw counts only with raw counts.
"""
