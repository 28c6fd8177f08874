"""Functions of ours that models may call. `base` is the module to read first.

`settings.TOOL_SETS` names the factories of tool sets; `toolbox` combines what they make for one turn.
"""
