"""The copies of the Swift client as an agent of the conformance trial: `tandem.py CLIENTAGENT`.

What a copy is asked goes to the Swift client, and calls go to the Python client's agent, so that both work on the same server. Answers
and reports are passed on as they are.
"""
import ctypes
import json
import pathlib
import signal
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
PR_SET_PDEATHSIG = 1
OF_COPIES = ("copy", "has", "held", "whole", "ready", "reach", "ending", "hold", "go", "left")
output = threading.Lock()
both = {}  # Commands for both clients: how many have answered.


def begin(words):
    """A client that dies with this process, also if that is killed."""
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
    thread = threading.Thread(target=carry, args=(process,))
    thread.start()
    return process, thread


def carry(process):
    for line in process.stdout:
        number = json.loads(line).get("id")
        with output:
            if number in both:
                both[number] += 1
                if both[number] < 2:
                    continue
            print(line, end="", flush=True)


def main():
    swift, python = clients = [begin([sys.argv[1], "agent"]), begin([sys.executable, HERE / "agent.py", "threads"])]
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "open" or (command["do"] == "close" and "client" in command):
            both[command["id"]] = 0
            to = clients
        else:
            to = [swift if command["do"] in OF_COPIES or "copy" in command else python]
        for process, _ in to:
            process.stdin.write(line)
            process.stdin.flush()
    for process, thread in clients:
        process.stdin.close()
        process.wait()
        thread.join()
        process.stdout.close()


if __name__ == "__main__":
    main()
