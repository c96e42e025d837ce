"""The regions of AWS, and the places that people take them for."""

from __future__ import annotations

import re
from typing import Final

# From botocore's list of endpoints, in its words.
REGIONS: Final = {
    "af-south-1": "Africa (Cape Town)",
    "ap-east-1": "Asia Pacific (Hong Kong)",
    "ap-east-2": "Asia Pacific (Taipei)",
    "ap-northeast-1": "Asia Pacific (Tokyo)",
    "ap-northeast-2": "Asia Pacific (Seoul)",
    "ap-northeast-3": "Asia Pacific (Osaka)",
    "ap-south-1": "Asia Pacific (Mumbai)",
    "ap-south-2": "Asia Pacific (Hyderabad)",
    "ap-southeast-1": "Asia Pacific (Singapore)",
    "ap-southeast-2": "Asia Pacific (Sydney)",
    "ap-southeast-3": "Asia Pacific (Jakarta)",
    "ap-southeast-4": "Asia Pacific (Melbourne)",
    "ap-southeast-5": "Asia Pacific (Malaysia)",
    "ap-southeast-6": "Asia Pacific (New Zealand)",
    "ap-southeast-7": "Asia Pacific (Thailand)",
    "ca-central-1": "Canada (Central)",
    "ca-west-1": "Canada West (Calgary)",
    "eu-central-1": "Europe (Frankfurt)",
    "eu-central-2": "Europe (Zurich)",
    "eu-north-1": "Europe (Stockholm)",
    "eu-south-1": "Europe (Milan)",
    "eu-south-2": "Europe (Spain)",
    "eu-west-1": "Europe (Ireland)",
    "eu-west-2": "Europe (London)",
    "eu-west-3": "Europe (Paris)",
    "il-central-1": "Israel (Tel Aviv)",
    "me-central-1": "Middle East (UAE)",
    "me-south-1": "Middle East (Bahrain)",
    "mx-central-1": "Mexico (Central)",
    "sa-east-1": "South America (Sao Paulo)",
    "us-east-1": "US East (N. Virginia)",
    "us-east-2": "US East (Ohio)",
    "us-west-1": "US West (N. California)",
    "us-west-2": "US West (Oregon)",
    "cn-north-1": "China (Beijing)",
    "cn-northwest-1": "China (Ningxia)",
    "us-gov-east-1": "AWS GovCloud (US-East)",
    "us-gov-west-1": "AWS GovCloud (US-West)",
    "us-iso-east-1": "US ISO East",
    "us-iso-west-1": "US ISO WEST",
    "us-isob-east-1": "US ISOB East (Ohio)",
    "us-isob-west-1": "US ISOB West",
    "eu-isoe-west-1": "EU ISOE West",
    "us-isof-east-1": "US ISOF EAST",
    "us-isof-south-1": "US ISOF SOUTH",
    "eusc-de-east-1": "AWS European Sovereign Cloud (Germany)",
}
# Other names of the same places: the country of a city, the state of a part of the country.
_ALSO: Final = {
    "af-south-1": "South Africa",
    "ap-northeast-1": "Japan",
    "ap-northeast-2": "South Korea",
    "ap-northeast-3": "Japan",
    "ap-south-1": "India, Bombay",
    "ap-south-2": "India",
    "ap-southeast-2": "Australia, New South Wales",
    "ap-southeast-3": "Indonesia",
    "ap-southeast-4": "Australia, Victoria",
    "ap-southeast-5": "Kuala Lumpur",
    "ap-southeast-6": "Auckland",
    "ap-southeast-7": "Bangkok",
    "ca-central-1": "Montreal, Quebec",
    "ca-west-1": "Alberta",
    "eu-central-1": "Germany",
    "eu-central-2": "Switzerland",
    "eu-north-1": "Sweden, Nordics",
    "eu-south-1": "Italy",
    "eu-south-2": "Aragon, Zaragoza",
    "eu-west-1": "Dublin, Eire",
    "eu-west-2": "United Kingdom, England, Britain, UK",
    "eu-west-3": "France",
    "eusc-de-east-1": "Brandenburg",
    "me-central-1": "United Arab Emirates, Dubai",
    "mx-central-1": "Queretaro",
    "sa-east-1": "Brazil",
    "us-east-1": "Virginia, Ashburn",
    "us-west-1": "Northern California, San Francisco",
    "us-west-2": "Portland, Boardman",
    "cn-north-1": "Peking",
}
_WIDE: Final = frozenset(  # words that name no single region
    (
        "africa", "america", "asia", "aws", "canada", "central", "china", "cloud", "east", "europe", "european",
        "govcloud", "iso", "isob", "isoe", "isof", "israel", "mexico", "middle", "new", "north", "pacific",
        "south", "sovereign", "us", "west",
    )
)  # fmt: skip


def known_place(code: str) -> str:
    """Return what AWS calls a region; empty where there is none of that code."""
    return REGIONS.get(code, "")


def codes_at(place: str) -> frozenset[str]:
    """Return the regions that are at a place: by a city, a country, a state; none where it names no such."""
    said = _words(place)
    return frozenset(
        code
        for code, name in REGIONS.items()
        if any(each <= said for each in _names(f"{name}, {_ALSO.get(code, '')}"))
    )


def _names(text: str) -> list[frozenset[str]]:
    names = (_words(each) for each in re.split(r"[(),]", text))
    return [name for name in names if name and not name <= _WIDE]


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", text.lower().replace("ã", "a").replace("ü", "u")))
