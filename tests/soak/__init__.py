"""The fault harness: what `make soak` does to lnmap, and what it counts.

Every scenario is one function `(room, budget) -> Figures`. The tests run a few attempts of each, the soak as many as
an hour holds; both call the same functions.
"""
