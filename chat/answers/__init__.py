"""An answer while it is written: stream events become changes, and changes make the `Answer`.

Pure; read `changes` first.

`assembler` turns the events of a provider or a tool into changes. `log` converts changes to rows of the turn's log and
back. Applying all changes of a log to an empty `Answer` gives an equal answer. Snapshots and recovery read live turns
in this way.
"""
