"""What is true of the paths of mail."""

PASSWORD_PATHS = ("/passwords", "/password-resets")
SIGNED_PATHS = ("/account/unsubscribe",)
