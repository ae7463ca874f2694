"""What the shop adds to the core."""

from __future__ import annotations

from shared.features import DealList, Feature, News

FEATURE = Feature(
    does="carts, orders and stock of the deals that the site sells itself",
    order=-2,
    routes=("/shop", "/desk/shop", "/sold-here", "/orders", "/me/cart", "/me/addresses", "/open-orders", "/customers"),
    named=(
        *("orders", "shop", "sales", "cart", "stock", "data.orders", "Deals sold here"),
        *("btd addresses", "btd cart", "btd orders", "btd stock", "btd rush"),
    ),
    rows="features.shop.rights:",
    metrics="features.shop.metrics:",
    in_deals="features.shop.fields:",
    invariants="features.shop.invariants:Sales",
    holds_accounts={"OpenOrders": "features.shop.data.steps:OrdersRemain"},
    refreshes={"Stock": "stock"},
    news=(
        News(
            thing="order",
            kinds=("placed", "sent", "delivered", "cancelled", "corrected"),
            page="/shop/orders",
            why="Your order",
        ),
    ),
    tools="features.shop.workbench:",
    head_counts={"cart": "features.shop.data.carts:pieces"},
    api="features.shop.orders:app",
    answers="features.shop.answers:",
    in_answers="features.shop.api_fields:IN_ANSWERS",
    of_account="features.shop.api_fields:of_account",
    in_pages="shop/templates/in-pages.html",
    tabs={
        "sections": (("/sold-here", "Sold here"),),
        "desk": (("/desk/shop/orders", "Orders"),),
        "mine": (("/shop/cart", "Cart"), ("/shop/orders", "Orders"), ("/shop/addresses", "Addresses")),
    },
    lists=(
        DealList(
            path="/sold-here",
            read="features.shop.data.sold_here:listed",
            summary="List deals sold on this site",
            template="shop/templates/sold-here.html",
            description="The deals that you can buy on this site, newest first.",
        ),
    ),
    joins={
        "refresher": "features.shop.upkeep:Offered",
        "expiry": "features.shop.upkeep:measure",
    },
    paths={"private": ("/shop/",), "packed": ("/shop", "/shop/cart", "/desk/shop")},
    sample="features.shop.sample:stock_the_sample",
    benchmarks={"rush": "features.shop.benchmarks:main"},
)
