"""The APIs of all designs: random requests are answered as the documents say, with no 5xx. `make test-api`."""

from __future__ import annotations

import contextlib
from collections import Counter
from datetime import date
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.requests import Request

from singletable.api import Api, Principal, app
from singletable.systems import installed_systems
from support.asking_api import SECRET

pytestmark = pytest.mark.api
EXAMPLES = 15


class Everybody:
    """Lets everybody do everything, wherever they seem to be."""

    challenge: str | None = None
    is_local = True

    async def principal(self, request: Request) -> Principal | None:
        return Principal("local", is_trusted=True)


@pytest.mark.parametrize("name", sorted(installed_systems()))
def test_random_requests_of_every_operation_are_answered(name: str) -> None:
    system = installed_systems()[name]
    environment: dict[str, Any] = dict(system.environment)
    with contextlib.ExitStack() as stack:
        db = stack.enter_context(system.design.open(":memory:", **environment))
        db.load(system.seed("small", date(2026, 1, 20)).entities, settled=True)
        made = app(db, Api.all(system.design), auth=Everybody(), cursor_secret=SECRET)
        schema = schemathesis.openapi.from_dict(made.openapi()).exclude(path="/changes")
        schema.app = made
        failed: list[str] = []
        statuses: Counter[int] = Counter()
        found: Any
        for found in schema.get_all_operations():
            operation = found.ok()

            @given(case=operation.as_strategy())
            @settings(
                max_examples=EXAMPLES,
                phases=[Phase.explicit, Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            def ask(case: Any) -> None:
                answer = case.call_and_validate(
                    base_url="http://localhost", excluded_checks=[positive_data_acceptance]
                )
                statuses[answer.status_code] += 1

            try:
                ask()
            except Exception as error:
                told = "\n".join(map(str, getattr(error, "exceptions", [error])))
                failed.append(f"{operation.label}: {told}")
        assert statuses[200] > 0
        assert statuses[422] > 0
        assert 403 not in statuses
        assert not failed, "\n\n".join(failed)
