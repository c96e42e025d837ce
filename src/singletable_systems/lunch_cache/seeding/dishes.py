"""Husmanskost: dishes with what they are served with."""

from __future__ import annotations

from typing import Final, NamedTuple


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
