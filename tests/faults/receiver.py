"""A receiver in a process of its own: it writes down what arrives, and stops with its parent.

    python -m tests.faults.receiver FILE

Prints its endpoint. Each span is a line of the file: its id, its mark or `-`, and whether it is
incomplete.
"""

from __future__ import annotations

import re
import sys

from agentool_otel.semconv import agentool
from tests.tracing.export.receiver import HttpReceiver, Reply, spans_in

MARK = re.compile(r"#\w+#")


def main() -> None:
    with open(sys.argv[1], "a") as out:

        def reply(body: bytes) -> Reply:
            if receiver.path.endswith("traces"):
                for span in spans_in(body):
                    mark = MARK.search(str(span))
                    incomplete = agentool.INCOMPLETE in {pair.key for pair in span.attributes}
                    out.write(f"{span.span_id.hex()} {mark[0] if mark else '-'} {incomplete:d}\n")
                out.flush()
            return 200, {}, b""

        with HttpReceiver(reply=reply, keeps=True) as receiver:
            print(receiver.endpoint, flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()
