"""What `benchmarks.api` compares with: one GET, written by hand over FastAPI and boto3. Run as a program."""

from __future__ import annotations

import json
import sys
from typing import Any

import boto3
import uvicorn
from fastapi import FastAPI, HTTPException

from singletable.server.listening import open_sockets


def application(endpoint: str) -> FastAPI:
    """Return an application with one path, as a team would write it."""
    client: Any = boto3.client("dynamodb", endpoint_url=endpoint, region_name="us-east-1")
    made = FastAPI()

    @made.get("/notes/{note_id}")
    def note(note_id: str) -> dict[str, Any]:
        key = {"PK": {"S": f"NOTE#{note_id}"}, "SK": {"S": "HEAD"}}
        item = client.get_item(TableName="notes", Key=key, ConsistentRead=True).get("Item")
        if item is None:
            raise HTTPException(404)
        return {
            "note_id": item["noteId"]["S"],
            "text": item["text"]["S"],
            "version": int(item["version"]["N"]),
        }

    return made


if __name__ == "__main__":
    sockets = open_sockets("127.0.0.1", 0)
    print(json.dumps({"url": f"http://127.0.0.1:{sockets[0].getsockname()[1]}"}), flush=True)
    config = uvicorn.Config(application(sys.argv[1]), access_log=False, log_level="warning")
    uvicorn.Server(config).run(sockets=sockets)
