"""A server on this machine that behaves as well, or as badly, as a test wants."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Server", "serving"]

Answer = Callable[[BaseHTTPRequestHandler], object]


class Server:
    """Answers by path; ``done`` ends all waiting."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.done = threading.Event()
        self.address = ""

    def content(self, path: str, body: bytes, *, length: int | None = None) -> str:
        """Serve bytes, and announce so many (all if None, nothing if negative)."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            if length is None or length >= 0:
                handler.send_header("Content-Length", str(len(body) if length is None else length))
            handler.end_headers()
            handler.wfile.write(body)

        return self.serve(path, answer)

    def redirect(self, path: str, target: str) -> str:
        """Send elsewhere."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(302)
            handler.send_header("Location", target)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        return self.serve(path, answer)

    def silent(self, path: str, body: bytes = b"") -> str:
        """Announce 1000 bytes, send some, then nothing for a while."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            handler.wfile.write(body)
            handler.wfile.flush()
            self.done.wait(20.0)

        return self.serve(path, answer)

    def dripping(self, path: str) -> str:
        """A byte now and then."""

        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            for _ in range(1000):
                handler.wfile.write(b"x")
                handler.wfile.flush()
                if self.done.wait(0.02):
                    return

        return self.serve(path, answer)

    def serve(self, path: str, answer: Answer) -> str:
        """Keep an answer; the address that gets it."""
        self.answers[path] = answer
        return self.address + path


@contextmanager
def serving() -> Iterator[Server]:
    """A server while the block lasts."""
    server = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append(self.path)
            try:
                if answer := server.answers.get(self.path):
                    answer(self)
                else:
                    self.send_error(404)
            except ConnectionError:  # the client has left, as it should
                pass

        def log_message(self, *arguments) -> None:
            """Say nothing."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server.address = f"http://127.0.0.1:{httpd.server_port}"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.done.set()
        httpd.shutdown()
        thread.join()
        httpd.server_close()
