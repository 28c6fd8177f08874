"""How an answer comes about: the request is made, streamed, run through its function calls, and stored.

`turns` owns each turn from its start to its end, `prompt` makes the requests, and `toolbox` combines the tool sets that
`settings.TOOL_SETS` names. `code_tools` is the protocol of the one that takes the code of answers.
"""
