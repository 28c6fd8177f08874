"""The messages of a conversation as data, from the first event of an answer to the rows that are read later.

Stream events become changes, and changes make the `Answer`; read `changes` first. `assembler` turns the events of a
provider or a tool into changes. `log` converts changes to rows of the turn's log and back. Applying all changes of a
log to an empty `Answer` gives an equal answer. Snapshots and recovery read live turns in this way. All of this is pure.

`records` reads each stored message, or the log of its live turn, into one value. `notices` has the sentences about how
a turn ended, `files_of_code` lists the files that code wrote, and `tool_sets` is the protocol of functions that models
call.
"""
