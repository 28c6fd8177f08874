"""Previews of attached tables: columns, types, missing values, oddities, and questions that fit them.

`computation` describes a file once, in a kernel of its own in the sandbox, and stores the result; no file is parsed in
this process. `suggestions` derives questions from a description. `view` renders both.
"""
