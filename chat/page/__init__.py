"""What a browser shows of a conversation, and how a live page follows it.

`transcript` makes values from messages for templates, `rendering` makes safe HTML from what models and users write,
`fragments` joins the two into pieces with ids, and `relay` carries the pieces to every open page.
"""
