"""The Hugging Face Hub: publish a model as a repository, and fetch one.

Only the files of a model folder and its card are transferred; what is fetched is checked against the manifest's hashes.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import Any

from lnmap.embeddings import Embeddings
from lnmap.errors import HubError, MissingExtraError, OptionError
from lnmap.evaluate import Evaluation
from lnmap.lexicon import Lexicon
from lnmap.model.card import model_card
from lnmap.model.folder import write_folder
from lnmap.model.parts import ModelParts
from lnmap.progress import Progress, Silent
from lnmap.version import __version__

FILES = (
    "model.json",
    "*.safetensors",
    "*.jsonl",
    "*/embeddings.json",
    "*/vocabulary.json",
    "confidence-*.json",
    "judges-*.json",
)
CARD = "README.md"


def push(
    parts: ModelParts,
    repo: str,
    *,
    private: bool = False,
    revision: str | None = None,
    token: str | None = None,
    languages: Sequence[str] = (),
    license: str | None = None,
    scores: Mapping[str, Evaluation] | None = None,
    message: str | None = None,
    progress: Progress | None = None,
) -> str:
    """Publish a model, its neighbourhood means included, with its card in one commit, and return its address.

    The same commit removes the files of an older model from the repository and leaves all others. Of the paths that
    the model was made from only the last part is published.
    """
    hub = _hub()
    progress = progress or Silent()
    with tempfile.TemporaryDirectory(prefix="lnmap-push-") as work:
        folder = Path(work)
        write_folder(_without_paths(parts), folder)
        card = model_card(parts, repo, languages=languages, license=license, scores=scores)
        (folder / CARD).write_text(card, encoding="utf-8")
        files = {str(path.relative_to(folder).as_posix()): path for path in folder.rglob("*") if _is_ours(path, folder)}
        api = _api(hub, token)
        with _explained(repo), progress.task(f"pushing to {repo}", None):
            address = api.create_repo(repo, private=private or None, exist_ok=True)
            if revision is not None:
                api.create_branch(repo, branch=revision, exist_ok=True)
            there = api.list_repo_files(repo, revision=revision)
            old = [name for name in there if _matches(name) and name not in files]
            operations = [hub.CommitOperationDelete(name) for name in old]
            operations += [hub.CommitOperationAdd(name, path) for name, path in sorted(files.items())]
            api.create_commit(
                repo, operations, commit_message=message or f"lnmap {__version__} model", revision=revision
            )
    return str(address)


def pull(
    repo: str,
    *,
    revision: str | None = None,
    token: str | None = None,
    cache: str | Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Fetch a model folder and return its path; what was fetched before is fetched again only with `force`."""
    hub = _hub()
    with _explained(repo), (progress or Silent()).task(f"fetching {repo}", None):
        return Path(
            hub.snapshot_download(
                repo,
                revision=revision,
                token=token,
                cache_dir=cache,
                force_download=force,
                allow_patterns=list(FILES),
                endpoint=os.environ.get("HF_ENDPOINT"),
                library_name="lnmap",
                library_version=__version__,
            )
        )


def _hub() -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtraError("huggingface-hub", "hub", "exchanging models with the Hub") from error
    return huggingface_hub


def _api(hub: Any, token: str | None) -> Any:
    token = token or hub.get_token()
    if not token:
        raise HubError("pushing needs a token that may write; run 'hf auth login' or set HF_TOKEN")
    return hub.HfApi(endpoint=os.environ.get("HF_ENDPOINT"), token=token, library_name="lnmap")


def _is_ours(path: Path, folder: Path) -> bool:
    name = path.relative_to(folder).as_posix()
    return path.is_file() and (name == CARD or _matches(name))


def _matches(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in FILES)


def _without_paths(parts: ModelParts) -> ModelParts:
    """Copy a model whose origins name files, without the folders they lie in."""

    def bare(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {k: _last(v) if k == "path" else bare(v) for k, v in value.items()}
        return value

    sides = [Embeddings(e.words, e.vectors, bare(e.origin)) for e in (parts.source, parts.target)]
    own = {one.name: getattr(parts, one.name) for one in fields(ModelParts)}
    changed = {"source": sides[0], "target": sides[1], "info": bare(parts.info)}
    seeds = {"pairs": parts.pairs, "back": parts.back}
    changed |= {name: Lexicon(one.pairs, bare(one.origin)) for name, one in seeds.items() if one is not None}
    return ModelParts(**own | changed)


def _last(path: Any) -> Any:
    return PurePath(path).name if isinstance(path, str) else path


@contextmanager
def _explained(repo: str) -> Iterator[None]:
    """Turn the Hub client's errors into one line."""
    from huggingface_hub import errors

    try:
        yield
    except errors.HFValidationError as error:
        raise OptionError(f"{repo!r} is no name of a repository; expected 'user/name' ({error})") from error
    except errors.GatedRepoError as error:
        raise HubError(f"{repo} asks its readers to agree to conditions first; do so on its page") from error
    except errors.RepositoryNotFoundError as error:
        raise HubError(
            f"there is no model {repo} on the Hub, or it is private and your token may not read it; "
            "run 'hf auth login' or set HF_TOKEN"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise HubError(f"{repo} has no such revision; leave it out for the newest") from error
    except (errors.HfHubHTTPError, errors.EntryNotFoundError, OSError, RuntimeError, ValueError) as error:
        raise HubError(f"the Hub did not do it for {repo}: {_reason(error)}") from error
    except Exception as error:  # the client's own HTTP library has a tree of errors of its own
        if not type(error).__module__.startswith("http"):
            raise
        raise HubError(f"the Hub cannot be reached for {repo}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 403):
        return f"the token was refused ({status}); run 'hf auth login' with one that may write"
    first = str(error).strip().splitlines()
    return first[0] if first else type(error).__name__
