"""Makes answers: sends requests, reads their responses, runs function calls, and stores everything.

`turns` owns each turn from its start to its end, `prompt` makes the requests, and `toolbox` combines the tool sets that
`settings.TOOL_SETS` names. `code_tools` is the protocol of the tool set that runs the code of answers.
"""
