"""The pytest plugin, as the tests of another project see it: in a directory of their own.

Tests of what the plugin loads start Python; the others, one that has boto3 and pytest loaded.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

from support.serving import TIMEOUT_S

TABLE = """
TABLE = {
    "TableName": "users",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
"""


def run_tests(directory: Path, source: str, *arguments: str, python: str | Path = sys.executable) -> str:
    """Run a module of tests with nothing but the plugins that are installed; return what pytest prints."""
    (directory / "test_users.py").write_text(TABLE + textwrap.dedent(source))
    # Assertions of a plugin that is loaded already cannot be rewritten.
    plain = () if python == sys.executable else ("--assert", "plain")
    done = subprocess.run(
        [python, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", *plain, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=directory,
        timeout=TIMEOUT_S * 3,
        check=False,
    )
    return done.stdout


def test_each_test_has_a_fresh_database(tmp_path: Path) -> None:
    said = run_tests(
        tmp_path,
        """
        import pytest

        @pytest.mark.parametrize("time", range(3))
        def test_empty_at_first(dynamodb, time):
            assert dynamodb.list_tables()["TableNames"] == []
            dynamodb.create_table(**TABLE)

        def test_boto3_is_not_loaded(dynamodb):
            import sys
            assert "botocore" not in sys.modules
        """,
    )
    assert "4 passed" in said, said


def test_client_and_resource_follow_the_database_of_the_test(tmp_path: Path, warm_programs: Path) -> None:
    said = run_tests(
        tmp_path,
        """
        import pytest
        from singletable.errors import DatabaseClosedError

        seen = []

        @pytest.fixture
        def users(dynamodb_client):
            dynamodb_client.create_table(**TABLE)

        @pytest.mark.parametrize("time", range(2))
        def test_all_three_are_one_database(dynamodb, users, dynamodb_client, dynamodb_resource, time):
            seen.append(dynamodb_client)
            assert dynamodb_client.list_tables()["TableNames"] == ["users"]
            dynamodb_resource.Table("users").put_item(Item={"id": "ada", "raw": b"1"})
            assert dynamodb_client.scan(TableName="users")["Items"] == [{"id": {"S": "ada"}, "raw": {"B": b"1"}}]
            assert dynamodb.scan(TableName="users")["Count"] == 1

        def test_resource_alone(dynamodb_resource):
            assert list(dynamodb_resource.tables.all()) == []

        def test_one_client_served_all_and_is_bound_to_none_now():
            assert seen[0] is seen[1]
            with pytest.raises(DatabaseClosedError, match="belongs to a test that is over"):
                seen[0].list_tables()
        """,
        python=warm_programs / "python",
    )
    assert "4 passed" in said, said


def test_other_fixture_of_the_name_is_told_from_ours(tmp_path: Path, warm_programs: Path) -> None:
    said = run_tests(
        tmp_path,
        """
        import pytest

        @pytest.fixture
        def dynamodb():
            return {}

        def test_own(dynamodb):
            assert dynamodb == {}

        def test_client(dynamodb_client):
            pass
        """,
        python=warm_programs / "python",
    )
    assert "1 passed, 1 error" in said, said
    assert "the fixture `dynamodb` gave dict, not a singletable.Database" in said


def test_handlers_of_one_test_do_not_reach_the_next(tmp_path: Path, warm_programs: Path) -> None:
    said = run_tests(
        tmp_path,
        """
        import pytest
        from botocore.exceptions import ClientError

        class Throttled:
            status_code = 400

        def throttle(**_):
            return Throttled(), {"Error": {"Code": "ThrottlingException", "Message": "slow down"}}

        def test_throttled(dynamodb_client, dynamodb_resource):
            for client in (dynamodb_client, dynamodb_resource.meta.client):
                client.meta.events.register("before-call.dynamodb", throttle)
                with pytest.raises(ClientError, match="slow down"):
                    client.list_tables()

        def test_not_throttled(dynamodb_client, dynamodb_resource):
            assert dynamodb_client.list_tables()["TableNames"] == []
            assert list(dynamodb_resource.tables.all()) == []
        """,
        python=warm_programs / "python",
    )
    assert "2 passed" in said, said


def test_coroutines_and_patches_work_with_the_fixtures(tmp_path: Path, warm_programs: Path) -> None:
    said = run_tests(
        tmp_path,
        """
        import asyncio
        import boto3, pytest, singletable

        @pytest.fixture
        def patched(dynamodb):
            with singletable.patch(dynamodb):
                yield

        def list_users():
            return boto3.resource("dynamodb").Table("users").scan()["Items"]

        def test_code_that_builds_its_own_client(dynamodb_client, patched):
            dynamodb_client.create_table(**TABLE)
            dynamodb_client.put_item(TableName="users", Item={"id": {"S": "ada"}})
            assert list_users() == [{"id": "ada"}]

        def test_coroutine(dynamodb, dynamodb_client):
            dynamodb.create_table(**TABLE)

            async def write(name):
                await asyncio.to_thread(dynamodb_client.put_item, TableName="users", Item={"id": {"S": name}})

            async def main():
                await asyncio.gather(*map(write, "abc"))

            asyncio.run(main())
            assert dynamodb.scan(TableName="users")["Count"] == 3
        """,
        python=warm_programs / "python",
    )
    assert "2 passed" in said, said


def test_client_and_resource_follow_a_database_of_the_project(tmp_path: Path, warm_programs: Path) -> None:
    said = run_tests(
        tmp_path,
        """
        import pytest, singletable

        @pytest.fixture
        def dynamodb(tmp_path):
            with singletable.Database.open(tmp_path / "own.db", region="eu-west-1") as database:
                database.create_table(**TABLE)
                yield database

        def test_follows(dynamodb_client, dynamodb_resource):
            assert dynamodb_client.list_tables()["TableNames"] == ["users"]
            assert dynamodb_client.meta.region_name == "eu-west-1"
            assert [table.name for table in dynamodb_resource.tables.all()] == ["users"]
        """,
        python=warm_programs / "python",
    )
    assert "1 passed" in said, said


def test_workers_of_xdist_have_their_own(tmp_path: Path) -> None:
    said = run_tests(
        tmp_path,
        """
        import pytest

        @pytest.mark.parametrize("time", range(20))
        def test_empty_at_first(dynamodb_client, time):
            assert dynamodb_client.list_tables()["TableNames"] == []
            dynamodb_client.create_table(**TABLE)
        """,
        "-n",
        "2",
    )
    assert "20 passed" in said, said


def test_without_boto3_the_database_works_and_the_client_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        'import sys\nsys.modules["boto3"] = sys.modules["botocore"] = None\n'
    )
    said = run_tests(
        tmp_path,
        """
        def test_database(dynamodb):
            dynamodb.create_table(**TABLE)

        def test_client(dynamodb_client):
            pass
        """,
    )
    assert "1 passed, 1 error" in said, said
    assert "boto3 is not installed; run: pip install 'singletable[boto3]'" in said


def test_plugin_loads_nothing_heavy(tmp_path: Path) -> None:
    """Every run of pytest pays for it, also where no test asks for a fixture."""
    said = run_tests(
        tmp_path,
        """
        import sys
        import pytest

        def test_plugin_is_loaded():
            assert "singletable.testing.plugin" in sys.modules

        @pytest.mark.parametrize("heavy", ["apsw", "orjson", "boto3", "botocore", "singletable.database"])
        def test_not_loaded(heavy):
            assert heavy not in sys.modules
        """,
    )
    assert "6 passed" in said, said


def test_fixtures_are_listed_with_what_they_are(tmp_path: Path, warm_programs: Path) -> None:
    said = run_tests(tmp_path, "def test_nothing(): pass", "--fixtures", python=warm_programs / "python")
    assert "A singletable.Database in memory, empty, for this test alone." in said
    assert "A boto3 client that the `dynamodb` of this test answers, without a network." in said
    assert "_singletable_clients" not in said
