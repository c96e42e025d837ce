"""EventBridge Scheduler as far as its API reference tells: over HTTP, with requests checked by AWS's own model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import boto3
import botocore.session

GROUP = "kefir-test"
_MODEL: Any = botocore.session.get_session().get_service_model("scheduler")
_AT = re.compile(r"at\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\)")


class SchedulerEndpoint:
    """The schedules of one group, as they were asked for."""

    def __init__(self) -> None:
        self.schedules: dict[str, dict[str, Any]] = {}
        self.requests: list[str] = []
        self.runs_before_update = 0
        """How often a schedule runs, and is gone, just before it would be updated."""

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, str, dict[str, str]]:
        """Return a status, the name of an error if it is one, and a body."""
        parts = urlsplit(path)
        name = unquote(parts.path.removeprefix("/schedules/"))
        operation = {"POST": "CreateSchedule", "PUT": "UpdateSchedule", "DELETE": "DeleteSchedule"}[method]
        self.requests.append(operation)
        params = json.loads(body) if body else {}
        if operation == "DeleteSchedule":
            params = {"GroupName": parse_qs(parts.query)["groupName"][0]}
        wrong = mistakes(_MODEL.operation_model(operation).input_shape, {**params, "Name": name})
        if operation != "DeleteSchedule" and _AT.fullmatch(params["ScheduleExpression"]) is None:
            wrong.append(f"Invalid Schedule Expression {params['ScheduleExpression']}")
        if wrong:
            return 400, "ValidationException", {"Message": "; ".join(wrong)}
        return self._carry_out(operation, name, params)

    def _carry_out(
        self, operation: str, name: str, params: dict[str, Any]
    ) -> tuple[int, str, dict[str, str]]:
        if params["GroupName"] != GROUP:
            return (
                404,
                "ResourceNotFoundException",
                {"Message": f"Schedule group {params['GroupName']} not found"},
            )
        if operation == "CreateSchedule" and name in self.schedules:
            return 409, "ConflictException", {"Message": f"Schedule {name} already exists."}
        if operation == "UpdateSchedule" and self.runs_before_update:
            self.runs_before_update -= 1
            self.schedules.pop(name, None)
        if operation != "CreateSchedule" and name not in self.schedules:
            return 404, "ResourceNotFoundException", {"Message": f"Schedule {name} does not exist."}
        if operation == "DeleteSchedule":
            del self.schedules[name]
            return 200, "", {}
        self.schedules[name] = {key: value for key, value in params.items() if key != "ClientToken"}
        return 200, "", {"ScheduleArn": f"arn:aws:scheduler:eu-north-1:123456789012:schedule/{GROUP}/{name}"}


def mistakes(shape: Any, value: Any, at: str = "") -> list[str]:
    """Return what a value has that its shape does not allow: members, lengths, patterns, enumerations."""
    if shape.type_name == "structure":
        wrong = [f"{at}{name} is missing" for name in shape.required_members if name not in value]
        for name, member in value.items():
            if name not in shape.members:
                wrong.append(f"{at}{name} is unknown")
            else:
                wrong += mistakes(shape.members[name], member, f"{at}{name}.")
        return wrong
    if not isinstance(value, str):
        return []
    allowed = shape.metadata
    is_right = (
        allowed.get("min", 0) <= len(value) <= allowed.get("max", len(value))
        and re.fullmatch(allowed.get("pattern", ".*"), value, re.DOTALL) is not None
        and value in allowed.get("enum", [value])
    )
    return [] if is_right else [f"{at[:-1]} is {value!r}"]


@contextmanager
def scheduler_endpoint() -> Iterator[tuple[SchedulerEndpoint, Any]]:
    """Serve schedules on localhost; yield them, and a boto3 client."""
    endpoint = SchedulerEndpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            status, error, body = endpoint.answer(self.command, self.path, self.rfile.read(length))
            payload = json.dumps(body).encode()
            self.send_response(status)
            if error:
                self.send_header("x-amzn-errortype", error)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        do_PUT = do_DELETE = do_POST  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        client = boto3.client(
            "scheduler",
            region_name="eu-north-1",
            endpoint_url=f"http://127.0.0.1:{server.server_port}",
            aws_access_key_id="unused",
            aws_secret_access_key="unused",
        )
        try:
            yield endpoint, client
        finally:
            client.close()
            server.shutdown()
            thread.join()
