#!/usr/bin/env python3
"""An interceptor for Probity: refuses what speaks of invoices, and takes account numbers out of everything else.

One question a line on standard input, one answer a line on standard output. See docs/interceptors.md.
"""

import json
import re
import sys

ACCOUNT = re.compile(r"\b[A-Z]{2}\d{2}(?: ?\d{2,4}){3,8}\b")


def judge(context):
    text = context["target"]["content"]
    if "invoice" in text.lower():
        return {"decision": "deny", "reason": "invoices stay inside"}
    scrubbed = ACCOUNT.sub("[account]", text)
    if scrubbed != text:
        transform = {"path": "$target.content", "value": scrubbed}
        return {"decision": "transform", "reason": "an account number was taken out", "transform": transform}
    return {"decision": "allow"}


for line in sys.stdin:
    question = json.loads(line)
    answer = {"id": question["id"], "verdict": judge(question["context"])}
    # One line, and out at once: standard output is a pipe.
    print(json.dumps(answer), flush=True)
