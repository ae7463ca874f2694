"""The stages, each with its settings. A stage is deployed with ``cdk deploy -c stage=NAME``."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from infra.stage import ON_LAMBDA, Domain, Stage, Watch, this_machine
from shared import features, hooks

_STAGES = (
    Stage(
        name="dev",
        target=ON_LAMBDA,
        keeps_data=False,
        throttle_rate=10,
        throttle_burst=20,
        sign_in_rate=2,
        sign_in_burst=5,
        log_retention_days=7,
        log_level="DEBUG",
        shows_work=True,
        watch=Watch.NOTHING,
    ),
    Stage(
        name="prod",
        target=ON_LAMBDA,
        keeps_data=True,
        # The most that a client can cost: docs/cost.md has a day at this rate. Raise it with the traffic.
        throttle_rate=100,
        throttle_burst=200,
        # Each takes a whole processor for a moment.
        sign_in_rate=5,
        sign_in_burst=10,
        log_retention_days=90,
    ),
    Stage(
        name="local",
        target=this_machine(),
        keeps_data=False,
        throttle_rate=10_000,
        throttle_burst=5_000,
        sign_in_rate=10_000,
        sign_in_burst=5_000,
        log_retention_days=1,
        shows_work=True,
        table_name="big-time-deals",
        # Eight hexadecimal digits: the local cloud serves <id>.execute-api.localhost only for such ids.
        api_id="b16dea15",
        site_id="b16dea16",
        # Browsers resolve *.localhost to this machine. The local cloud requires a certificate and doesn't use it.
        domain=Domain(
            "bigtimedeals.localhost",
            "arn:aws:acm:us-east-1:000000000000:certificate/00000000-0000-0000-0000-000000000000",
        ),
        site_origin="http://bigtimedeals.localhost:4566",
        # MiniStack can't update a nested stack: it forgets the names of unchanged resources.
        watch=Watch.NOTHING,
        emulated=True,
        slowness=3,
    ),
)


def _with_features(stage: Stage) -> Stage:
    """A stage with the settings that features give it, unless it has its own of that kind."""
    given = chain.from_iterable(each.STAGES.get(stage.name, ()) for each in features.roles(hooks.Rights))
    own = {type(each) for each in stage.options}
    return replace(stage, options=(*stage.options, *(each for each in given if type(each) not in own)))


STAGES = {stage.name: _with_features(stage) for stage in _STAGES}
