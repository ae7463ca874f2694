"""An editor's change reaches, by itself, the copies of picked deals on the curated pages."""

from __future__ import annotations

from tests.support.site import Visitor, a_deal
from tests.support.waiting import eventually

PAGES = ("/front-page", "/editors-choice", "/categories/accessories")


def test_a_picked_deal_that_is_withdrawn_leaves_the_pages_within_seconds(
    editor: Visitor, visitor: Visitor, brand: str
) -> None:
    posted = [editor.post("/deals", json=a_deal(brand, category="accessories")).json()["dealId"] for _ in range(5)]
    for page in PAGES:
        editor.put(f"{page}/featured", json={"dealIds": posted})
        eventually(lambda page=page: featured(visitor, page), lambda ids: ids == posted)  # type: ignore[misc]

    editor.patch(f"/deals/{posted[2]}", json={"withdrawn": True})

    for page in PAGES:
        eventually(lambda page=page: featured(visitor, page), lambda ids: ids == [*posted[:2], *posted[3:]])  # type: ignore[misc]


def featured(visitor: Visitor, page: str) -> list[str]:
    return [deal["dealId"] for deal in visitor.get(page).json()["featured"]]
