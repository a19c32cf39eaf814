"""N-grams of words as fastText hashes them, in a plain loop."""

from __future__ import annotations


def plain_ngrams(word: str, shortest: int, longest: int) -> list[int]:
    """Hash n-grams as fastText's description has it, one at a time."""
    text, hashes = f"<{word}>", []
    for start in range(len(text)):
        for size in range(max(shortest, 1), longest + 1):
            end = start + size
            if end > len(text) or (size == 1 and (start == 0 or end == len(text))):
                continue
            value = 2166136261
            for byte in text[start:end].encode():
                value = ((value ^ (byte | 0xFFFFFF00 if byte > 127 else byte)) * 16777619) & 0xFFFFFFFF
            hashes.append(value)
    return hashes
