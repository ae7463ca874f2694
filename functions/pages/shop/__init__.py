"""The shop in a browser: the cart, the addresses, the checkout, and one's orders."""

from __future__ import annotations

from functions.pages.shop import addresses, cart, checkout, orders
from shared.html import forms
from shared.html.app import serve

handler = serve(cart.routes, addresses.routes, checkout.routes, orders.routes, guards=[forms.ours_only])
