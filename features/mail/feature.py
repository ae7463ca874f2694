"""Mail by Amazon SES: links to new passwords, proved addresses, notices, the day's messages."""

from __future__ import annotations

from shared.features import Feature

FEATURE = Feature(
    does="mail by Amazon SES: links to new passwords, proved addresses, notices, the day's messages",
    metrics="features.mail.sending:",
    in_account="features.mail.models:MailSettings",
    on_account="features.mail.api:on_account",
    in_answers="features.mail.fields:IN_ANSWERS",
    in_bodies={"AccountChange": "features.mail.fields:DigestChange"},
    of_account="features.mail.fields:of_account",
    paths={"password": ("/passwords", "/password-resets"), "signed": ("/account/unsubscribe",)},
    joins={"accounts": "features.mail.api:", "account": "features.mail.pages:"},
    in_pages="mail/templates/in-pages.html",
    local_pages={"/mail": "features.mail.mailbox:show"},
)
