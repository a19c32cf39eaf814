"""A stand-in of the Hub: a real HTTP server that speaks what huggingface_hub calls to push and to fetch a model."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_a_token_that_may_write"
REPO = r"(?P<repo>[\w.-]+/[\w.-]+)"


class Hub(ThreadingHTTPServer):
    """Repositories in memory: branch -> path -> content; every commit has a name."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repos: dict[str, dict[str, dict[str, bytes]]] = {}
        self.private: set[str] = set()
        self.large: dict[str, bytes] = {}  # git LFS, by SHA-256
        self.commits: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.fetched: list[str] = []
        self.cut: str | None = None  # files of this ending are sent short
        self.swapped: str | None = None  # files of this ending are sent with other content of the same length
        self.down = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that hangs up."""


@contextmanager
def serving() -> Iterator[Hub]:
    hub = Hub()
    thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()


def name_of(files: dict[str, bytes]) -> str:
    """Return a commit's name: forty hexadecimal digits that depend on every file."""
    digest = hashlib.sha1()
    for path, content in sorted(files.items()):
        digest.update(path.encode() + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()


def is_large(path: str, size: int) -> bool:
    return path.endswith(".safetensors") or size > 5_000_000


class Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"
    ROUTES = (
        ("POST", r"/api/repos/create", "create"),
        ("POST", r"/api/validate-yaml", "validate"),
        ("POST", rf"/api/models/{REPO}/branch/(?P<branch>.+)", "branch"),
        ("POST", rf"/api/models/{REPO}/preupload/(?P<rev>.+)", "preupload"),
        ("POST", rf"/{REPO}\.git/info/lfs/objects/batch", "batch"),
        ("PUT", r"/large/(?P<oid>\w+)", "put_large"),
        ("POST", rf"/api/models/{REPO}/commit/(?P<rev>.+)", "commit"),
        ("GET", rf"/api/models/{REPO}/tree/(?P<rev>[^/]+)", "tree"),
        ("GET", rf"/api/models/{REPO}/revision/(?P<rev>.+)", "info"),
        ("GET", rf"/api/models/{REPO}", "info"),
        ("HEAD", rf"/{REPO}/resolve/(?P<rev>[^/]+)/(?P<path>.+)", "resolve"),
        ("GET", rf"/{REPO}/resolve/(?P<rev>[^/]+)/(?P<path>.+)", "resolve"),
    )

    def do(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = unquote(urlsplit(self.path).path)
        self.server.calls.append(f"{self.command} {path}")
        if self.server.down:
            self.answer(503, {"error": "down for maintenance"})
            return
        for method, pattern, name in self.ROUTES:
            match = re.fullmatch(pattern, path)
            if match and method == self.command:
                if method in ("POST", "PUT") and name not in ("validate", "put_large") and not self.may_write():
                    self.answer(401, {"error": "Invalid username or password."})
                else:
                    getattr(self, name)(**match.groupdict())
                return
        self.answer(404, {"error": f"no such route {self.command} {path}"})

    do_GET = do_POST = do_PUT = do_HEAD = do  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""

    def may_write(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def answer(self, status: int, value: Any, **headers: str) -> None:
        self.send(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})

    def send(self, status: int, data: bytes, headers: dict[str, str], length: int | None = None) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
            if length is not None and length > len(data):
                self.wfile.flush()
                self.close_connection = True

    def files(self, repo: str, rev: str | None) -> dict[str, bytes] | None:
        """Return the files of a revision, or answer that there is none."""
        branches = self.server.repos.get(repo)
        if branches is None or (repo in self.server.private and not self.may_write()):
            self.answer(401, {"error": "Repository not found"}, **{"X-Error-Code": "RepoNotFound"})
            return None
        for branch, files in branches.items():
            if rev in (None, branch, name_of(files)):
                return files
        self.answer(404, {"error": "Revision not found"}, **{"X-Error-Code": "RevisionNotFound"})
        return None

    def create(self) -> None:
        wanted = json.loads(self.body)
        repo = f"{wanted.get('organization') or 'me'}/{wanted['name']}"
        if wanted.get("private") or wanted.get("visibility") == "private":
            self.server.private.add(repo)
        known = repo in self.server.repos
        self.server.repos.setdefault(repo, {"main": {".gitattributes": b"*.safetensors filter=lfs\n"}})
        self.answer(409 if known else 200, {"url": f"{self.server.url}/{repo}", "id": repo, "name": repo})

    def validate(self) -> None:
        self.answer(200, {"errors": [], "warnings": []})

    def branch(self, repo: str, branch: str) -> None:
        branches = self.server.repos[repo]
        if branch in branches:
            self.answer(409, {"error": "Reference already exists"})
            return
        branches[branch] = dict(branches["main"])
        self.answer(200, {})

    def preupload(self, repo: str, rev: str) -> None:
        files = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if is_large(file["path"], file["size"]) else "regular",
                "shouldIgnore": False,
            }
            for file in json.loads(self.body)["files"]
        ]
        self.answer(200, {"files": files})

    def batch(self, repo: str) -> None:
        objects = []
        for file in json.loads(self.body)["objects"]:
            upload = {"upload": {"href": f"{self.server.url}/large/{file['oid']}", "header": {}}}
            objects.append({**file, **({} if file["oid"] in self.server.large else {"actions": upload})})
        self.answer(200, {"transfer": "basic", "objects": objects})

    def put_large(self, oid: str) -> None:
        if hashlib.sha256(self.body).hexdigest() != oid:
            self.answer(400, {"error": "other content than announced"})
            return
        self.server.large[oid] = self.body
        self.answer(200, {})

    def commit(self, repo: str, rev: str) -> None:
        branches = self.server.repos[repo]
        files = dict(branches[rev])
        for line in self.body.splitlines():
            kind, value = (entry := json.loads(line))["key"], entry["value"]
            if kind == "header":
                self.server.commits.append({"repo": repo, "branch": rev, "summary": value["summary"]})
            elif kind == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif kind == "lfsFile":
                files[value["path"]] = self.server.large[value["oid"]]
            elif kind == "deletedFile":
                del files[value["path"]]
        branches[rev] = files
        oid = name_of(files)
        self.answer(200, {"success": True, "commitOid": oid, "commitUrl": f"{self.server.url}/{repo}/commit/{oid}"})

    def tree(self, repo: str, rev: str) -> None:
        files = self.files(repo, rev)
        if files is not None:
            self.answer(200, [self.entry(path, content) for path, content in sorted(files.items())])

    def entry(self, path: str, content: bytes) -> dict[str, Any]:
        oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        entry: dict[str, Any] = {"type": "file", "oid": oid, "size": len(content), "path": path}
        if is_large(path, len(content)):
            entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
        return entry

    def info(self, repo: str, rev: str | None = None) -> None:
        files = self.files(repo, rev)
        if files is not None:
            siblings = [{"rfilename": path} for path in sorted(files)]
            self.answer(200, {"id": repo, "modelId": repo, "sha": name_of(files), "siblings": siblings, "tags": []})

    def resolve(self, repo: str, rev: str, path: str) -> None:
        files = self.files(repo, rev)
        if files is None:
            return
        if path not in files:
            self.answer(404, {"error": "Entry not found"}, **{"X-Error-Code": "EntryNotFound"})
            return
        content, hub = files[path], self.server
        entry = self.entry(path, content)
        etag = entry["lfs"]["oid"] if "lfs" in entry else entry["oid"]
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": name_of(files), "Accept-Ranges": "bytes"}
        sent, length = content, len(content)
        if self.command == "GET":
            hub.fetched.append(path)
            if hub.cut and path.endswith(hub.cut):
                sent = content[: len(content) // 2]
            if hub.swapped and path.endswith(hub.swapped):
                sent = content[:-1] + bytes([content[-1] ^ 1])
        self.send(200, sent, headers, length)
