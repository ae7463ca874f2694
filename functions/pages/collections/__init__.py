"""The table as it is: its entities, its item collections drawn as people draw single tables, and what a form took.

Only stages that show their work have this function. Everybody may look on the laptop, elsewhere editors; what a form
took is for the holder of its id. Its role reads no password, no address and no email address; of sessions it reads the
one whose token it is shown.
"""

from __future__ import annotations

from functions.pages.collections import browser, code, walk
from shared.html.app import serve

handler = serve(browser.routes, code.routes, walk.routes)
