"""A corpus of table files as people have them, and a measurement of how well a reader reads them."""
