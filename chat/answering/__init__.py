"""Makes answers: requests are made and streamed, their function calls are run, and everything is stored.

`turns` owns each turn from its start to its end, `prompt` makes the requests, and `toolbox` combines the tool sets that
`settings.TOOL_SETS` names. `code_tools` is the protocol of the one that takes the code of answers.
"""
