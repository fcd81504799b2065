"""A hub of models on this machine for the tests: answers as the real one does (redirects to a storage on another port,
ETags, ranges, errors with their codes), and misbehaves on request."""

import contextlib
import hashlib
import json
import socket
import ssl
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_secret"
# A host that only the proxy knows.
PROXIED = "http://models.example"


def is_large(path):
    return path.endswith((".safetensors", ".bin", ".onnx"))


def etag_of(path, content):
    if is_large(path):
        return hashlib.sha256(content).hexdigest()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self.do_GET()

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def meets(self, fault):
        return (fault["part"] in self.path and self.command in fault.get("methods", ("GET", "HEAD"))
                and fault.get("role", self.server.role) == self.server.role)

    def do_CONNECT(self):
        """As a proxy: bytes to and fro until one side ends."""
        with self.server.hub.lock:
            self.server.hub.requests.append((self.command, self.server.role, self.path, dict(self.headers)))
        host, _, port = self.path.rpartition(":")
        with socket.create_connection((host, int(port))) as peer:
            self.answer(200, Content_Length="0")
            self.wfile.flush()
            back = threading.Thread(target=self.pump, args=(peer, self.connection), daemon=True)
            back.start()
            self.pump(self.connection, peer)
            back.join(30)
        self.close_connection = True

    @staticmethod
    def pump(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def do_GET(self):
        hub = self.server.hub
        # A request to a proxy holds the whole address.
        path = urllib.parse.unquote(self.path).removeprefix(PROXIED)
        with hub.lock:
            hub.requests.append((self.command, self.server.role, path, dict(self.headers)))
            fault = next(filter(self.meets, hub.faults), None)
            if fault and fault.get("times", 1) != "always":
                hub.faults.remove(fault)
        if fault and "status" in fault:
            return self.answer(fault["status"], b"no", **fault.get("headers", {}))
        if self.server.role == "storage":
            return self.send_content(*hub.content(path.lstrip("/")), fault)
        self.route(hub, path, fault)

    def route(self, hub, path, fault):
        if hub.needs_token and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(401, X_Error_Code="GatedRepo", X_Error_Message="Access to this model is restricted.")
        if path.startswith("/api/resolve-cache/"):
            return self.send_content(*hub.content(path.removeprefix("/api/resolve-cache/")), fault)
        if path.startswith("/api/models/"):
            name, _, revision = path.removeprefix("/api/models/").partition("/revision/")
            if name != hub.name:
                return self.answer(401, X_Error_Code="RepoNotFound")
            if revision not in ("main", "v1", COMMIT):
                return self.answer(404, X_Error_Code="RevisionNotFound")
            siblings = [{"rfilename": file} for file in hub.files]
            return self.answer(200, json.dumps({"id": name, "sha": COMMIT, "siblings": siblings}).encode())
        file = path.partition("/resolve/")[2].partition("/")[2]
        if file not in hub.files:
            return self.answer(404, X_Error_Code="EntryNotFound", X_Repo_Commit=COMMIT)
        content = hub.files[file]
        if is_large(file):
            return self.answer(302, X_Repo_Commit=COMMIT, X_Linked_Etag=f'"{etag_of(file, content)}"',
                               X_Linked_Size=str(len(content)), Location=f"http://127.0.0.1:{hub.storage_port}/{file}")
        if file == "config.json":
            return self.answer(307, X_Repo_Commit=COMMIT, Location=f"/api/resolve-cache/{file}")
        self.send_content(file, content, fault)

    def send_content(self, file, content, fault):
        whole = len(content)
        status, begin, headers = 200, 0, {"ETag": f'"{etag_of(file, content)}"', "X_Repo_Commit": COMMIT}
        if wanted := self.headers.get("Range"):
            begin = int(wanted.removeprefix("bytes=").split("-")[0])
            status, headers["Content_Range"] = 206, f"bytes {begin}-{whole - 1}/{whole}"
        if fault and fault.get("damage"):
            content = bytes([content[0] ^ 1]) + content[1:]
        body = content[begin:]
        if fault and "cut" in fault and self.command == "GET":
            self.answer(status, body[:fault["cut"]], Content_Length=str(len(body)), **headers)
            self.wfile.flush()
            if "hold" in fault:
                fault["begun"].set()
                fault["hold"].wait(30)
            self.close_connection = True
            return
        self.answer(status, body, Content_Length=str(len(body)), **headers)


class HubServer:
    """`with HubServer("org/tiny", {"config.json": b"…"}) as hub: …`; `hub.environment(cache)` points a program at it."""

    def __init__(self, name, files, certificate=None):
        self.name = name
        self.files = files
        self.certificate = certificate
        self.needs_token = False
        self.faults = []
        self.requests = []
        self.lock = threading.Lock()

    def content(self, file):
        return file, self.files[file]

    def start(self, role):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.role, server.hub = role, self
        if self.certificate and role == "hub":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def __enter__(self):
        self.servers = [self.start("storage"), self.start("hub")]
        self.storage_port, self.port = (server.server_address[1] for server in self.servers)
        return self

    def __exit__(self, *error):
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def endpoint(self):
        return f"https://localhost:{self.port}" if self.certificate else f"http://127.0.0.1:{self.port}"

    def fetched(self, role=None):
        """Paths of the files that were asked for with GET."""
        with self.lock:
            return [path for method, where, path, _ in self.requests
                    if method == "GET" and "/api/models/" not in path and role in (None, where)]

    def headers_of(self, part):
        with self.lock:
            return [headers for method, _, path, headers in self.requests if part in path and method == "GET"]
