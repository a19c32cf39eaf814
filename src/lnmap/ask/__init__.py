"""Ask a speaker: which words to ask about next, and what becomes of the answers.

choosing.py   which words help most when their translations are known
questions.py  those words as questions, with candidates to choose from
answers.py    answers as marks beside the model, undone and skipped
sheet.py      questions as a table to print or mail, and the filled-in table read back
"""

from __future__ import annotations

from lnmap.ask.answers import Answers, Skipped
from lnmap.ask.questions import WHY, Question, Why, next_words
from lnmap.ask.sheet import Sheet, read_sheet, write_sheet

__all__ = ["WHY", "Answers", "Question", "Sheet", "Skipped", "Why", "next_words", "read_sheet", "write_sheet"]
