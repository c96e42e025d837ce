"""Scrapes as a parser makes them of the page of a restaurant, mistakes included."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final, NamedTuple

from singletable_systems.lunch_cache.model.keys import slug
from singletable_systems.lunch_cache.model.weeks import Week
from singletable_systems.lunch_cache.services.menus import Scrape

_WEEKDAYS: Final = ("måndag", "tisdag", "onsdag", "torsdag", "fredag")
_PRICES: Final = ("{}", "{} kr", "{}:-", "{},00")
# Flaws: the place of a dish in the week, and the values that are found instead of the right ones.
_FLAWS: Final[tuple[tuple[int, dict[str, Any]], ...]] = (
    (4, {"price": "Fråga i kassan"}),
    (7, {"name": ""}),
    (10, {"weekday": "imorgon", "price": None}),
)
_FLAWED_EVERY: Final = 5  # of so many restaurants, one has a page that is hard to read


def scrape(place: str, number: int, week: Week, day: datetime) -> Scrape:
    """Make up the scrape of a restaurant's week, made on the morning of a day."""
    name = slug(place)
    chance = Random(f"{name} {week}")
    morning = day + timedelta(hours=5, minutes=number % 180, seconds=chance.randrange(60))
    found = list(_lunches(place, week, Random(name).randrange(100, 161, 5), chance))
    if number % _FLAWED_EVERY == _FLAWED_EVERY - 1:
        at, flaw = chance.choice(_FLAWS)
        found[at] |= flaw
    return Scrape(
        place,
        found,
        scraped_at=morning,
        week=week,
        source=f"{name}-parser",
        last_updated=morning - timedelta(hours=chance.randrange(1, 48)),
    )


def _lunches(place: str, week: Week, price: int, chance: Random) -> Iterator[dict[str, Any]]:
    """Return the lunches of a week: every day meat, fish and greens; on Thursdays what all Sweden eats."""
    written = chance.choice(_PRICES)
    of_week = [chance.sample(dishes, len(_WEEKDAYS)) for dishes in (MEAT, FISH, GREEN)]
    for weekday, *dishes in zip(_WEEKDAYS, *of_week, strict=True):
        for more, dish in zip((0, 5, -5), dishes, strict=True):
            name, description = THURSDAY if weekday == "torsdag" and not more else dish
            yield {
                "name": name,
                "description": description,
                "price": written.format(price + more),
                "weekday": weekday,
                "week": f"v. {week.number}",
                "place": place,
            }


# --- husmanskost: dishes with what they are served with -------------------------------------------------


class Dish(NamedTuple):
    """A dish, as a menu has it."""

    name: str
    description: str


MEAT: Final = (
    Dish("Köttbullar med gräddsås", "Serveras med kokt potatis och lingonsylt"),
    Dish("Raggmunk med stekt fläsk", "Rårörda lingon och riven morot"),
    Dish("Pannbiff med lök", "Skysås, kokt potatis och pressgurka"),
    Dish("Kalops", "Långkok med kryddpeppar, rödbetor och potatis"),
    Dish("Kåldolmar", "Gräddsås, lingon och kokt potatis"),
    Dish("Wallenbergare", "Potatispuré, gröna ärter och skirat smör"),
    Dish("Biff Rydberg", "Senapskräm, äggula och stekt lök"),
    Dish("Pytt i panna", "Stekt ägg och inlagda rödbetor"),
    Dish("Dillkött på kalv", "Ris och sötsyrlig dillsås"),
    Dish("Rotmos med fläsklägg", "Tre sorters senap"),
    Dish("Isterband", "Dillstuvad potatis och rödbetor"),
    Dish("Kyckling i ugn med rosmarin", "Rostade rotfrukter och citronaioli"),
    Dish("Älgfärsbiffar", "Svampsås, gelé och potatismos"),
    Dish("Skånsk kroppkaka", "Rökt fläsk, brynt smör och lingon"),
)
FISH: Final = (
    Dish("Stekt strömming", "Potatismos, lingon och skirat smör"),
    Dish("Fiskgratäng med räkor", "Duchessepotatis och dill"),
    Dish("Ugnsbakad lax", "Kall dillsås, sparris och färskpotatis"),
    Dish("Panerad rödspätta", "Remouladsås och citron"),
    Dish("Kokt torsk med äggsås", "Ärter, morötter och kokt potatis"),
    Dish("Gravad lax", "Hovmästarsås och dillstuvad potatis"),
    Dish("Janssons frestelse", "Knäckebröd och lagrad ost"),
    Dish("Sejfilé med räksås", "Ris pilaff och broccoli"),
    Dish("Toast Skagen", "Handskalade räkor, löjrom och citron"),
    Dish("Fisksoppa med saffran", "Aioli och surdegsbröd"),
)
GREEN: Final = (
    Dish("Rödbetsbiffar med fetaost", "Kall yoghurtsås och rostad potatis"),
    Dish("Svampstroganoff", "Ris och saltgurka"),
    Dish("Morotsbiffar", "Tzatziki och quinoasallad"),
    Dish("Vegetarisk kålpudding", "Gräddsås på havre och lingon"),
    Dish("Broccoligratäng", "Västerbottensost och tomatsallad"),
    Dish("Potatisbullar", "Keso, lingon och smörstekt spetskål"),
    Dish("Linsgryta med kokos", "Naanbröd och koriander"),
    Dish("Ugnsrostad blomkål", "Hummus, granatäpple och mandel"),
    Dish("Halloumi med rotfrukter", "Pesto på grönkål"),
    Dish("Omelett med stuvad svamp", "Grönsallad och surdegsbröd"),
)
THURSDAY: Final = Dish("Ärtsoppa och pannkakor", "Punsch kan köpas till; sylt och grädde ingår")
