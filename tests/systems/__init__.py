"""What the tests of whole systems share: generated data, and answers by brute force."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("systems.pattern_proof")  # so that what differs is shown
