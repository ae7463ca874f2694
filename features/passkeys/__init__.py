"""Passkeys: a second factor at sign-in, with recovery codes."""

DOES = "passkeys (WebAuthn) as a second factor at sign-in, which editors need, and recovery codes"
NEEDS = ()
JOINS = {"accounts": "api", "account": "pages"}
