"""The Python client as the agent of the conformance trial: `agent.py threads` or `agent.py asyncio`.

It reads commands and writes answers, one JSON object a line: proto/clients/README.md describes them.
"""
import asyncio
import base64
import gc
import json
import os
import pathlib
import re
import ssl
import sys
import threading
import time

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "proto" / "clients" / "python"
sys.path.insert(0, str(PACKAGE / "tests"))
if len(sys.argv) < 3:  # A third word: the package is installed.
    sys.path.insert(0, str(PACKAGE / "src"))

import jsonform  # noqa: E402

import perch  # noqa: E402
import perch.aio  # noqa: E402
from perch import v1  # noqa: E402
from perch._generated import calls  # noqa: E402

METHODS = {method.name: method for method in calls.METHODS}
EVENTS = {"AppChanges": "changes", "TransactionUpdates": "transaction_updates"}
output = threading.Lock()


def say(**line):
    with output:
        print(json.dumps(line), flush=True)


def described(error):
    return {"reason": error.reason, "code": error.code.name, "final": not error.is_transient,
            "mayHaveHappened": error.may_have_happened, "message": str(error), "details": error.details}


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def parameters(method, request, without=()):
    message = jsonform.from_json(METHODS[method].request, request)
    return {name: getattr(message, name) for name in message.__slots__ if name not in without}


def opened(module, command):
    credentials = perch.TokenFile(command["tokenFile"]) if "tokenFile" in command else command.get("token")
    tls = ssl.create_default_context(cafile=command["authority"]) if "authority" in command else None
    return module.connect(command["url"], credentials=credentials, timeout=300, attempts=command.get("attempts", 6), ssl_context=tls)


def stream(client, command):
    """The stream that a command asks for."""
    method = command.get("method")
    if command["do"] == "together":
        return client.watch.together({name: jsonform.from_json(METHODS[each["method"]].request, each["request"])
                                      for name, each in command["watches"].items()})
    if method in EVENTS:
        return getattr(client, EVENTS[method])(**parameters(method, command["request"]), progress=command.get("progress", False))
    name = snake(method[:-len("Task")] if method.endswith("Task") else method)
    return getattr(client.watch, name)(
        **parameters(method, command["request"], ("resume_token",)), fail_after=command.get("failAfter"))


def shown(state):
    if state.failure is not None:
        return {"failure": state.failure.reason}
    return {"value": jsonform.to_json(state.value), "info": jsonform.to_json(state.info)}


def report(name, item, cursor):
    if isinstance(item, perch.State):
        say(watch=name, **shown(item))
    elif isinstance(item, dict):
        say(watch=name, together={key: shown(state) for key, state in item.items()})
    else:
        say(watch=name, event=jsonform.to_json(item), cursor=base64.b64encode(cursor).decode())


def held(entitlements):
    return {name: {"tier": found.tier, "until": None if found.until is None else perch.to_ms(found.until), "reason": found.reason.name}
            for name, found in entitlements.items()}


def copied(client, command):
    """The copy that a command asks for."""
    return client.copy(file=command.get("file"), names=command.get("names", ()), deny_after=command.get("denyAfter"),
                       shard=tuple(command["shard"]) if "shard" in command else None)


def read(copy, command):
    """What a copy answers from its memory."""
    do, account = command["do"], command.get("account")
    if do == "has":
        return {"has": copy.has(account, command["name"])}
    if do == "held":
        return {"held": held(copy.entitlements(account))}
    position = copy.position
    return {"accounts": {account: held(copy.entitlements(account)) for account in copy.accounts()}, "names": copy.names(),
            "age": copy.age(), "position": position and {"revision": str(position.revision), "epoch": position.epoch}}


def wanted(command):
    """How long a wait may take, and for what."""
    return command.get("timeout"), jsonform.from_json(v1.Position, command.get("position", {}))


def changed(name, account, before, after):
    say(watch=name, change=account, before=sorted(before), after=sorted(after))


class Ending:
    """The last moment at which a copy said yes, and the first at which it said no."""

    def __init__(self, copy, command):
        self.copy, self.command, self.last_yes = copy, command, 0

    def is_over(self):
        before = time.time()
        if self.copy.has(self.command["account"], self.command["name"]):
            self.last_yes = before
            return False
        say(id=self.command["id"], answer={"lastYes": self.last_yes * 1_000, "firstNo": time.time() * 1_000})
        return True


def descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


