"""The removal of a member's votes, which counts them off."""

from __future__ import annotations

from features.votes.data.keys import VOTE
from features.votes.data.votes import remove_some

REMOVERS = {VOTE: remove_some}
