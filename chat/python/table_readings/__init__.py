"""Reads attached tables: columns, types, missing values, unusual things, and questions that fit the table.

`live_readings` reads a file in the background, in a new kernel in the sandbox (`kernel_reading`). No file is parsed in
this process. `stored_readings` stores the result and the owner's choices of how to read the file (`choices`).
`suggestions` derives questions from a reading. `view` renders it for pages with its `controls`, `table_json` for
programs, and `model_notes` for models.
"""