class Threads:
    """A thread for each call and each stream."""

    def __init__(self):
        self.clients, self.streams, self.copies, self.gates, self.threads = {}, {}, {}, {}, []

    def main(self):
        for line in sys.stdin:
            command = json.loads(line)
            self.threads = [thread for thread in self.threads if thread.is_alive()]
            if command["do"] in ("call", "close", "watch", "events", "together", "ready", "reach", "ending"):
                self.threads.append(threading.Thread(target=self.act, args=(command,)))
                self.threads[-1].start()
            else:
                self.act(command)
        for client in self.clients.values():
            client.close()

    def act(self, command):
        do, client = command["do"], self.clients.get(command.get("client"))
        try:
            if do == "open":
                self.clients[command["client"]] = opened(perch, command)
                say(id=command["id"], answer={})
            elif do == "call":
                answer = getattr(client.call, snake(command["method"]))(
                    **parameters(command["method"], command["request"]), timeout=command.get("timeout"))
                say(id=command["id"], answer=jsonform.to_json(answer))
            elif do == "unknown":
                method = METHODS["GetPass"]._replace(path=command["path"])
                client.call._call(method, method.request(), None)
            elif do in ("hold", "go"):
                (self.gates[command["watch"]].clear if do == "hold" else self.gates[command["watch"]].set)()
                say(id=command["id"], answer={})
            elif do == "close":
                (self.copies[command["copy"]] if "copy" in command else self.streams[command["watch"]] if "watch" in command else client).close()
                say(id=command["id"], answer={})
            elif do == "copy":
                self.copy(command, client)
                say(id=command["id"], answer={})
            elif do in ("has", "held", "whole"):
                say(id=command["id"], answer=read(self.copies[command["copy"]], command))
            elif do in ("ready", "reach"):
                copy, (timeout, position) = self.copies[command["copy"]], wanted(command)
                copy.wait_ready(timeout) if do == "ready" else copy.wait_for(position, timeout)
                say(id=command["id"], answer={})
            elif do == "ending":
                ending = Ending(self.copies[command["copy"]], command)
                while not ending.is_over():
                    time.sleep(0.005)
            elif do == "left":
                for thread in self.threads:
                    thread.join()
                say(id=command["id"], answer={"threads": threading.active_count(), "descriptors": descriptors()})
            else:
                self.follow(command, client)
        except perch.PerchError as error:
            say(id=command["id"], error=described(error))

    def copy(self, command, client):
        name = command["copy"]
        gate = self.gates[name] = threading.Event()
        gate.set()

        def callback(*change):
            changed(name, *change)
            gate.wait()

        copy = self.copies[name] = copied(client, command)
        copy.on_change(callback)

    def follow(self, command, client):
        name = command["watch"]
        found = self.streams[name] = stream(client, command)
        gate = self.gates[name] = threading.Event()
        gate.set()
        say(id=command["id"], answer={})
        try:
            for item in found:
                report(name, item, getattr(found, "cursor", b""))
                gate.wait()
            say(watch=name, ended=True)
        except perch.PerchError as error:
            say(watch=name, error=described(error))


class Asyncio:
    """A task for each call and each stream, on one event loop."""

    def __init__(self):
        self.clients, self.streams, self.copies, self.gates, self.tasks = {}, {}, {}, {}, set()

    async def main(self):
        loop = asyncio.get_running_loop()
        while (line := await loop.run_in_executor(None, sys.stdin.readline)):
            task = loop.create_task(self.act(json.loads(line)))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
            await asyncio.sleep(0)
        for client in self.clients.values():
            client.close()
        await asyncio.gather(*self.tasks)
        await asyncio.sleep(0)

    async def act(self, command):
        do, client = command["do"], self.clients.get(command.get("client"))
        try:
            if do == "open":
                self.clients[command["client"]] = opened(perch.aio, command)
                say(id=command["id"], answer={})
            elif do == "call":
                answer = await getattr(client.call, snake(command["method"]))(
                    **parameters(command["method"], command["request"]), timeout=command.get("timeout"))
                say(id=command["id"], answer=jsonform.to_json(answer))
            elif do == "unknown":
                method = METHODS["GetPass"]._replace(path=command["path"])
                await client.call._call(method, method.request(), None)
            elif do in ("hold", "go"):
                (self.gates[command["watch"]].clear if do == "hold" else self.gates[command["watch"]].set)()
                say(id=command["id"], answer={})
            elif do == "close":
                (self.copies[command["copy"]] if "copy" in command else self.streams[command["watch"]] if "watch" in command else client).close()
                say(id=command["id"], answer={})
            elif do == "copy":
                self.copy(command, client)
                say(id=command["id"], answer={})
            elif do in ("has", "held", "whole"):
                say(id=command["id"], answer=read(self.copies[command["copy"]], command))
            elif do in ("ready", "reach"):
                copy, (timeout, position) = self.copies[command["copy"]], wanted(command)
                await (copy.wait_ready(timeout) if do == "ready" else copy.wait_for(position, timeout))
                say(id=command["id"], answer={})
            elif do == "ending":
                ending = Ending(self.copies[command["copy"]], command)
                while not ending.is_over():
                    await asyncio.sleep(0.005)
            elif do == "left":
                others = [task for task in self.tasks if task is not asyncio.current_task()]
                await asyncio.gather(*others)
                await asyncio.sleep(0)
                say(id=command["id"], answer={"threads": len(asyncio.all_tasks()) - 2, "descriptors": descriptors()})
            else:
                await self.follow(command, client)
        except perch.PerchError as error:
            say(id=command["id"], error=described(error))

    def copy(self, command, client):
        name = command["copy"]
        gate = self.gates[name] = asyncio.Event()
        gate.set()

        async def callback(*change):
            changed(name, *change)
            await gate.wait()

        copy = self.copies[name] = copied(client, command)
        copy.on_change(callback)

    async def follow(self, command, client):
        name = command["watch"]
        found = self.streams[name] = stream(client, command)
        gate = self.gates[name] = asyncio.Event()
        gate.set()
        say(id=command["id"], answer={})
        try:
            async for item in found:
                report(name, item, getattr(found, "cursor", b""))
                await gate.wait()
            say(watch=name, ended=True)
        except perch.PerchError as error:
            say(watch=name, error=described(error))


if __name__ == "__main__":
    if sys.argv[1] == "threads":
        Threads().main()
    else:
        asyncio.run(Asyncio().main())
