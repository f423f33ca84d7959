"""One action of curl, which speaks Connect in JSON, for matrix.py. See probe.py."""
import base64
import gzip
import json
import struct
import subprocess
import sys
import zlib

address, action, *words = sys.argv[1:]
word = dict(each.split("=", 1) for each in words)
base = f"{'https' if 'ca' in word else 'http'}://{address}"
service = "perch.v1.EntitlementService"


def say(**fields):
    print(json.dumps(fields), flush=True)


def curl(path, body, kind, *more):
    command = ["curl", "--silent", "--no-buffer", f"{base}/{path}", "--data-binary", "@-", "--header", f"content-type: {kind}", *more]
    if "ca" in word:
        command += ["--cacert", word["ca"]]
    if "bearer" in word:
        command += ["--header", f"authorization: Bearer {word['bearer']}"]
    if "deadline" in word:
        command += ["--header", f"connect-timeout-ms: {word['deadline']}"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(body)
    process.stdin.close()
    return process


def refused(error):
    found = {each["type"]: base64.b64decode(each["value"] + "==") for each in error.get("details", [])}
    piece = lambda data: data[2:2 + data[1]] if data else b""
    say(code=error["code"].upper().replace("CANCELED", "CANCELLED"), reason=piece(found.get("google.rpc.ErrorInfo")).decode(),
        field=piece(piece(found.get("google.rpc.BadRequest"))).decode())


def unary(path, request):
    body, more = json.dumps(request).encode(), []
    if "compress" in word:
        body = gzip.compress(body) if word["compress"] == "gzip" else zlib.compress(body)
        more = ["--header", f"content-encoding: {word['compress']}", "--compressed"]
        more += ["--header", f"accept-encoding: {word['compress']}"]
    answer = json.loads(curl(path, body, "application/json", *more).stdout.read())
    if "code" in answer:
        refused(answer)
        sys.exit()
    return answer


def watch():
    request = {"account": word["account"], "groupId": "premium", "resumeToken": base64.b64encode(bytes.fromhex(word.get("token", ""))).decode()}
    message = json.dumps(request).encode()
    process = curl(f"{service}/SubscriptionStatusTask", struct.pack(">BI", 0, len(message)) + message, "application/connect+json")
    while head := process.stdout.read(5):
        message = json.loads(process.stdout.read(struct.unpack(">I", head[1:])[0]))
        if head[0] & 2:
            return refused(message["error"])
        state = next((each for each in ("loading", "success", "unchanged") if each in message), None)
        statuses = len(message.get("success", {}).get("statuses", []))
        say(state=state, statuses=statuses, token=base64.b64decode(message.get("info", {}).get("resumeToken", "")).hex())
        if state in ("success", "unchanged") and statuses >= int(word["until"]):
            process.kill()  # its way to cancel
            process.wait()
            return say(code="CANCELLED", reason="", field="")


if action == "products":
    ids = word["ids"].split(",") + [f"{word.get('prefix', 'product-')}{n}" for n in range(int(word.get("count", 0)))]
    success = unary(f"{service}/GetProducts", {"productIds": ids})["success"]
    say(found=len(success.get("products", [])), unavailable=len(success.get("unavailableIds", [])))
elif action == "watch":
    watch()
elif action == "error":
    unary(f"{service}/GetSubscriptionStatus", {"account": "a"})
elif action == "load":
    with open(word["file"], "rb") as file:
        answer = unary("perch.v1.AdminService/LoadCatalog", {"file": base64.b64encode(file.read()).decode()})
    say(subscriptions=answer["summary"]["subscriptionCount"])
elif action == "health":
    say(status=unary("grpc.health.v1.Health/Check", {})["status"])
else:
    sys.exit(f"curl cannot {action}")
