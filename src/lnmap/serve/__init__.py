"""Serve: a page and a REST API to look at models, correct their translations and export the result.

A request passes `guard`, then `app`, then one of the `routes`, which asks a model and its marks:

* models, loaded: the served models by id, each loaded again when its folder gets a newer one
* lookup, browse, projection: a word's translations and neighbours, the lexicon page by page, a word's map
* marks: judgements of pairs, in an append-only journal beside the model, and their export
* asking: the next words to ask a speaker about, and her answers
* words, about: spellings and completion, what is known about a model
* background: work beside the requests
* training, trainer: training again with the marks, in a process of its own
* schemas, errors, limits: what requests and answers look like, and what a request may ask for
* run: sockets, signals and the server itself
"""
