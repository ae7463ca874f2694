"""The bucket of uploads and pictures, and the queue between the two."""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import Aws, CfnOutput, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from features.pictures.hosts import HOSTS
from features.pictures.models import BUCKET, PICTURES, QUEUE, UPLOADS
from features.pictures.rights import FILES, FetchedPictures
from infra import nag
from infra.encryption import RECEIVES, SENDS, may_use
from infra.lambdas import PythonFunction, WorkQueue
from infra.nag import Acceptance, accept
from infra.site import Site
from infra.stage import EVERY_ORIGIN, Stage
from infra.storage import A_DAY, Bucket

BUCKET_OUTPUT = "PicturesBucket"
"""The stack's output with the bucket's name."""


_PICTURES_OF_DEALS = Acceptance(
    "It holds what everyone may see, each file written once under its content's hash, and uploads for a day. "
    "CloudTrail can tell who writes them.",
    *nag.NO_LOG_NO_VERSIONS,
)
_LOCAL_BUCKET_WITHOUT_TLS = Acceptance(
    "The local cloud is reached without TLS, on this machine only.", "AwsSolutions-S10"
)
_UPLOADS_BY_ID = Acceptance(
    "A file's name is the id of an upload.", "AwsSolutions-IAM5[Resource::<PictureFilesBucket1709A7C0.Arn>/uploads/*]"
)
_PICTURES_BY_HASH = Acceptance(
    "A file's name holds its content's hash.",
    "AwsSolutions-IAM5[Resource::<PictureFilesBucket1709A7C0.Arn>/pictures/*]",
)


def _of_key(function: str) -> tuple[str, ...]:
    """What a function needs of the key that encrypts the bucket: tags of objects are not encrypted."""
    actions = {action for action, _ in FILES[function]}
    return SENDS if "s3:PutObject" in actions else RECEIVES if "s3:GetObject" in actions else ()


def add(stack: Stack, site: Site) -> None:
    """Add the bucket, and the resizer's queue of uploads and fetches."""
    fetched = site.stage.option(FetchedPictures)
    pictures = Pictures(stack, stage=site.stage, functions=site.functions)
    uploads = WorkQueue(
        stack,
        "Uploads",
        stage=site.stage,
        name="uploads",
        worker=site.by_name["resizer"],
        workers=site.stage.workers,
        batch_size=1,  # a picture takes a function's whole memory
        senders=[site.by_name["expiry"]] if fetched else (),
        variable=QUEUE,
    )
    for name in ("publisher", "expiry", "resizer") if fetched else ():
        site.by_name[name].function.add_environment(HOSTS, " ".join(fetched.hosts if fetched else ()))
    pictures.notify(uploads)
    site.work.append(uploads)


class Pictures(Construct):
    """A private bucket: readers get pictures from a function, and editors upload with forms that functions sign.

    An upload is deleted after a day. An unused picture is tagged, and deleted once it is a day old. S3 rounds that day
    up to the next midnight UTC, and may delete the file later.
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/intro-lifecycle-rules.html
    """

    def __init__(self, scope: Construct, *, stage: Stage, functions: Iterable[PythonFunction]) -> None:
        super().__init__(scope, "PictureFiles")
        self.bucket = Bucket(
            self,
            "Bucket",
            s3.LifecycleRule(prefix=UPLOADS, expiration=A_DAY),
            s3.LifecycleRule(prefix=PICTURES, tag_filters={"replaced": "yes"}, expiration=A_DAY),
            s3.LifecycleRule(abort_incomplete_multipart_upload_after=A_DAY),
            stage=stage,
            tls=not stage.emulated,
            # The gateway's own address isn't known here, because its functions know the bucket. A form is signed, so
            # its origin needn't prove anything.
            cors=[s3.CorsRule(allowed_methods=[s3.HttpMethods.POST], allowed_origins=[stage.origin or EVERY_ORIGIN])],
        )
        accept(self.bucket, _PICTURES_OF_DEALS)
        if stage.emulated:
            accept(self.bucket, _LOCAL_BUCKET_WITHOUT_TLS)
        CfnOutput(Stack.of(self), BUCKET_OUTPUT, value=self.bucket.bucket_name)
        for each in functions:
            for action, folder in FILES.get(each.row.name, ()):
                everything_in_it = self.bucket.arn_for_objects(f"{folder}*")
                each.function.add_to_role_policy(iam.PolicyStatement(actions=[action], resources=[everything_in_it]))
                accept(each.role, _UPLOADS_BY_ID if folder == UPLOADS else _PICTURES_BY_HASH)
            if each.row.name in FILES:
                may_use(each.role, stage, "s3", *_of_key(each.row.name))
                each.function.add_environment(BUCKET, self.bucket.bucket_name)

    def notify(self, work: WorkQueue) -> None:
        """Have S3 notify a queue of each upload. Any bucket of this account may: the policy must exist before the
        bucket, so it can't name it.

        https://docs.aws.amazon.com/AmazonS3/latest/userguide/grant-destinations-permissions-to-s3.html
        """
        allowed = work.queue.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("s3.amazonaws.com")],
                actions=["sqs:SendMessage"],
                resources=[work.queue.queue_arn],
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            )
        )
        resource = self.bucket.node.default_child
        assert isinstance(resource, s3.CfnBucket)  # noqa: S101  # a Bucket is this one resource
        # Set here instead of by the CDK's notifications, which would need a function of their own.
        uploads = {"s3Key": {"rules": [{"name": "prefix", "value": UPLOADS}]}}
        resource.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            queue_configurations=[{"event": "s3:ObjectCreated:*", "queue": work.queue.queue_arn, "filter": uploads}]
        )
        if allowed.policy_dependable is not None:
            resource.node.add_dependency(allowed.policy_dependable)
