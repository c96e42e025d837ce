"""Designs that are open over HTTP, on a server that is killed: errors are typed, and nothing is lost."""

from __future__ import annotations

import json
import signal
import threading
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from designs.shops import Shop, Shops
from resilience.crash.shopping import SHOP, Told, operations, perform
from resilience.crash.verify import assert_sound
from singletable.errors import TargetUnreachableError
from support.serving import CommandProcess
from support.targets import no_aws_settings

FILE = "shops.db"
WAIT_S = 120.0


class Shoppers:
    """Threads that write through designs of their own, until nobody answers any more."""

    def __init__(self, url: str, told: dict[int, Told], seed: int) -> None:
        self._told = told
        self._seed = seed
        self._left = 0
        self._lock = threading.Lock()
        self._enough = threading.Event()
        self.problems: list[str] = []
        self.ends: list[TargetUnreachableError] = []
        self._threads = [threading.Thread(target=self._write, args=(url, writer)) for writer in told]
        for thread in self._threads:
            thread.start()

    def wait_for(self, answers: int) -> None:
        """Wait for so many answers, all together, or until nobody asks any more."""
        with self._lock:
            self._left = answers
            self._enough.clear()
        while any(thread.is_alive() for thread in self._threads) and not self._enough.wait(0.1):
            pass

    def join(self) -> None:
        for thread in self._threads:
            thread.join(WAIT_S)
            assert not thread.is_alive(), "a writer hangs"

    def _write(self, url: str, writer: int) -> None:
        try:
            with Shops.open(url) as db:
                self._write_on(db, writer)
        except TargetUnreachableError as error:
            self.ends.append(error)
        except BaseException as error:
            self.problems.append(f"writer {writer}: {type(error).__name__}: {error}")

    def _write_on(self, db: Shops, writer: int) -> None:
        told = self._told[writer]
        for operation in operations(writer, self._seed):
            told.take(json.dumps(operation))
            told.take(perform(db, datetime.now(UTC), operation))
            with self._lock:
                self._left -= 1
                if self._left == 0:
                    self._enough.set()


class ServedShop:
    """A file behind a server that always has the same address."""

    def __init__(self, directory: Path, seed: int, *, writers: int) -> None:
        self.directory = directory
        self.random = Random(seed)
        self.seed = seed
        self.told = {writer: Told() for writer in range(writers)}
        self.port = "0"
        with Shops.open(str(directory / FILE)) as db:
            db.create(Shop(shop_id=SHOP))

    def start(self, stack: ExitStack) -> CommandProcess:
        server = stack.enter_context(
            CommandProcess("serve", FILE, "--port", self.port, "--json", cwd=self.directory)
        )
        self.port = str(json.loads(server.read_line())["port"])
        return server

    def kill(self, *, starts_again: bool) -> None:
        """Let clients write, kill the server under them, and check what it has kept."""
        self.seed += 1
        with no_aws_settings(), ExitStack() as stack:
            server = self.start(stack)
            url = f"http://127.0.0.1:{self.port}"
            shoppers = Shoppers(url, self.told, self.seed)
            shoppers.wait_for(self.random.randint(20, 150))
            server.end(signal.SIGKILL)
            if starts_again:
                # At once, so that clients which ask again meet a server that knows their last request.
                again = self.start(stack)
                shoppers.wait_for(20)
                again.end(signal.SIGKILL)
            shoppers.join()
            assert not shoppers.problems, shoppers.problems
            assert len(shoppers.ends) == len(self.told)
            assert all("does not answer" in str(end) and end.hint for end in shoppers.ends)
            self.start(stack)
            self.check(url)
        assert_sound(self.directory / FILE)

    def check(self, url: str) -> None:
        with Shops.open(url) as db:
            assert db.verify().differences == ()
            for writer, told in self.told.items():
                told.settle(db, writer)
            assert db.verify().differences == ()


def test_clients_of_a_killed_server_get_typed_errors_and_lose_nothing(tmp_path: Path) -> None:
    ServedShop(tmp_path, seed=1, writers=3).kill(starts_again=False)


@pytest.mark.soak
def test_clients_outlive_servers_that_are_killed_and_started_again(tmp_path: Path) -> None:
    shop = ServedShop(tmp_path, seed=2, writers=4)
    for number in range(20):
        shop.kill(starts_again=bool(number % 2))
