"""`singletable api`: a design as an HTTP API."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import secrets
import signal
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from singletable import __version__
from singletable.cli.messages import WrongUseError, say
from singletable.cli.patterns.finding import PatternSource, find_source, load_named
from singletable.cli.serving import add_callers, add_port
from singletable.cli.targets import (
    add_target_and_opening,
    choose_target,
    file_name_of,
    given_capabilities,
    refuse_missing_file,
)
from singletable.server.listening import Address, open_sockets

if TYPE_CHECKING:
    from singletable.api import Api, Authenticator

EXAMPLES = """\
examples:
  singletable api kefir                                everything of a system, for this machine alone
  singletable api shop.api:API --target shop.db        what an Api(...) declares
  singletable api shop.api:API --auth shop.api:AUTH --host 0.0.0.0 --allow-host api.example.org
  singletable api shop.api:API --jwt-jwks jwks.json --jwt-issuer https://id.example.org --jwt-audience shop

DESIGN is SYSTEM, MODULE:DESIGN, or MODULE:API, which names an Api. Without an Api, everything is exposed, on a
loopback address alone. Without --auth and --jwt-jwks, everybody at this machine may do everything, and nobody else
anything.

exit codes: 0 after SIGTERM, 2 for wrong use or a failure, 130 after Ctrl-C
"""

_SETTINGS: Final = "SINGLETABLE_API_SETTINGS"  # what the workers of this command are told
_SECRET: Final = "SINGLETABLE_CURSOR_SECRET"
_WORKERS_MAX: Final = 64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `api`."""
    parser.add_argument("design", metavar="DESIGN", help="a system, a design, or an Api: MODULE:NAME")
    add_target_and_opening(parser)
    parser.add_argument("--host", default="127.0.0.1", help="the address (default: %(default)s)")
    add_port(parser)
    add_callers(parser)
    parser.add_argument(
        "--workers", metavar="N", type=_workers, default=1, help="how many processes serve (default: 1)"
    )
    parser.add_argument(
        "--auth",
        metavar="MODULE:NAME",
        help="what tells who calls: an object with a method principal(request)",
    )
    parser.add_argument("--jwt-jwks", metavar="FILE|URL", help="the keys of an OpenID provider")
    parser.add_argument("--jwt-issuer", metavar="URL", help="who issues tokens")
    parser.add_argument("--jwt-audience", metavar="NAME", help="whom tokens are for: this API")
    parser.add_argument(
        "--cursor-secret-env",
        metavar="NAME",
        default=_SECRET,
        help="the environment variable with the secret of cursors, the same for all processes "
        "(default: %(default)s; without authentication, a random one)",
    )
    parser.add_argument("--read-only", action="store_true", help="serve what reads alone")
    parser.add_argument("--telemetry", action="store_true", help="make spans by OpenTelemetry")
    parser.add_argument("--json", action="store_true", help="print the address as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal."""
    _require_packages()
    settings = _settings(arguments)
    address = Address(arguments.host, arguments.port)
    if not settings["auth"] and not settings["jwt"] and not address.is_loopback:
        raise WrongUseError(
            f"without authentication everybody who reaches {address.host} could do everything",
            hint="--auth or --jwt-jwks says who may; or leave --host out",
        )
    made = _made(settings)  # before anything is served: what is wrong is said here
    sockets = open_sockets(arguments.host, arguments.port)
    address = Address(arguments.host, sockets[0].getsockname()[1])
    application: Any = made
    if arguments.workers > 1:
        made.state.singletable.db.close()
        os.environ[_SETTINGS] = json.dumps(settings)
        application = "singletable.cli.api:application"
    from singletable.api.serving import serve

    ended_by = serve(
        application,
        sockets,
        workers=arguments.workers,
        on_ready=lambda: _print_ready(address, settings, arguments),
    )
    return 130 if ended_by is signal.SIGINT else 0


def application() -> Any:
    """Make the application of a worker, by the settings of the command that has started it."""
    return _made(json.loads(os.environ[_SETTINGS]))


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    given = [arguments.jwt_jwks, arguments.jwt_issuer, arguments.jwt_audience]
    if any(given) and not all(given):
        raise WrongUseError(
            "tokens are checked by their keys, issuer and audience",
            hint="give --jwt-jwks, --jwt-issuer and --jwt-audience together",
        )
    if arguments.auth and any(given):
        raise WrongUseError("--auth and --jwt-jwks both say who calls", hint="leave one of them out")
    secret = os.environ.get(arguments.cursor_secret_env)
    if secret is None:
        if arguments.auth or any(given):
            raise WrongUseError(
                f"the secret of cursors is to be in {arguments.cursor_secret_env}, which is not set",
                hint=f"export {arguments.cursor_secret_env}=$(python -c 'import secrets; "
                "print(secrets.token_urlsafe())')",
            )
        secret = secrets.token_urlsafe()
    return {
        "design": arguments.design,
        "target": arguments.target,
        "env": dict(arguments.env),
        "without": arguments.without,
        "capabilities": arguments.capabilities,
        "auth": arguments.auth,
        "jwt": given if all(given) else None,
        "secret": secret,
        "allow_hosts": arguments.allow_hosts,
        "cors_origins": arguments.cors_origins,
        "read_only": arguments.read_only,
        "telemetry": arguments.telemetry,
    }


def _made(settings: dict[str, Any]) -> Any:
    """Open the design and return its application."""
    from singletable.api import app

    source, api = _api(settings["design"])
    auth = _authenticator(settings)
    target = choose_target(settings["target"], source.file_name)
    environment = source.environment_with(settings["env"].items())
    refuse_missing_file(target, hint=f"{source.makes_table(target, settings['env'])} makes it")
    capabilities = given_capabilities(argparse.Namespace(**settings), target)
    db = source.design.open(target, create=False, capabilities=capabilities, **environment)
    atexit.register(db.close)
    try:
        return app(
            db,
            api,
            auth=auth,
            cursor_secret=settings["secret"],
            allow_hosts=settings["allow_hosts"],
            cors_origins=settings["cors_origins"],
            read_only=settings["read_only"],
            telemetry=settings["telemetry"],
        )
    except BaseException:
        db.close()
        raise


def _api(text: str) -> tuple[PatternSource, Api]:
    """Return the design that is named, and what is exposed of it."""
    from singletable.api import Api

    if ":" in text:
        found = load_named(text)
        if isinstance(found, Api):
            name = file_name_of(found.design.__name__)
            where = f"{found.design.__module__}:{found.design.__name__}"
            return PatternSource(where, found.design, name), found
    source = find_source(text)
    return source, Api.all(source.design)


def _authenticator(settings: dict[str, Any]) -> Authenticator:
    from singletable.api import JwtAuthentication, NoAuthentication

    if settings["auth"]:
        found: Authenticator = load_named(settings["auth"])
        if not hasattr(found, "principal"):
            raise WrongUseError(
                f"{settings['auth']} tells nobody who calls",
                hint="name an object such as BearerAuthentication(...)",
            )
        return found
    if settings["jwt"] is None:
        return NoAuthentication()
    jwks, issuer, audience = settings["jwt"]
    if "://" in jwks:
        return JwtAuthentication(jwks=jwks, issuer=issuer, audience=audience)
    try:
        return JwtAuthentication.from_file(jwks, issuer=issuer, audience=audience)
    except (OSError, ValueError) as error:
        raise WrongUseError(f"{jwks} holds no keys: {error}", hint="a JSON Web Key Set") from error


def _print_ready(address: Address, settings: dict[str, Any], arguments: argparse.Namespace) -> None:
    if arguments.json:
        ready = {
            "url": address.url,
            "host": address.host,
            "port": address.port,
            "docs": f"{address.url}/docs",
            "openapi": f"{address.url}/openapi.json",
            "target": settings["target"],
            "workers": arguments.workers,
            "pid": os.getpid(),
            "version": __version__,
        }
        print(json.dumps(ready))
    else:
        print(f"singletable {__version__} serves the API of {settings['design']} at {address.url}")
    sys.stdout.flush()
    if not arguments.json:
        say(f"what there is: {address.url}/docs")
    if settings["auth"] is None and settings["jwt"] is None:
        say("warning: there is no authentication: everybody at this machine may do everything on it")


def _require_packages() -> None:
    for name in ("fastapi", "uvicorn"):
        if find_spec(name) is None:
            raise WrongUseError(
                f"an API needs {name}, which is not installed", hint='pip install "singletable[api]"'
            )


def _workers(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _WORKERS_MAX):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes from 1 to {_WORKERS_MAX}")
    return int(text)
