"""One action of grpcurl, which asks reflection for the contract, for matrix.py. See probe.py."""
import base64
import json
import pathlib
import re
import subprocess
import sys

address, action, *words = sys.argv[1:]
word = dict(each.split("=", 1) for each in words)
service = "perch.v1.EntitlementService"


def say(**fields):
    print(json.dumps(fields), flush=True)


def grpcurl(*arguments, request=None):
    command = [str(pathlib.Path(sys.executable).parent / "grpcurl"), "-max-msg-sz", "8388608"]
    command += ["-cacert", word["ca"]] if "ca" in word else ["-plaintext"]
    if "bearer" in word:
        command += ["-H", f"authorization: Bearer {word['bearer']}"]
    if "deadline" in word:
        command += ["-max-time", str(int(word["deadline"]) / 1_000)]
    command += ["-d", "@"] if request is not None else []
    process = subprocess.Popen([*command, address, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if request is not None:
        process.stdin.write(json.dumps(request).encode())
        process.stdin.close()
    return process


def refused(text):
    code = re.search(r"(?:Code: |code = )(\w+)", text)[1]
    # grpcurl knows no google.rpc and prints its bytes. The first field of both details is, or begins with, the wanted text.
    found = {name: base64.b64decode(value) for name, value in re.findall(r'google\.rpc\.(\w+)","@value":"([^"]+)"', text)}
    piece = lambda data: data[2:2 + data[1]] if data else b""
    names = {"DeadlineExceeded": "DEADLINE_EXCEEDED", "InvalidArgument": "INVALID_ARGUMENT", "Unauthenticated": "UNAUTHENTICATED"}
    say(code=names.get(code, code), reason=piece(found.get("ErrorInfo")).decode(), field=piece(piece(found.get("BadRequest"))).decode())


def unary(path, request):
    process = grpcurl(path, request=request)
    answer, errors = process.stdout.read(), process.stderr.read().decode()
    if process.wait():
        refused(errors)
        sys.exit()
    return json.loads(answer)


def watch():
    process = grpcurl(f"{service}/SubscriptionStatusTask", request={
        "account": word["account"], "group_id": "premium", "resume_token": base64.b64encode(bytes.fromhex(word.get("token", ""))).decode()})
    text = ""
    for line in process.stdout:  # each message is an indented object
        text += line.decode()
        if line.rstrip() != b"}":
            continue
        message, text = json.loads(text), ""
        state = next((each for each in ("loading", "success", "unchanged") if each in message), None)
        statuses = len(message.get("success", {}).get("statuses", []))
        say(state=state, statuses=statuses, token=base64.b64decode(message.get("info", {}).get("resumeToken", "")).hex())
        if state in ("success", "unchanged") and statuses >= int(word["until"]):
            process.kill()  # its way to cancel
            process.wait()
            return say(code="CANCELLED", reason="", field="")
    refused(process.stderr.read().decode())


if action == "products":
    ids = word["ids"].split(",") + [f"{word.get('prefix', 'product-')}{n}" for n in range(int(word.get("count", 0)))]
    success = unary(f"{service}/GetProducts", {"product_ids": ids})["success"]
    say(found=len(success.get("products", [])), unavailable=len(success.get("unavailableIds", [])))
elif action == "watch":
    watch()
elif action == "error":
    unary(f"{service}/GetSubscriptionStatus", {"account": "a"})
elif action == "load":
    answer = unary("perch.v1.AdminService/LoadCatalog", {"file": base64.b64encode(pathlib.Path(word["file"]).read_bytes()).decode()})
    say(subscriptions=answer["summary"]["subscriptionCount"])
elif action == "health":
    say(status=unary("grpc.health.v1.Health/Check", {})["status"])
elif action == "reflection":
    say(services=grpcurl("list").stdout.read().decode().split())
