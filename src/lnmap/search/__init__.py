"""Search: the k best scores of rows and columns, block by block, and lists that are proven to be complete."""
