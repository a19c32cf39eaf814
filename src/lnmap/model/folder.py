"""The model folder: written by `save`, read by `load`; docs/model-folder.md specifies the format.

    model.json                      the manifest, written last: a folder without it holds no model
    source-<id>/  target-<id>/      the two vocabularies, in the store format
    alignment-<id>.safetensors      what was learnt, and the CSLS neighbourhood means
    pairs-<id>.jsonl                the seed pairs
    outside-<id>.jsonl              pairs of the seed dictionary with a word outside the vocabularies, if there are any
    back-<id>.jsonl                 the seed pairs of the way back, target words first, if it has a seed of its own
    log-<id>.jsonl                  the training log
    confidence-<id>.json            how far answers can be trusted, if the model was calibrated
    judges-<id>.json                what puts answers in order, if the method has it
    condensed-<id>.safetensors      the words in few columns, for a judge; mapped into memory
    checkpoint.safetensors          an unfinished run, if there is one

Every file's name carries its content, and the manifest names the files, so replacing model.json is what replaces a
model: a run killed at any moment leaves the old model or the new one, never a mixture.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load as load_tensors
from torch import Tensor

from lnmap.compact import Condensed
from lnmap.confidence import Confidence, Confidences
from lnmap.direction import Direction, Side
from lnmap.embeddings import Embeddings
from lnmap.errors import LnmapError, ModelError, OutputError
from lnmap.io import load_store, save_store
from lnmap.io.atomic import TEMPORARY, atomic_file, write_json, writing
from lnmap.io.formats.store import VECTORS, VOCABULARY
from lnmap.io.tensors import pieces
from lnmap.io.unchanged import hold, sha256
from lnmap.judge import Judges
from lnmap.lexicon import Lexicon
from lnmap.methods import alignment_class
from lnmap.model.old_format import upgrade_alignment
from lnmap.model.parts import Means, ModelParts

FORMAT, VERSION = "lnmap-model", 2
CHECKPOINT = "checkpoint.safetensors"
_MANIFEST = "model.json"
_OWN_KEYS = ("format", "version", "alignment", "files", "pairs", "back")  # of the manifest; the rest is `info`
_ROLES = ("alignment", "source", "target", "pairs", "outside", "back", "log", "confidence", "judges", "condensed")
_CONFIDENCE_VERSION = 1
_JUDGES_VERSION, _JUDGES_BEFORE = 2, 1  # before it judges had no products
_JUDGES = "judges."  # begins the names of their tensors
_CHANGED = "{} was changed after it was saved (its SHA-256 differs)"
_LARGEST_MEAN = 2.0  # of cosines, with room for rounding


def require_folder(folder: Path) -> None:
    """Refuse a path that cannot be a model folder."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file; give a folder to save the model in")


def write_folder(parts: ModelParts, folder: Path) -> None:
    """Write a model, with its neighbourhood means as far as they are known, to a folder that the caller has locked."""
    values, tensors = parts.alignment.state()
    means = {f"means.{d}.{side}": mean for d in parts.spaces for side, mean in parts.means.get(d, {}).items()}
    judging, learnt = ({}, {}) if parts.judges is None else parts.judges.state()
    tensors |= means | {_JUDGES + name: tensor for name, tensor in learnt.items()}
    files = {
        "alignment": _write_pieces(folder, "alignment", pieces(tensors)),
        **{str(side): _write_side(folder, side, parts.side(side)) for side in Side},
        "pairs": _write_lines(folder, "pairs", parts.pairs),
        "log": _write_lines(folder, "log", parts.log),
    }
    if len(parts.outside):
        files["outside"] = _write_lines(folder, "outside", parts.outside)
    if parts.back is not None:
        files["back"] = _write_lines(folder, "back", parts.back)
    if parts.confidence is not None:
        files["confidence"] = _write_confidence(folder, parts.confidence)
    if judging:
        text = json.dumps({"version": _JUDGES_VERSION, **judging}, indent=1)
        files["judges"] = _write_bytes(folder, "judges", text.encode(), ".json")
    if parts.condensed:
        files["condensed"] = _write_pieces(folder, "condensed", pieces(_few_columns(parts.condensed)))
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        **parts.info,
        "alignment": {"kind": parts.alignment.kind, "values": values},
        "pairs": dict(parts.pairs.origin),
        **({} if parts.back is None else {"back": dict(parts.back.origin)}),
        "files": files,
    }
    write_json(folder / _MANIFEST, manifest)
    _check_there(folder, files)
    _sweep(folder, {str(file["name"]) for file in files.values()})


