"""Pictures of item collections: of a design, or of the items that a table holds, as SVG and as HTML.

picture.py          a picture as data: views, collections, rows
from_design.py      the picture of a blueprint, with design_keys.py, design_conditions.py, design_rows.py and
                    design_patterns.py
from_items.py       the picture of real items, with item_values.py
sampling.py         the choice of items that a picture shows
colours.py          the colour of each entity
texts.py            the width of texts, where they are cut, and which characters can be shown
svg.py              a picture as an SVG file, for pages that show images, with svg_layout.py and svg_canvas.py
html.py             a picture as one HTML file, with page.css and page.js inside

svg and html know only pictures, no designs. from_design, from_items and sampling know nothing of SVG or HTML.
"""

from __future__ import annotations

from singletable.drawing.from_design import draw_design
from singletable.drawing.from_items import draw_items
from singletable.drawing.html import html
from singletable.drawing.picture import (
    Attribute,
    Collection,
    Key,
    Pattern,
    Picture,
    Piece,
    Row,
    View,
    picture_data,
)
from singletable.drawing.sampling import Limits
from singletable.drawing.svg import svg

__all__ = [
    "Attribute",
    "Collection",
    "Key",
    "Limits",
    "Pattern",
    "Picture",
    "Piece",
    "Row",
    "View",
    "draw_design",
    "draw_items",
    "html",
    "picture_data",
    "svg",
]
