"""Finding, keeping and moving conversations: pages and lists, projects, shares, exports and imports.

The views here parse input, ask `people.access`, make one call and answer with one page or fragment.
`conversation_views` is the module to read first.
"""
