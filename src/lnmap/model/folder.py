"""The model folder: what `save` writes and `load` reads.

    model.json                      the manifest, written last: a folder without it holds no model
    source-<id>/  target-<id>/      the two vocabularies, in the store format
    alignment-<id>.safetensors      what was learnt, and the CSLS neighbourhood means
    pairs-<id>.jsonl                the seed pairs
    log-<id>.jsonl                  the training log
    confidence-<id>.json            how far answers can be trusted, if the model was calibrated
    checkpoint.safetensors          an unfinished run, if there is one

Every file's name carries its content, and the manifest names the files, so replacing model.json is what replaces a
model: a run killed at any moment leaves the old model or the new one, never a mixture.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load as load_tensors
from safetensors.torch import save as dump_tensors
from torch import Tensor

from lnmap.confidence import Confidence, Confidences
from lnmap.embeddings import Embeddings
from lnmap.errors import LnmapError, ModelError, OutputError
from lnmap.io import load_store, save_store
from lnmap.io.atomic import TEMPORARY, atomic_file, locked, write_json, writing
from lnmap.lexicon import Lexicon
from lnmap.methods import ALIGNMENTS
from lnmap.methods.base import Checkpoint, State
from lnmap.model.model import Model

FORMAT, VERSION = "lnmap-model", 1
_MANIFEST = "model.json"
_ROLES = ("alignment", "source", "target", "pairs", "log", "confidence")
_CONFIDENCE_VERSION = 1
_LARGEST_MEAN = 2.0  # of cosines, with room for rounding


def save(model: Model, folder: str | Path) -> Path:
    """Write a model; an older one in the same folder stays valid until the new one is whole."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file; give a folder to save the model in")
    with locked(folder):
        write(model, folder)
    return folder


def write(model: Model, folder: Path) -> None:
    """Write a model to a folder that the caller has locked."""
    kind, (values, tensors) = model.alignment.kind, model.alignment.state()
    for reverse in _ways(model):
        means = model.space(reverse).means
        tensors = tensors | {f"means.{reverse}.{i}": mean for i, mean in enumerate(means)}
    files = {
        "alignment": _write_bytes(
            folder, "alignment", dump_tensors({k: t.contiguous().cpu() for k, t in tensors.items()})
        ),
        "source": _write_side(folder, "source", model),
        "target": _write_side(folder, "target", model),
        "pairs": _write_lines(folder, "pairs", model.pairs),
        "log": _write_lines(folder, "log", model.log),
    }
    if model.confidence is not None:
        files["confidence"] = _write_confidence(folder, model.confidence)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        **model.info,
        "alignment": {"kind": kind, "values": values},
        "pairs": dict(model.pairs.origin),
        "files": files,
    }
    write_json(folder / _MANIFEST, manifest)
    _check_there(folder, files)
    _sweep(folder, {str(file["name"]) for file in files.values()})


def _check_there(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> None:
    """Take the manifest back when somebody has removed the folder under the run, and with it half of the model."""
    if not all((folder / _name(file)).exists() for file in files.values()):
        (folder / _MANIFEST).unlink(missing_ok=True)
        raise OutputError(f"cannot write the model to {folder}: files were removed there meanwhile; run it again")


def load(folder: str | Path, device: str | torch.device = "cpu") -> Model:
    """Read a model folder written by `save`, on any machine and device."""
    folder = Path(folder)
    manifest = _manifest(folder)
    try:
        files, spec = manifest["files"], manifest["alignment"]
        tensors = load_tensors(_read_bytes(folder, files["alignment"]))
        _check_numbers(tensors)
        ways = [way for way in (False, True) if f"means.{way}.0" in tensors]
        means = {way: (tensors.pop(f"means.{way}.0"), tensors.pop(f"means.{way}.1")) for way in ways}
        model = Model(
            _read_side(folder, "source", files["source"]),
            _read_side(folder, "target", files["target"]),
            ALIGNMENTS[spec["kind"]].from_state(spec["values"], tensors),
            Lexicon([(str(s), str(t)) for s, t in _read_lines(folder, files["pairs"])], dict(manifest["pairs"])),
            {k: v for k, v in manifest.items() if k not in ("format", "version", "alignment", "files", "pairs")},
            _read_lines(folder, files["log"]),
            means=means,
            confidence=_read_confidence(folder, files["confidence"]) if "confidence" in files else None,
        )
        _check(model)
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())  # torch explains itself in many lines
        raise ModelError(f"the model in {folder} is broken ({type(error).__name__}: {reason}); align again") from error
    except LnmapError as error:
        raise ModelError(f"the model in {folder} is broken: {error}") from error
    return model.to(device)


class FolderCheckpoint(Checkpoint):
    """The state of an unfinished run: one safetensors file, replaced whole.

    :param key: what determines the run (data, pairs, options, seed); a state with another key is not its own.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.path, self.key = Path(folder) / "checkpoint.safetensors", key

    def load(self) -> State | None:
        """Give back the last state if it belongs to this run."""
        if self.owner() != self.key:
            return None
        with safe_open(self.path, "pt") as file:
            values = json.loads(file.metadata()["values"])
            return values, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118

    def owner(self) -> str | None:
        """Key of the run that left a state here; None when there is none or it cannot be read."""
        try:
            with safe_open(self.path, "pt") as file:
                return (file.metadata() or {}).get("key")
        except (OSError, SafetensorError):
            return None

    def save(self, values: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Replace the state."""
        metadata = {"key": self.key, "values": json.dumps(values)}
        with atomic_file(self.path) as file:
            file.write(dump_tensors({k: t.detach().contiguous().cpu() for k, t in tensors.items()}, metadata))

    def clear(self) -> None:
        """Remove the state of a finished run."""
        self.path.unlink(missing_ok=True)


