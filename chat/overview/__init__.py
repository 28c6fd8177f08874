"""How the product is used and how it is: numbers of a period for its operators. No text of a conversation is read."""
