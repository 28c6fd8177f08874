"""A conversation's messages as pages, exports and the API show them. `views` is the module to read first.

`messages.records` reads rows, or the log of a live turn, into one value for each message; `views` converts it to the
views of the templates; `snapshot` reads a whole page that agrees with one revision. `usage`, `sources`,
`answer_details` and `versions` provide the data around an answer.
"""
