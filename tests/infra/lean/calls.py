"""Every call that functions make, made once. The test runs this module with an artifact's libraries and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shared import s3, ses, sqs
from shared.dynamodb import client
from shared.dynamodb.writes import delete, put, put_new, require, update
from shared.errors import DealsError
from shared.models.messages import Mail


class Refused(DealsError):
    """The refusal of a write."""


def make_all(name: str) -> dict[str, list[str]]:
    """The operations that were called, by service."""
    store = client.connect(name)
    made: dict[str, list[str]] = {"dynamodb": [], "s3": ["CreateBucket"], "sesv2": [], "sqs": []}
    note(store.client, made["dynamodb"])
    keys = [{"PK": "A#1", "SK": f"A#{number}"} for number in range(3)]

    store.write(put_new({**keys[0], "Title": "one", "Likes": 1}, refused=Refused("there")))
    assert refused(lambda: store.write(put_new(keys[0], refused=Refused("there"))))
    store.write(update(keys[0], "SET Title = :t", values={":t": "two"}, refused=None), returning="ALL_NEW")
    store.transact(put(keys[1], because="a test"), require(keys[0], "attribute_exists(PK)", refused=Refused("gone")))
    assert refused(lambda: store.transact(delete({"PK": "B", "SK": "B"}, refused=Refused("gone"))))
    assert store.insert_batch([keys[2], keys[0]]) == [None, "DuplicateItem"]
    store.write(put_new({"PK": "A#1", "SK": "A#3"}, refused=Refused("there")))
    store.delete_many([{"PK": "A#1", "SK": "A#3"}])
    found = store.get(keys[0], consistent=True)
    assert found is not None
    assert (found["Title"], found["Likes"]) == ("two", 1)
    assert len(store.get_many(keys)) == 3
    assert len(list(store.query("A#1"))) == 3
    assert len(store.scan()[0]) == 3
    assert store.roughly() >= 0
    store.write(delete(keys[0], refused=Refused("gone")))
    assert store.get(keys[0]) is None

    url = store.client.meta.endpoint_url + f"/000000000000/{name}"
    queue = sqs.connect(url)
    note(queue.client, made["sqs"])
    ask(
        store.client.meta.endpoint_url,
        "POST",
        "sqs",
        b'{"QueueName": "%s"}' % name.encode(),
        {"X-Amz-Target": "AmazonSQS.CreateQueue", "Content-Type": "application/x-amz-json-1.0"},
    )
    queue.send(["first", "second"])
    (first, second) = queue.receive()
    queue.release(first)
    queue.remove(second)
    assert [message.body for message in queue.receive()] == [first.body]

    bucket = s3.connect(name.lower())
    note(bucket.client, made["s3"])
    ask(store.client.meta.endpoint_url + f"/{bucket.name}", "PUT", "s3")
    bucket.write("pictures/1", b"a picture", "image/webp")
    bucket.replaced("pictures/1")
    file = bucket.read("pictures/1", 100)
    assert file is not None
    assert (file.content, file.media_type) == (b"a picture", "image/webp")
    bucket.remove("pictures/1")
    assert bucket.read("pictures/1", 100) is None
    assert "policy" in bucket.form("uploads/1", 100, 60, {}).fields

    sender = ses.connect("deals@mail.example", "deals@mail.example", "mails")
    note(sender.client, made["sesv2"])
    try:
        sender.send(Mail("ana@mail.example", "A test", "text", "<p>text</p>"))
    except ses.Refused:  # nobody has verified the sender
        return made
    raise AssertionError("SES takes mails from anybody")


def note(client: Any, made: list[str]) -> None:
    """Note the operations that a client calls, each once."""
    client.meta.events.register_last(
        "before-call", lambda model, **_: None if model.name in made else made.append(model.name)
    )


def refused(write: Callable[[], object]) -> bool:
    """Whether a write is refused."""
    try:
        write()
    except Refused:
        return True
    return False


def ask(url: str, method: str, service: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> None:
    """Make what functions cannot: a queue, a bucket."""
    import urllib.request  # noqa: PLC0415  # so that what functions import does not depend on it

    signed = f"AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-1/{service}/aws4_request"
    request = urllib.request.Request(url, body, {"Authorization": signed, **(headers or {})}, method=method)
    urllib.request.urlopen(request).close()
