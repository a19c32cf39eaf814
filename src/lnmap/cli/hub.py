"""Commands that exchange models with the Hub: push, pull."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lnmap.cli.options import Debug, Json, ModelFolder, Quiet, check_folder
from lnmap.cli.terminal import console
from lnmap.cli.using import load_model
from lnmap.direction import Direction
from lnmap.errors import OptionError

if TYPE_CHECKING:
    from lnmap.evaluate import Evaluation
    from lnmap.model.model import Model

Repository = Annotated[str, typer.Argument(metavar="REPO", help="Repository on the Hub, such as user/en-fr.")]


def push(
    folder: ModelFolder,
    repo: Repository,
    languages: Annotated[
        str | None, typer.Option(metavar="SRC,TGT", help="Codes of the two languages for the card, such as en,fr.")
    ] = None,
    pairs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Test dictionary, source language first: scores for the card.")
    ] = None,
    license: Annotated[
        str | None, typer.Option(metavar="NAME", help="Licence of the vectors and pairs, such as cc-by-sa-3.0.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Make the repository private, if it is new.")] = False,
    revision: Annotated[str | None, typer.Option(metavar="BRANCH", help="Push to this branch instead of main.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Publish a model on the Hub, with a card that says what it is.

    Example: lnmap push en-fr user/en-fr --languages en,fr --pairs en-fr.test.txt

    Needs the extra 'hub' and a token that may write ('hf auth login', or
    HF_TOKEN). Vectors and pairs become public: see that their licences allow it.
    """
    from lnmap.model.hub import push as push_model

    codes = [code.strip() for code in (languages or "").split(",") if code.strip()]
    if languages is not None and len(codes) != 2:
        raise OptionError(f"--languages expects two codes such as en,fr; got {languages!r}")
    model = load_model(folder)
    scores = _scores(model, pairs) if pairs else {}
    _calm()
    address = push_model(
        model,
        repo,
        private=private,
        revision=revision,
        languages=codes,
        license=license,
        scores=scores,
        progress=console,
    )
    if as_json:
        console.json({"repository": repo, "address": address})
    else:
        console.result(f"pushed to {address}")


def pull(
    repo: Repository,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model.")],
    revision: Annotated[
        str | None, typer.Option(metavar="NAME", help="Branch, tag or commit; main by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Fetch again what was fetched before.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fetch a model from the Hub into a folder.

    Example: lnmap pull user/en-fr --out en-fr

    Needs the extra 'hub'. The model is checked before DIR is written.
    """
    from lnmap.model import Model

    check_folder(out)
    _calm()
    model = Model.from_hub(repo, revision=revision, force=force, progress=console)
    model.save(out)
    if as_json:
        console.json({"model": str(out), "repository": repo, **model.info})
    else:
        console.result(f"model saved in {out}")


def _calm() -> None:
    """Let the Hub's client draw its bars only where somebody watches."""
    if console.quiet or not sys.stderr.isatty():
        with suppress(ImportError):
            from huggingface_hub.utils.tqdm import disable_progress_bars

            disable_progress_bars()


def _scores(model: Model, pairs: Path) -> dict[str, Evaluation]:
    from lnmap.io import read_lexicon

    gold = read_lexicon(pairs)
    return {
        "source to target": model.evaluate(gold),
        "target to source": model.evaluate(gold.reversed(), Direction.BACKWARD),
    }
