"""Serve: a page and a REST API to look at models, correct what they say and take the result home.

* limits: what a request may ask for
* words: completion and nearest spellings
* best: the best translation of every word, found when asked for or in the background
* direction: translate from one side of a space
* explorer: one model's answers: candidates, neighbours
* projection: a neighbourhood in two dimensions, before and after the alignment
* lexicon: the induced lexicon: sorted, filtered, a page at a time
* marks: what people said about pairs: an append-only journal beside the model
* exports: marks as a seed dictionary
* background: long work that goes on while the page answers
* card: what is known about a model
* shelf: the models that are served, by name
* schemas: the API's requests and answers
* guard: what every request must pass
* routes, marking: the API
* answers: how it says things, and that it cannot
* app: all of it as one application
* run: sockets, signals and the server itself
"""
