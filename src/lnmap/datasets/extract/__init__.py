"""Small readers of what public packages hold: vectors, wordnets, dictionaries; none of them runs foreign code."""
