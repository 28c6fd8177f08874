"""The Python sessions of conversations: rows of `PythonSession`, and the kernels that they name.

`run` is the module to read first: it runs one cell. `session_kernel` connects to the kernel of a conversation, and
starts one if there is none; `limits` decides who may start one, and which session has to give way. `rows` changes the
rows, each by a conditional UPDATE, so that several processes may serve one conversation. `leases` renews the leases
that this process holds. `kernel_time` and `left_running` count the time of code for its quota. `files` brings
attachments into the kernel, `downloads` reads files from it, and `kept_files` makes one an attachment of its answer.
`control` interrupts and ends sessions; `losses` notices kernels that have ended by themselves; `reaper` ends those that
nobody uses, and cleans up after processes that have died. `lifetime` says how long a session lives, and keeps it for a
day. `branch` says whether the variables belong to the version that is shown, and which code restores them.
`contents_columns` makes columns of `PythonSession` from the contents of a kernel. `outcomes` maps how a cell ended to
an outcome of a part. `places` says where kernels run.
"""
