"""Headers of every page: what a browser may load and run, what it tells other sites, how long it keeps a page.

``Referrer-Policy`` is not ``no-referrer``, which would make browsers send ``Origin: null`` with every form, and forms
would be refused.
"""

from __future__ import annotations

import os

from shared.http.answers import FRESH

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Only what the site itself serves, pictures too."""

SECURITY = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}

NO_DOCUMENTS = ("text/css", "text/javascript", "font/woff2", "image/webp")
"""Files that a browser does not show by themselves."""

OF_FILES = {name: SECURITY[name] for name in ("X-Content-Type-Options", "Cross-Origin-Resource-Policy")}
"""The headers that matter for files; the others would add a kilobyte to every first view."""

SVG = "image/svg+xml"
OF_DRAWINGS = {**OF_FILES, "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
"""A drawing is a document as a page is, but for one that loads and runs nothing."""

TRANSPORT = {"Strict-Transport-Security": "max-age=31536000"}
"""Only where the site is reached over HTTPS; browsers ignore it elsewhere, and a laptop has no certificate.

It leaves out subdomains: those who serve them may have no HTTPS. CloudFront's can have them (``subdomains_too``)."""

PUBLIC = f"public, {FRESH}, stale-if-error=600"
"""A page that is the same for everybody: some seconds old at most, and the last good one while the table is away."""

PRIVATE = "no-store"
"""A page of one reader's own."""

IMMUTABLE = "public, max-age=31536000, immutable"
"""A file whose name holds the hash of its content."""

FOR_A_DAY = "public, max-age=86400"
"""For documents that change slowly and are read by machines."""


def content_policy(*, pictures_of: str = "", sends_to: str = "") -> str:
    """The policy of a page that also shows pictures of some hosts, or sends files to one."""
    return (
        CONTENT_SECURITY_POLICY.replace("img-src 'self'", f"img-src 'self' {pictures_of}".rstrip())
        .replace("connect-src 'self'", f"connect-src 'self' {sends_to}".rstrip())
        .replace("form-action 'self'", f"form-action 'self' {sends_to}".rstrip())
    )


def security(origin: str, media_type: str) -> dict[str, str]:
    """The headers of an answer, at a site with an origin (``https://deals.example``), or with none known."""
    kind = media_type.partition(";")[0]
    of_pages = SECURITY
    if os.environ.get("PICTURES_OF_OTHERS") == "true":
        of_pages = SECURITY | {"Content-Security-Policy": content_policy(pictures_of="https:")}
    of_kind = OF_FILES if kind in NO_DOCUMENTS else OF_DRAWINGS if kind == SVG else of_pages
    return of_kind | (TRANSPORT if origin.startswith("https:") else {})
