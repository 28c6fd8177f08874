"""The tool set with which a model runs code in the Python session of its conversation.

`tool_set` is the module to read first. `factory` makes the tool set of a turn, and `engine_rules` chooses between the
model's service and the session. `declarations` describes the functions for models, `arguments` reads the arguments of
calls, `outputs` turns outputs of the kernel into parts while the code runs, `responses` makes results of limited length
for the model, and `state_text` describes the session at the end of each request.
"""
