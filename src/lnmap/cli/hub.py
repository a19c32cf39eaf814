"""lnmap push and pull: exchange models with the Hub."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from lnmap.cli import options
from lnmap.cli.reading import load_model
from lnmap.cli.terminal import console
from lnmap.direction import Direction
from lnmap.errors import OptionError

if TYPE_CHECKING:
    from lnmap.evaluate import Evaluation
    from lnmap.model import Model

Repository = Annotated[str, options.argument("REPO", "Repository on the Hub, such as user/en-fr.")]


def push(
    folder: options.ModelFolder,
    repo: Repository,
    languages: Annotated[
        str | None, options.value("SRC,TGT", "Codes of the two languages for the card, such as en,fr.")
    ] = None,
    pairs: Annotated[
        Path | None, options.value("FILE", "Test dictionary, source language first, for scores on the card.")
    ] = None,
    license: Annotated[
        str | None, options.value("NAME", "Licence of the vectors and pairs, such as cc-by-sa-3.0.")
    ] = None,
    private: Annotated[bool, options.flag("--private", "Make a new repository private.")] = False,
    revision: Annotated[str | None, options.value("BRANCH", "Push to this branch instead of main.")] = None,
) -> None:
    """Publish a model on the Hugging Face Hub, with a card that describes it.

    Example: lnmap push en-fr user/en-fr --languages en,fr --pairs en-fr.test.txt

    Needs the extra 'hub' and a token with write access ('hf auth login', or
    HF_TOKEN). The vectors and pairs become public: check that their licences
    allow it.
    """
    codes = [code.strip() for code in (languages or "").split(",") if code.strip()]
    if languages is not None and len(codes) != 2:
        raise OptionError(f"--languages expects two codes such as en,fr; got {languages!r}")
    model = load_model(folder)
    scores = _scores(model, pairs) if pairs else {}
    _hide_bars()
    address = model.push_to_hub(
        repo,
        private=private,
        revision=revision,
        languages=codes,
        license=license,
        scores=scores,
        progress=console,
    )
    console.answer({"repository": repo, "address": address}, f"pushed to {address}")


def pull(
    repo: Repository,
    out: options.OutFolder,
    revision: Annotated[str | None, options.value("NAME", "Branch, tag or commit; main by default.")] = None,
    force: Annotated[bool, options.flag("--force", "Fetch again what was fetched before.")] = False,
) -> None:
    """Fetch a model from the Hugging Face Hub into a folder.

    Example: lnmap pull user/en-fr --out en-fr

    Needs the extra 'hub'. The model is checked before DIR is written.
    """
    from lnmap.model import Model

    options.check_folder(out)
    _hide_bars()
    model = Model.from_hub(repo, revision=revision, force=force, progress=console)
    model.save(out)
    console.answer({"model": str(out), "repository": repo, **model.info}, f"model saved in {out}")


def _hide_bars() -> None:
    """Hide the bars of the Hub's client, unless stderr is a terminal."""
    if console.quiet or not sys.stderr.isatty():
        with suppress(ImportError):
            from huggingface_hub.utils.tqdm import disable_progress_bars

            disable_progress_bars()


def _scores(model: Model, pairs: Path) -> dict[str, Evaluation]:
    from lnmap.io import read_lexicon

    gold = read_lexicon(pairs)
    return {
        "source to target": model.evaluate(gold),
        "target to source, on the same pairs turned around": model.evaluate(gold.reversed(), Direction.BACKWARD),
    }
