#!/usr/bin/env python3
# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands for `kw trial --worker` in the tests of the pool: does what the schedule's text says."""

import json
import os
import signal
import sys
import time

for line in sys.stdin:
    request = json.loads(line)
    action = request["schedule"]
    answer = {"id": request["id"], "state": "ok", "error": None, "rungs": {}, "hsaco": None}
    if action == "crash":
        print("something broke badly", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    elif action == "exit":
        sys.exit(3)
    elif action == "hang":
        time.sleep(1000)
    elif action == "hang-with-child":
        child = os.fork()
        if child == 0:
            time.sleep(1000)
        with open(request["problem"], "w") as file:
            file.write(str(child))
        time.sleep(1000)
    elif action == "garbage":
        print("this is no answer", flush=True)
        continue
    elif action == "other-id":
        answer["id"] = "somebody else"
    elif action == "memory":
        try:
            block = bytearray(3 << 30)
            answer["rungs"] = {"bytes": len(block)}
        except MemoryError:
            answer["state"] = "failed"
            answer["error"] = "out of memory"
    elif action == "fail":
        answer["state"] = "compile_failed"
    elif action == "close-output":
        os.close(1)
        time.sleep(1000)
    answer["rungs"]["pid"] = os.getpid()
    print(json.dumps(answer), flush=True)
    if action == "ok-then-exit":
        sys.exit(0)
