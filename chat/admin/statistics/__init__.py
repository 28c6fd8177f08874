"""Usage statistics of a period for operators, and their charts. This package never reads the text of a conversation."""