def _check_there(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> None:
    """Take the manifest back if the folder was removed during the run, and with it half of the model."""
    if not all((folder / _name(file)).exists() for file in files.values()):
        (folder / _MANIFEST).unlink(missing_ok=True)
        raise OutputError(f"cannot write the model to {folder}: files were removed there meanwhile; run it again")


def read_folder(folder: Path) -> ModelParts:
    """Read a model folder of this version or an older one."""
    manifest = _manifest(folder)
    with explained(folder):
        return _read_parts(folder, manifest)


def _read_parts(folder: Path, manifest: Mapping[str, Any]) -> ModelParts:
    files, spec = manifest["files"], manifest["alignment"]
    values, tensors = spec["values"], load_tensors(_read_bytes(folder, files["alignment"]))
    if manifest["version"] == 1:
        values, tensors = upgrade_alignment(spec["kind"], values, tensors)
    means = _take_means(tensors)
    judging = {name.removeprefix(_JUDGES): tensors.pop(name) for name in list(tensors) if name.startswith(_JUDGES)}
    _check_numbers(tensors, means)
    source, target = (_read_side(folder, side, files[str(side)]) for side in Side)
    words = {Side.SOURCE: source.words, Side.TARGET: target.words}
    return ModelParts(
        source,
        target,
        alignment_class(spec["kind"]).from_state(values, tensors),
        _read_pairs(folder, files["pairs"], manifest["pairs"]),
        {key: value for key, value in manifest.items() if key not in _OWN_KEYS},
        _read_lines(folder, files["log"]),
        means,
        _read_confidence(folder, files["confidence"]) if "confidence" in files else None,
        _read_judges(folder, files["judges"], words, judging) if "judges" in files else None,
        _read_pairs(folder, files["outside"]) if "outside" in files else Lexicon([]),
        _map_condensed(folder, files["condensed"]) if "condensed" in files else {},
        _read_pairs(folder, files["back"], manifest.get("back")) if "back" in files else None,
    )


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Turn whatever a damaged model raises into one line."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())  # torch explains itself in many lines
        raise ModelError(f"the model in {folder} is broken ({type(error).__name__}: {reason}); align again") from error
    except LnmapError as error:
        raise ModelError(f"the model in {folder} is broken: {error}") from error


def _take_means(tensors: dict[str, Tensor]) -> dict[Direction, Means]:
    """Remove the neighbourhood means from the tensors and return them."""
    return {
        direction: {side: tensors.pop(f"means.{direction}.{side}") for side in Side}
        for direction in Direction
        if any(f"means.{direction}.{side}" in tensors for side in Side)  # those of both, or none
    }


def _few_columns(condensed: Mapping[Direction, Condensed]) -> dict[str, Tensor]:
    named = {}
    for direction, few in condensed.items():
        named[f"{direction}.basis"] = few.basis
        for side in Side:
            named |= {f"{direction}.columns.{side}": few.coarse[side].T, f"{direction}.fine.{side}": few.fine[side]}
    return named


def _map_condensed(folder: Path, entry: Mapping[str, Any]) -> dict[Direction, Condensed]:
    """Map the words in few columns into memory; they stay on the disk until they are used."""
    _require_unchanged(folder, entry)
    with safe_open(folder / _name(entry), framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    for name in [name for name in tensors if ".columns." in name]:  # older folders have rows, as "coarse"
        tensors[name.replace(".columns.", ".coarse.")] = tensors.pop(name).T
    return {
        direction: Condensed(
            tensors[f"{direction}.basis"],
            *({side: tensors[f"{direction}.{part}.{side}"] for side in Side} for part in ("coarse", "fine")),
        )
        for direction in Direction
        if f"{direction}.basis" in tensors
    }


def _write_bytes(folder: Path, role: str, data: bytes, suffix: str) -> dict[str, Any]:
    return _write_pieces(folder, role, [data], suffix)


def _write_pieces(
    folder: Path, role: str, data: Iterable[bytes | memoryview], suffix: str = ".safetensors"
) -> dict[str, Any]:
    """Write a file that is named by its contents."""
    parts, digest = list(data), hashlib.sha256()
    for part in parts:
        digest.update(part)
    name = f"{role}-{digest.hexdigest()[:12]}{suffix}"
    with atomic_file(folder / name) as file:
        file.writelines(parts)
    return {"name": name, "sha256": digest.hexdigest()}


def _write_side(folder: Path, side: Side, embeddings: Embeddings) -> dict[str, Any]:
    entry = {"name": f"{side}-{embeddings.fingerprint}", "words": len(embeddings), "dim": embeddings.dim}
    try:
        _read_side(folder, side, entry)
    except LnmapError:
        with writing("the vocabulary", folder):
            shutil.rmtree(folder / _name(entry), ignore_errors=True)
            save_store(embeddings, folder / _name(entry))
    return entry


def _read_side(folder: Path, side: Side, entry: Mapping[str, Any]) -> Embeddings:
    """Load a vocabulary and make sure that it is the one its name says."""
    place = folder / _name(entry)
    fingerprint = place.name.removeprefix(f"{side}-")
    read: list[Embeddings] = []

    def compare() -> bool:
        read.append(load_store(place))
        return read[0].fingerprint == fingerprint

    if not hold([place / VECTORS, place / VOCABULARY], fingerprint, compare):
        raise ModelError(f"{place.name} holds other words or vectors than were saved")
    return read[0] if read else load_store(place, fingerprint=fingerprint)


def _write_lines(folder: Path, role: str, rows: Iterable[Any]) -> dict[str, Any]:
    return _write_bytes(folder, role, "".join(json.dumps(row) + "\n" for row in rows).encode(), ".jsonl")


def _read_lines(folder: Path, entry: Mapping[str, Any]) -> list[Any]:
    return [json.loads(line) for line in _read_bytes(folder, entry).decode().splitlines()]


def _read_pairs(folder: Path, entry: Mapping[str, Any], origin: Mapping[str, Any] | None = None) -> Lexicon:
    return Lexicon([(str(s), str(t)) for s, t in _read_lines(folder, entry)], dict(origin or {}))


def _write_confidence(folder: Path, confidence: Confidences) -> dict[str, Any]:
    states = {str(direction): one.state() for direction, one in confidence.items()}
    text = json.dumps({"version": _CONFIDENCE_VERSION, **states}, indent=1)
    return _write_bytes(folder, "confidence", text.encode(), ".json")


def _read_confidence(folder: Path, entry: Mapping[str, Any]) -> Confidences | None:
    """Read the confidence; one of a later version does not keep the model from being used."""
    found = json.loads(_read_bytes(folder, entry))
    if found["version"] != _CONFIDENCE_VERSION:
        return None
    return {direction: Confidence.from_state(found[str(direction)]) for direction in Direction}


def _read_judges(
    folder: Path, entry: Mapping[str, Any], words: dict[Side, Sequence[str]], tensors: dict[str, Tensor]
) -> Judges | None:
    """Read the judges; those of a later version do not keep the model from being used."""
    found = json.loads(_read_bytes(folder, entry))
    return Judges.from_state(words, found, tensors) if found["version"] in (_JUDGES_BEFORE, _JUDGES_VERSION) else None


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / _MANIFEST
    if not folder.is_dir():
        raise ModelError(f"there is no model folder {folder}", advice="align two languages with {out:FOLDER} first")
    if not path.is_file():
        unfinished = (folder / CHECKPOINT).is_file()
        hint = "it holds an unfinished run, repeat the align command to finish it" if unfinished else "align again"
        raise ModelError(f"{folder} holds no finished model ({_MANIFEST} is missing); {hint}")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read ({error}); align again") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelError(f"{path} is not the manifest of an lnmap model; give a folder written by lnmap align")
    if manifest.get("version") not in range(1, VERSION + 1):
        raise ModelError(
            f"{folder} has model format version {manifest.get('version')!r}, this lnmap reads versions 1 to {VERSION}; "
            "use the lnmap that wrote it, or align again"
        )
    return manifest


def _name(entry: Mapping[str, Any]) -> str:
    """File name of a manifest entry; nothing but a plain name inside the folder is accepted."""
    name = str(entry["name"])
    if Path(name).name != name or name in ("", ".."):
        raise ValueError(f"file name {name!r} leaves the folder")
    return name


def _require_unchanged(folder: Path, entry: Mapping[str, Any]) -> None:
    """Compare a file's content with its SHA-256, unless it was compared before."""
    path = folder / _name(entry)
    try:
        same = hold([path], str(entry["sha256"]), lambda: sha256(path) == entry["sha256"])
    except OSError as error:
        raise ModelError(f"{path.name} cannot be read ({error.strerror})") from error
    if not same:
        raise ModelError(_CHANGED.format(path.name))


def _read_bytes(folder: Path, entry: Mapping[str, Any]) -> bytes:
    path = folder / _name(entry)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path.name} cannot be read ({error.strerror})") from error
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise ModelError(_CHANGED.format(path.name))
    return data


def _check_numbers(tensors: Mapping[str, Tensor], means: Mapping[Direction, Means]) -> None:
    """Refuse what no run saves: numbers that are not finite, and means of cosines beyond any cosine."""
    named = {f"means of {direction} {side}": mean for direction, m in means.items() for side, mean in m.items()}
    for name, tensor in (*tensors.items(), *named.items()):
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ValueError(f"{name} holds numbers that are not finite")
    for name, tensor in named.items():
        if tensor.abs().max() > _LARGEST_MEAN:
            raise ValueError(f"{name} holds values that no mean of cosines has")


def _sweep(folder: Path, keep: set[str]) -> None:
    """Remove what older models and killed runs left behind; what cannot be removed does no harm."""
    for path in folder.iterdir():
        ours = path.name.startswith(TEMPORARY) or path.name.partition("-")[0] in _ROLES
        if ours and path.name not in keep:
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
