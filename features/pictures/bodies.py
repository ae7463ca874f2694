"""The body of a request for a form that sends a picture."""

from __future__ import annotations

from shared.api.fields import Body, DealId


class NewPicture(Body):
    """Request a form that uploads a deal's picture."""

    deal_id: DealId
