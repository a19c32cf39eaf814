"""The model card: a README with what the model is, what it was made from and how to use it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from lnmap.embeddings import is_word
from lnmap.evaluate import Evaluation
from lnmap.methods import METHODS
from lnmap.model.parts import ModelParts

TAGS = ("bilingual-lexicon-induction", "word-translation", "cross-lingual-word-embeddings")


def model_card(
    model: ModelParts,
    name: str,
    *,
    languages: Sequence[str] = (),
    license: str | None = None,
    scores: Mapping[str, Evaluation] | None = None,
) -> str:
    """Write the card in Markdown, with the front matter that the Hub reads.

    :param name: the name for `from_pretrained`: a repository such as 'user/en-fr'.
    :param languages: codes of the source and the target language.
    :param license: of the vectors and pairs that the model holds.
    :param scores: evaluations by a name such as 'English to French'.
    """
    parts = [_front(languages, license), _title(model, name, languages), _facts(model), _scores(scores or {})]
    parts += [_use(model, name), _licence(license), _citation(model)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _front(languages: Sequence[str], license: str | None) -> str:
    """Front matter; every value is written as JSON, which YAML reads."""
    values: dict[str, Any] = {"library_name": "lnmap", "tags": list(TAGS)}
    if languages:
        values["language"] = list(languages)
    if license:
        values["license"] = license
    return "\n".join(["---", *(f"{key}: {json.dumps(value)}" for key, value in values.items()), "---"])


def _title(model: ModelParts, name: str, languages: Sequence[str]) -> str:
    between = f" between `{languages[0]}` and `{languages[1]}`" if len(languages) == 2 else ""
    return (
        f"# {name}\n\nWord translation{between}, both ways: {len(model.source):,} source words and "
        f"{len(model.target):,} target words in one space, aligned with [lnmap](#use)."
    )


def _facts(model: ModelParts) -> str:
    info = model.info
    rows = [
        ("method", " ".join(filter(None, (f"`{info.get('method')}`", _profile(info))))),
        ("seed pairs", f"{len(model.pairs):,}"),
        ("random seed", info.get("seed")),
        ("trained", f"{info.get('created')}, {info.get('seconds')} s on {info.get('device')}"),
        ("confidence", "calibrated on held-out seed pairs" if model.calibrated else "not calibrated"),
    ]
    for side, embeddings in (("source", model.source), ("target", model.target)):
        path = embeddings.origin.get("path")
        read = f" from `{PurePath(str(path)).name}`" if path else ""
        rows.append((f"{side} vectors", f"{len(embeddings):,} words x {embeddings.dim}{read}"))
    versions = ", ".join(f"{key} {value}" for key, value in dict(info.get("versions", {})).items())
    return "## Model\n\n" + _table(("", ""), [*rows, ("versions", versions)])


def _profile(info: Mapping[str, Any]) -> str | None:
    return f"profile `{info['profile']}`" if info.get("profile") else None


def _scores(scores: Mapping[str, Evaluation]) -> str:
    if not scores:
        return ""
    rows = []
    for name, score in scores.items():
        low, high = score.interval()
        cells = [name, f"{score.precision(1):.1f}", f"{low:.1f}-{high:.1f}", f"{score.precision(5):.1f}"]
        cells += [f"{len(score.rows):,}", f"{score.coverage:.1f} %", f"{score.seen_pairs:,} of {score.test_pairs:,}"]
        rows.append(cells)
    columns = ("", "P@1", "95 % interval", "P@5", "test words", "coverage", "test pairs seen in training")
    return "## Scores\n\n" + _table(columns, rows)


def _use(model: ModelParts, name: str) -> str:
    word = next((source for source, _ in model.pairs if len(source) > 3 and is_word(source)), model.source.words[0])
    return (
        "## Use\n\n```sh\npip install 'lnmap[hub]'\n```\n```python\nfrom lnmap import Model\n\n"
        f"model = Model.from_pretrained({json.dumps(name)})\n"
        f"print(model.translate({json.dumps(word, ensure_ascii=False)})[0].words)\n```\n\n"
        "The files are safetensors and JSON; nothing is unpickled."
    )


def _licence(license: str | None) -> str:
    if license:
        return ""
    return "## Licence\n\nNo licence was given. The model holds word vectors and word pairs, whose licences apply."


def _citation(model: ModelParts) -> str:
    method = METHODS.get(str(model.info.get("method")))
    return "" if method is None else f"## Citation\n\n{method.title}: {method.citation}."


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in lines)
