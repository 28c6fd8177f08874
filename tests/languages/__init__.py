"""The languages of the product: `extraction` finds all words, `catalogues` keeps them with their translations."""
