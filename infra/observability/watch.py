"""The alarm topic, and a nested stack of alarms and dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import NestedStack
from constructs import Construct

from infra.observability.alarms import Alarms
from infra.observability.dashboard import Dashboard
from infra.observability.topic import AlarmTopic

if TYPE_CHECKING:
    from infra.observability.site import Site
    from infra.settings import Stage


class Observability(Construct):
    """Alarms, the topic that they notify, and a dashboard of all they watch.

    Alarms and dashboard are a nested stack: a stack has 500 resources at most, and these would be a hundred of them
    (https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html). What is watched goes
    there by parameters, so nothing is exported, and anything can be removed. The topic stays outside, so that its
    confirmed subscriptions stay.
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage, site: Site) -> None:
        super().__init__(scope, construct_id)
        self.topic = AlarmTopic(self, "Topic", stage=stage).topic
        watch = NestedStack(self, "Watch", description=f"Alarms and dashboard of {stage.stack_name}")
        alarms = Alarms(watch, "Alarms", stage=stage, site=site, topic=self.topic)
        Dashboard(watch, "Dashboard", stage=stage, site=site, alarms=alarms.alarms)
