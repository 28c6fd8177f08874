"""The tool set with which a model runs code in the Python session of its conversation.

`tool_set` is the module to read first. `factory` makes it, and `engine_rules` chooses between the model's service and
the session. `declarations` are what models see, `arguments` reads what they send, `outputs` turns outputs of the kernel
into parts while the code runs, `responses` makes bounded results for the model, and `state_text` describes the session
at the end of each request.
"""
