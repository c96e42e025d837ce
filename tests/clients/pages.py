"""Running the page of a client: its transcripts and programs, with the client's environment in front."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clients.environments import LANGUAGES
from documents.pages import Command, Page
from support.serving import TIMEOUT_S

if TYPE_CHECKING:
    from clients.environments import Client, Language
    from documents.blocks import Block

# No setting of the user and no service of a cloud machine may reach a client; and a thing that works only
# when it is tried again has not worked.
SEALED: Final = {"AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1", "NO_PROXY": "127.0.0.1"}

# It holds for a compiler too.
PROGRAM_S_MAX: Final = 180.0

# What the page of a client may hold: transcripts, programs of its language, the file that pins its packages.
CLIENT_TAGS: Final = frozenset(("console", "xml", *(language.tag for language in LANGUAGES)))

_ADMIN: Final = "npx dynamodb-admin"
_ADMIN_WRITTEN_ADDRESS: Final = "127.0.0.1:8001"


@dataclass(kw_only=True)
class ClientPage(Page):
    """The page of a client while it is being run."""

    client: Client
    admin_address: str = _ADMIN_WRITTEN_ADDRESS
    command_s_max: float = PROGRAM_S_MAX

    def _run(self, block: Block) -> None:
        language = self.client.language
        if block.language == language.tag:
            self._run_program(language, block)
        elif language.pins.endswith(f".{block.language}"):
            assert block.text == self.client.pins.read_text(encoding="utf-8"), block.place
        else:
            # The address of dynamodb-admin is known only when an earlier block has started it.
            Page._run(self, block.with_text(block.text.replace(_ADMIN_WRITTEN_ADDRESS, self.admin_address)))

    def _run_program(self, language: Language, block: Block) -> None:
        # As many lines in front as in the document, so that a traceback names the right one.
        source = "\n" * (block.line - 1) + block.text
        (self.directory / language.example).write_text(source, encoding="utf-8")
        self._run_shell(language.run_example, block)

    def _run_command(self, command: Command, block: Block) -> None:
        installer = self.client.language.installer
        if command.text.startswith(installer):
            for package in shlex.split(command.text.removeprefix(installer)):
                assert package in self.client.versions, f"{block.place}: {package} is not what is proven"
        elif command.text.startswith(_ADMIN):
            self._start_admin(command.text)
        else:
            Page._run_command(self, command, block)

    def _start_admin(self, text: str) -> None:
        """Start dynamodb-admin on a free port; it ends with the page."""
        _, *arguments = shlex.split(text)
        admin = subprocess.Popen(
            [*arguments, "--host", "127.0.0.1", "--port", "0"],
            executable=self.client.programs / "dynamodb-admin",
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.directory,
            env=self._environment(),
        )
        self.stack.callback(end, admin)
        assert admin.stdout is not None
        for line in admin.stdout:
            found = re.search(r"listening on http://(127\.0\.0\.1:\d+)", line)
            if found is not None:
                self.admin_address = found[1]
                return
        raise AssertionError(f"{text} ended")

    def _environment(self) -> dict[str, str]:
        plain = Page._environment(self)
        return {
            **plain,
            **SEALED,
            **self.client.language.variables,
            "HOME": str(self.directory),
            "PATH": f"{self.client.programs}:{plain['PATH']}",
        }


def end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=TIMEOUT_S)
