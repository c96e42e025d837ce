"""S3 as far as its API reference tells of PutObject: over HTTP, with requests checked by AWS's own model."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

import boto3
import botocore.session
from botocore.config import Config

from systems.scheduler_endpoint import mistakes

BUCKET = "cooking-archive"
_PUT: Any = botocore.session.get_session().get_service_model("s3").operation_model("PutObject").input_shape


class S3Endpoint:
    """The objects of one bucket: bodies and types, by their keys."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, str]] = {}
        self.puts = 0
        self.refuses = 0
        """How many of the next requests are answered as those of somebody who may not."""

    def put(self, path: str, headers: Any, body: bytes) -> tuple[int, str]:
        """Return a status, and the code of an error if it is one."""
        self.puts += 1
        bucket, _, key = unquote(urlsplit(path).path).removeprefix("/").partition("/")
        params = {"Bucket": bucket, "Key": key, "ContentType": headers.get("Content-Type", "")}
        if mistakes(_PUT, params) or len(key.encode()) > 1024:  # "up to 1,024 bytes", Object key naming
            return 400, "InvalidRequest"
        if self.refuses:
            self.refuses -= 1
            return 403, "AccessDenied"
        if bucket != BUCKET:
            return 404, "NoSuchBucket"
        checksum = base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
        if headers.get("x-amz-checksum-crc32", checksum) != checksum:
            return 400, "BadDigest"
        self.objects[key] = (body, params["ContentType"])
        return 200, ""


@contextmanager
def s3_endpoint() -> Iterator[tuple[S3Endpoint, Any]]:
    """Serve a bucket on localhost; yield it, and a boto3 client."""
    endpoint = S3Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, error = endpoint.put(self.path, self.headers, body)
            payload = f"<Error><Code>{error}</Code><Message>no</Message></Error>".encode() if error else b""
            self.send_response(status)
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        client = boto3.client(
            "s3",
            region_name="eu-north-1",
            endpoint_url=f"http://127.0.0.1:{server.server_port}",
            aws_access_key_id="unused",
            aws_secret_access_key="unused",
            config=Config(s3={"addressing_style": "path"}),
        )
        try:
            yield endpoint, client
        finally:
            client.close()
            server.shutdown()
            thread.join()
