"""An operator's commands of ``btd``, and exports among the files that ``btd import`` reads."""

from __future__ import annotations

from features.operations import drill, exports, logs, probe, redrive, restoring, teardown, unannounced
from shared.hooks import FileKind

COMMANDS = (
    exports.export,
    redrive.redrive,
    logs.logs,
    probe.probe,
    unannounced.unannounced,
    drill.restore_drill,
    teardown.teardown,
)

IMPORTED = (FileKind(exports.is_export, restoring.restore),)
