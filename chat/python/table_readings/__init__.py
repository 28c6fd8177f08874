"""How attached tables are read: columns, types, missing values, oddities, and questions that fit them.

`live_readings` reads a file in the background, in a kernel of its own in the sandbox (`kernel_reading`); no file is
parsed in this process. `stored_readings` keeps the result, and what the owner chose about it (`choices`). `suggestions`
derives questions from a reading. `view` renders it for pages with its `controls`, `table_json` for programs, and
`model_notes` for models.
"""
