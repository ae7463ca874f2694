"""The front page in HTML by Django: its ORM and templates, on the tables that ``fastapi_postgres`` has filled."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from urllib.parse import urlsplit

import django
from cards import card
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

address = urlsplit(os.environ["DATABASE_URL"])
settings.configure(
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="of no use here",
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": address.path.strip("/"),
            "USER": address.username,
            "HOST": address.hostname,
            "PORT": address.port,
            "CONN_MAX_AGE": None,
        }
    },
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "DIRS": [Path(__file__).parent / "templates", os.environ["AROUND"]],
        }
    ],
)
django.setup()

from django.db import models  # noqa: E402  # models need the settings
from django.db.models import Q  # noqa: E402  # the same


class Deal(models.Model):
    dealId = models.TextField(primary_key=True)
    dealNumber = models.IntegerField()
    title = models.TextField()
    link = models.TextField()
    image = models.TextField(null=True)
    price = models.TextField()
    listPrice = models.TextField(null=True)
    currency = models.TextField()
    discountPercent = models.IntegerField(null=True)
    brandSlug = models.TextField()
    brandName = models.TextField()
    category = models.TextField()
    createdAt = models.TextField()
    expiresAt = models.TextField(null=True)
    status = models.TextField()
    hot = models.BooleanField()
    description = models.TextField(null=True)
    couponCode = models.TextField(null=True)
    sourceId = models.TextField(null=True)
    stock = models.TextField(null=True)

    class Meta:
        app_label = "deals"
        db_table = "deals"
        managed = False


class Featured(models.Model):
    position = models.IntegerField(primary_key=True)
    deal = models.ForeignKey(Deal, models.CASCADE, db_column="dealId")

    class Meta:
        app_label = "deals"
        db_table = "featured"
        managed = False


def front_page(request: HttpRequest) -> HttpResponse:
    now = datetime.now(UTC).isoformat()
    picks = (
        Featured.objects.select_related("deal")
        .filter(Q(deal__expiresAt=None) | Q(deal__expiresAt__gt=now))
        .order_by("position")
    )
    newest = Deal.objects.filter(Q(expiresAt=None) | Q(expiresAt__gt=now)).order_by("-createdAt", "-dealId")
    days = [
        {"name": name, "cards": list(cards)}
        for name, cards in groupby(map(card, newest[: int(request.GET["latest"])]), key=lambda shown: shown["day"])
    ]
    return render(request, "front.html", {"picks": [card(pick.deal) for pick in picks], "days": days})


def process(_request: HttpRequest) -> HttpResponse:
    """The number of the process that answers: gunicorn's own only starts it."""
    return HttpResponse(str(os.getpid()))


urlpatterns = [path("", front_page), path("process", process)]
application = get_wsgi_application()
