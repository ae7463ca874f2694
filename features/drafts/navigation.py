"""The link to drafts on the desk."""

TABS = {"desk": (("/desk/drafts", "Drafts"),)}