def _write_bytes(folder: Path, role: str, data: bytes, suffix: str = ".safetensors") -> dict[str, Any]:
    digest = hashlib.sha256(data).hexdigest()
    name = f"{role}-{digest[:12]}{suffix}"
    with atomic_file(folder / name) as file:
        file.write(data)
    return {"name": name, "sha256": digest}


def _write_side(folder: Path, role: str, model: Model) -> dict[str, Any]:
    embeddings = model.source if role == "source" else model.target
    entry = {"name": f"{role}-{embeddings.fingerprint}", "words": len(embeddings), "dim": embeddings.dim}
    try:
        _read_side(folder, role, entry)
    except LnmapError:
        with writing("the vocabulary", folder):
            shutil.rmtree(folder / _name(entry), ignore_errors=True)
            save_store(embeddings, folder / _name(entry))
    return entry


def _read_side(folder: Path, role: str, entry: Mapping[str, Any]) -> Embeddings:
    """Load a vocabulary and make sure that it is the one its name promises."""
    embeddings = load_store(folder / _name(entry))
    if _name(entry) != f"{role}-{embeddings.fingerprint}":
        raise ModelError(f"{_name(entry)} holds other words or vectors than were saved")
    return embeddings


def _write_lines(folder: Path, role: str, rows: Iterable[Any]) -> dict[str, Any]:
    return _write_bytes(folder, role, "".join(json.dumps(row) + "\n" for row in rows).encode(), ".jsonl")


def _read_lines(folder: Path, entry: Mapping[str, Any]) -> list[Any]:
    return [json.loads(line) for line in _read_bytes(folder, entry).decode().splitlines()]


def _write_confidence(folder: Path, confidence: Confidences) -> dict[str, Any]:
    ways = {"forward": confidence[False].state(), "backward": confidence[True].state()}
    text = json.dumps({"version": _CONFIDENCE_VERSION, **ways}, indent=1)
    return _write_bytes(folder, "confidence", text.encode(), ".json")


def _read_confidence(folder: Path, entry: Mapping[str, Any]) -> Confidences | None:
    """Read the confidence; one of a later version does not keep the model from being used."""
    found = json.loads(_read_bytes(folder, entry))
    if found["version"] != _CONFIDENCE_VERSION:
        return None
    return {False: Confidence.from_state(found["forward"]), True: Confidence.from_state(found["backward"])}


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / _MANIFEST
    if not folder.is_dir():
        raise ModelError(f"there is no model folder {folder}; make one with: lnmap align SRC TGT --out {folder}")
    if not path.is_file():
        unfinished = (folder / "checkpoint.safetensors").is_file()
        hint = "it holds an unfinished run, repeat the align command to finish it" if unfinished else "align again"
        raise ModelError(f"{folder} holds no finished model ({_MANIFEST} is missing); {hint}")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} cannot be read ({error}); align again") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelError(f"{path} is not the manifest of an lnmap model; give a folder written by lnmap align")
    if manifest.get("version") != VERSION:
        raise ModelError(
            f"{folder} has model format version {manifest.get('version')!r}, this lnmap reads version {VERSION}; "
            "use the lnmap that wrote it, or align again"
        )
    return manifest


def _name(entry: Mapping[str, Any]) -> str:
    """File name of a manifest entry; nothing but a plain name inside the folder is accepted."""
    name = str(entry["name"])
    if Path(name).name != name or name in ("", ".", ".."):
        raise ValueError(f"file name {name!r} leaves the folder")
    return name


def _read_bytes(folder: Path, entry: Mapping[str, Any]) -> bytes:
    path = folder / _name(entry)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path.name} cannot be read ({error.strerror})") from error
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        raise ModelError(f"{path.name} was changed after it was saved (its SHA-256 differs)")
    return data


def _ways(model: Model) -> tuple[bool, ...]:
    """Give the directions that have a space of their own."""
    return (False,) if model.alignment.one_space else (False, True)


def _check_numbers(tensors: Mapping[str, Tensor]) -> None:
    """Refuse what no run saves: numbers that are not finite, and means of cosines beyond any cosine."""
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise ValueError(f"{name} holds numbers that are not finite")
        if name.startswith("means.") and tensor.abs().max() > _LARGEST_MEAN:
            raise ValueError(f"{name} holds values that no mean of cosines has")


def _check(model: Model) -> None:
    """Try the model on one word a side, so that parts which do not fit show at once."""
    for reverse in _ways(model):
        asked = model.map(model.source.vectors[:1], "source", reverse)
        answer = model.map(model.target.vectors[:1], "target", reverse)
        if asked.shape != answer.shape or not (torch.isfinite(asked).all() and torch.isfinite(answer).all()):
            raise ValueError("the two languages do not map into one space")
        sizes = [len(mean) for mean in model.means[reverse]]
        expected = [len(model.target), len(model.source)] if reverse else [len(model.source), len(model.target)]
        if sizes != expected:
            raise ValueError(f"neighbourhood means of {sizes} words for vocabularies of {expected}")


def _sweep(folder: Path, keep: set[str]) -> None:
    """Remove what older models and killed runs left behind; what cannot be removed does no harm."""
    for path in folder.iterdir():
        ours = path.name.startswith(TEMPORARY) or path.name.partition("-")[0] in _ROLES
        if ours and path.name not in keep:
            with suppress(OSError):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
