"""Mail through Amazon SES: the queue of mails, and the right to send."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ses as ses
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from features.mail.rights import Mail
from infra import nag
from infra.lambdas import PythonFunction, WorkQueue
from infra.nag import Acceptance, accept
from infra.site import Site
from infra.stage import Stage

MAILERS = 2
"""Mailers at once, Lambda's minimum: SES's quota of mails a second is for the account, so more would wait for it.
https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas.html"""

_KEY_OF_REPORTS = Acceptance(
    "A report of SES names an address for a moment, and SNS's disks are encrypted. A key would cost $1 a month.",
    "CKV_AWS_26",
)

ASKING = ("accounts", "account", "mailer")
"""The functions that put mail into the queue."""

DIGESTS = {"kind": "digests", "to": "", "accountId": "", "at": events.EventField.time}
"""The message that the clock queues each hour (``features/mail/data/mailing.py`` reads it)."""


def add(stack: Stack, site: Site) -> None:
    """Add what sends mail if the stage names a sender."""
    if mail := site.stage.option(Mail):
        site.work.append(MailSending(stack, stage=site.stage, mail=mail, functions=site.by_name).queue)


class MailSending(Construct):
    """The mail queue, the function that sends, and SES's resources other than the sender's identity.

    The identity is made by hand: it belongs to the account, and stages share a domain (``features/mail/README.md``).
    """

    def __init__(self, scope: Construct, *, stage: Stage, mail: Mail, functions: Mapping[str, PythonFunction]) -> None:
        super().__init__(scope, "Mail")
        self.mailer = functions["mailer"]
        self.queue = WorkQueue(
            self,
            "Queue",
            stage=stage,
            name="mail",
            worker=self.mailer,
            workers=MAILERS,
            senders=[functions[name] for name in ASKING],
            variable="MAIL_QUEUE_URL",
        )
        configuration = ses.ConfigurationSet(
            self, "Set", configuration_set_name=stage.stack_name, tls_policy=ses.ConfigurationSetTlsPolicy.REQUIRE
        )
        resources = _sent_with(Stack.of(self), mail, configuration)
        if stage.emulated:
            ses.CfnEmailIdentity(self, "Identity", email_identity=mail.domain)
            resources = ["*"]  # MiniStack requires no less, and doesn't pass on a mail's sender
            accept(self.mailer.role, nag.MINISTACK_ASKS_ON_EVERYTHING)
        # Only as this sender. A request's configuration set is authorized, too:
        # https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsimpleemailservicev2.html
        self.mailer.function.add_to_role_policy(
            iam.PolicyStatement(
                actions=["ses:SendEmail"],
                resources=resources,
                conditions={"StringEqualsIfExists": {"ses:FromAddress": mail.sender}},
            )
        )
        self._subscribe(configuration)
        events.Rule(
            self,
            "EachHour",
            description="Mails the day's messages to those who want them at this hour",
            schedule=events.Schedule.cron(minute="0"),
            enabled=not stage.standby,
            targets=[
                targets.SqsQueue(
                    self.queue.queue,
                    message=events.RuleTargetInput.from_object(DIGESTS),
                    dead_letter_queue=self.queue.dead_letters,
                )
            ],
        )
        variables = {
            "MAIL_SENDER": f"Big Time Deals <{mail.sender}>",
            "MAIL_REPLY_TO": mail.reply_to or mail.sender,
            "MAIL_POSTAL_ADDRESS": mail.postal_address,
            "MAIL_CONFIGURATION_SET": configuration.configuration_set_name,
        }
        for name, value in variables.items():
            self.mailer.function.add_environment(name, value)

    def _subscribe(self, configuration: ses.ConfigurationSet) -> None:
        """Queue bounces and complaints, which SES publishes to a topic.

        https://docs.aws.amazon.com/ses/latest/dg/event-publishing-add-event-destination-sns.html
        """
        topic = sns.Topic(self, "Reports", enforce_ssl=True)
        accept(topic, _KEY_OF_REPORTS)
        topic.add_subscription(
            subscriptions.SqsSubscription(
                self.queue.queue, raw_message_delivery=True, dead_letter_queue=self.queue.dead_letters
            )
        )
        configuration.add_event_destination(
            "Reports",
            destination=ses.EventDestination.sns_topic(topic),
            events=[ses.EmailSendingEvent.BOUNCE, ses.EmailSendingEvent.COMPLAINT],
        )


def _sent_with(stack: Stack, mail: Mail, configuration: ses.ConfigurationSet) -> list[str]:
    """The ARNs of what a mail is sent with. An address that was verified itself takes the place of its domain.

    https://docs.aws.amazon.com/ses/latest/dg/creating-identities.html
    """
    names = (f"identity/{mail.domain}", f"identity/{mail.sender}")
    return [
        stack.format_arn(service="ses", resource=name)
        for name in (*names, f"configuration-set/{configuration.configuration_set_name}")
    ]
