"""Limits: what one request may ask for, so that no request can hurt the others."""

from __future__ import annotations

WORD = 200  # characters of a word
FILTER = 100  # characters of a filter or a prefix
CANDIDATES = 50  # translations or neighbours of a word
QUESTIONS = 50  # words to ask about
BATCH = 500  # words of a batch
PAGE = 200  # lexicon entries of a page
OFFSET = 10_000_000  # entries passed over
TURN_SECONDS = 10.0  # a request for a whole dictionary waits this long for another one
BODY = 1 << 20  # bytes of a request's body
BODY_SECONDS = 20.0  # a body that takes longer is given up
HEAD_SECONDS = 20.0  # a connection that sends no whole request for longer is closed
HEAD = 16 << 10  # bytes of a request's first line and headers
