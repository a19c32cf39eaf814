"""Every system call that writes, in turn: killed, failed, and followed by a power cut.

One run of a command is recorded with strace. Then the command is run once per recorded call and fault. `test_calls.py`
runs a sample, `make soak` (`python -m tests.calls`) all of them.
"""
