"""Rules for mail's paths."""

PASSWORD_PATHS = ("/passwords", "/password-resets")
SIGNED_PATHS = ("/account/unsubscribe",)
