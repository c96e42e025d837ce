"""Whose an item is, told by its keys: the constant text before the owner's value, and what follows it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.blueprint import (
    EntityBlueprint,
    KeyBlueprint,
    KeyPart,
    OwnerLead,
    PlaceBlueprint,
    led_by_owner,
    owner_lead,
)


def place(template: str | None, *parts: KeyPart) -> PlaceBlueprint:
    return PlaceBlueprint("key", KeyBlueprint(("PK",), template, parts))


def owned(by: str | None = "user_id") -> EntityBlueprint:
    return EntityBlueprint("Batch", "Batch", owner=by)


USER = KeyPart("user_id", "str", "user_id")


@pytest.mark.parametrize(
    ("template", "lead"),
    [
        ("USER#{user_id}", OwnerLead("USER#")),
        ("{user_id}", OwnerLead("")),
        ("USER#{user_id}#FAVORITE", OwnerLead("USER#", "#FAVORITE")),
        ("VOTE#{user_id}#{target_id}", OwnerLead("VOTE#", "#{target_id}")),
        ("{{U}}#{user_id}", OwnerLead("{U}#")),
        ("TENANT#{tenant}#USER#{user_id}", None),
        ("BATCH#{batch_id}", None),
        ("BATCHES", None),
        ("USER#{user_id:05}", None),
        ("USER#{user_id}{batch_id}", None),
    ],
)
def test_owner_leads_a_key_behind_constant_text_alone(template: str, lead: OwnerLead | None) -> None:
    assert owner_lead(owned(), place(template, USER)) == lead
    assert led_by_owner(owned(), place(template, USER)) == (lead is not None)
    # A key of a document may have no parts: a placeholder is the field of its name.
    assert owner_lead(owned(), place(template)) == lead


@pytest.mark.parametrize(
    "part",
    [
        KeyPart("user_id", "int", "user_id", shards=4),
        KeyPart("user_id", "str", "user_id", letters=2),
        KeyPart("user_id", "str", "user_id", bucket="day"),
        KeyPart("user_id", "str", "friend_id"),
    ],
    ids=["shard", "letters", "bucket", "other field"],
)
def test_what_is_worked_out_of_the_owner_is_not_the_owner(part: KeyPart) -> None:
    assert not led_by_owner(owned(), place("USER#{user_id}", part))


def test_part_of_another_name_is_the_owner_whose_field_it_reads() -> None:
    assert led_by_owner(owned(), place("USER#{id}", KeyPart("id", "str", "user_id")))


def test_key_without_a_template_is_the_value_itself() -> None:
    assert owner_lead(owned(), place(None, USER)) == OwnerLead("")
    assert not led_by_owner(owned(), place(None, USER, KeyPart("batch_id", "str", "batch_id")))


def test_entity_without_an_owner_is_led_by_nobody() -> None:
    assert not led_by_owner(owned(None), place("USER#{user_id}", USER))


def test_leading_text_takes_a_variable_of_a_policy() -> None:
    assert OwnerLead("USER#").leading("${cognito:sub}") == "USER#${cognito:sub}"
    assert OwnerLead("VOTE#", "#{target_id}").leading("${cognito:sub}") == "VOTE#${cognito:sub}#"
    assert OwnerLead("USER#", "#FAVORITE").leading("u1") == "USER#u1#FAVORITE"


TEXTS = st.text("AZ#-", max_size=6)


@given(before=TEXTS, after=TEXTS, owner=st.text("abc", min_size=1), other=st.text("xyz", min_size=1))
def test_every_key_of_an_owner_begins_with_what_leads_it(
    before: str, after: str, owner: str, other: str
) -> None:
    follows = f"{after}{{other}}" if after else ""
    lead = owner_lead(owned(), place(f"{before}{{user_id}}{follows}"))
    assert lead == OwnerLead(before, follows)
    key = f"{before}{owner}{follows.replace('{other}', other)}"
    assert key.startswith(lead.leading(owner))
    assert re.sub(r"[a-c]+", "", lead.leading(owner)) == before + after
