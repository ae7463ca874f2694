"""The front page by a service: FastAPI on uvicorn, SQLAlchemy's asynchronous ORM, PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, FastAPI
from pydantic import BaseModel, ConfigDict
from sqlalchemy import ForeignKey, Index, select
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

engine = create_async_engine(os.environ["DATABASE_URL"])
sessions = async_sessionmaker(engine, expire_on_commit=False)


class Base(DeclarativeBase):
    pass


class Deal(Base):
    __tablename__ = "deals"
    __table_args__ = (Index("latest", "createdAt", "dealId"),)

    dealId: Mapped[str] = mapped_column(primary_key=True)
    dealNumber: Mapped[int]
    title: Mapped[str]
    link: Mapped[str]
    image: Mapped[str | None]
    price: Mapped[str]
    listPrice: Mapped[str | None]
    currency: Mapped[str]
    discountPercent: Mapped[int | None]
    brandSlug: Mapped[str]
    brandName: Mapped[str]
    category: Mapped[str]
    createdAt: Mapped[str]
    updatedAt: Mapped[str | None]
    expiresAt: Mapped[str | None]
    status: Mapped[str]
    hot: Mapped[bool]
    description: Mapped[str | None]
    couponCode: Mapped[str | None]
    variant: Mapped[str | None]
    sourceId: Mapped[str | None]
    stock: Mapped[str | None]
    picture: Mapped[str | None]

    @property
    def brand(self) -> dict[str, str]:
        return {"brand": self.brandSlug, "name": self.brandName}


class Featured(Base):
    __tablename__ = "featured"

    position: Mapped[int] = mapped_column(primary_key=True)
    dealId: Mapped[str] = mapped_column(ForeignKey("deals.dealId"))


class BrandOut(BaseModel):
    brand: str
    name: str


class DealOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    dealId: str
    dealNumber: int
    title: str
    link: str
    image: str | None
    price: str
    listPrice: str | None
    currency: str
    discountPercent: int | None
    brand: BrandOut
    category: str
    createdAt: str
    updatedAt: str | None
    expiresAt: str | None
    status: str
    hot: bool
    description: str | None
    couponCode: str | None
    variant: str | None
    sourceId: str | None
    stock: str | None
    picture: str | None


class Page(BaseModel):
    items: list[DealOut]
    next: str | None


class FrontPage(BaseModel):
    featured: list[DealOut]
    latest: Page


async def database() -> AsyncIterator[AsyncSession]:
    async with sessions() as session:
        yield session


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    yield


app = FastAPI(lifespan=lifespan)
Database = Annotated[AsyncSession, Depends(database)]


@app.get("/front-page", response_model=FrontPage)
async def front_page(session: Database, limit: int = 25) -> dict[str, Any]:
    running = (Deal.expiresAt.is_(None)) | (Deal.expiresAt > datetime.now(UTC).isoformat())
    featured = await session.scalars(
        select(Deal).join(Featured, Featured.dealId == Deal.dealId).where(running).order_by(Featured.position)
    )
    latest = await session.scalars(
        select(Deal).where(running).order_by(Deal.createdAt.desc(), Deal.dealId.desc()).limit(limit)
    )
    deals = latest.all()
    return {"featured": featured.all(), "latest": {"items": deals, "next": deals[-1].dealId}}


@app.post("/front-page")
async def fill(page: FrontPage, session: Database) -> None:
    """Take over the deals of a page."""
    for deal in {deal.dealId: deal for deal in [*page.featured, *page.latest.items]}.values():
        fields = deal.model_dump(exclude={"brand"})
        session.add(Deal(**fields, brandSlug=deal.brand.brand, brandName=deal.brand.name))
    await session.flush()
    for position, deal in enumerate(page.featured):
        session.add(Featured(position=position, dealId=deal.dealId))
    await session.commit()
