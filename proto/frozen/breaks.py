"""Breaks a copy of the contract in each way that would break a client, and checks that `buf breaking` finds it.

An addition must pass: the contract grows that way.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENTITLEMENT = "perch/v1/entitlement_service.proto"
STREAM = "perch/v1/stream.proto"
COMMON = "perch/v1/common.proto"
WIRE = "perch/wire/v1/wire.proto"

# What is done to which file, as a pattern and its replacement, and the rule that has to find it. None: it must pass.
CHANGES = [
    ("a field is removed", STREAM, r"\n  // When that revision.*\n  int64 commit_time_ms = 2;", "", "FIELD_NO_DELETE"),
    ("a field gets another number", STREAM, r"Cause cause = 3;", "Cause cause = 13;", "FIELD_NO_DELETE"),
    ("a field gets another name", STREAM, r"int64 commit_time_ms = 2;", "int64 committed_ms = 2;", "FIELD_SAME_NAME"),
    ("a field gets another type", STREAM, r"int64 commit_time_ms = 2;", "uint64 commit_time_ms = 2;", "FIELD_SAME_TYPE"),
    ("a field becomes a list", STREAM, r"Cause cause = 3;", "repeated Cause cause = 3;", "FIELD_SAME_CARDINALITY"),
    ("a list becomes a field", ENTITLEMENT, r"repeated EntitlementChange entitlements", "EntitlementChange entitlements",
     "FIELD_SAME_CARDINALITY"),
    ("a field gets another name in JSON", STREAM, r"bytes resume_token = 5;",
     'bytes resume_token = 5 [json_name = "token"];', "FIELD_SAME_JSON_NAME"),
    ("a field leaves its oneof", ENTITLEMENT,
     r"  oneof about \{\n(.*\n)    string group_id = 3;\n", r"  string group_id = 3;\n  oneof about {\n", "FIELD_SAME_ONEOF"),
    ("a field of a oneof gets presence", ENTITLEMENT, r"bool from_oldest = 3;", "optional bool from_oldest = 3;",
     "FIELD_SAME_CARDINALITY"),
    ("a message is removed", WIRE, r"\n// [^\n]*\nmessage Beat \{[^}]*\}\n", "\n", "MESSAGE_NO_DELETE"),
    ("a value of an enumeration is removed", STREAM, r"\n  // The catalogue.\n  CAUSE_CATALOG = 6;", "",
     "ENUM_VALUE_NO_DELETE"),
    ("a value of an enumeration gets another number", STREAM, r"CAUSE_SETTING = 8;", "CAUSE_SETTING = 9;",
     "ENUM_VALUE_NO_DELETE"),
    ("a value of an enumeration gets another name", STREAM, r"CAUSE_SETTING = 8;", "CAUSE_SETTINGS = 8;",
     "ENUM_VALUE_SAME_NAME"),
    ("a method is removed", ENTITLEMENT, r"  rpc AppChanges\(.*?\n  \}\n", "", "RPC_NO_DELETE"),
    ("a method gets another name", ENTITLEMENT, r"rpc GetImage\(", "rpc ReadImage(", "RPC_NO_DELETE"),
    ("a method gets another request", ENTITLEMENT, r"rpc GetImage\(GetImageRequest\)", "rpc GetImage(GetProductsRequest)",
     "RPC_SAME_REQUEST_TYPE"),
    ("a method gets another response", ENTITLEMENT, r"returns \(GetImageResponse\)", "returns (GetProductsResponse)",
     "RPC_SAME_RESPONSE_TYPE"),
    ("a stream becomes a call", ENTITLEMENT, r"returns \(stream AppChangesResponse\)", "returns (AppChangesResponse)",
     "RPC_SAME_SERVER_STREAMING"),
    ("a call becomes a stream", ENTITLEMENT, r"returns \(GetImageResponse\)", "returns (stream GetImageResponse)",
     "RPC_SAME_SERVER_STREAMING"),
    ("a call takes several requests", ENTITLEMENT, r"rpc GetImage\(GetImageRequest\)",
     "rpc GetImage(stream GetImageRequest)", "RPC_SAME_CLIENT_STREAMING"),
    ("a read is said to change something", ENTITLEMENT,
     r"(rpc GetImage.*\n    option idempotency_level = )NO_SIDE_EFFECTS", r"\1IDEMPOTENT", "RPC_SAME_IDEMPOTENCY_LEVEL"),
    ("a service is removed", "perch/v1/admin_service.proto", r"// Runs the server.\nservice AdminService \{.*?\n\}\n", "",
     "SERVICE_NO_DELETE"),
    ("a package gets another name", WIRE, r"package perch.wire.v1;", "package perch.wire.v2;", "FILE_SAME_PACKAGE"),
    ("generated code moves to another package", ENTITLEMENT, r'java_package = "perch.v1"', 'java_package = "perch"',
     "FILE_SAME_JAVA_PACKAGE"),
    ("a message moves to another file", None, None, None, "MESSAGE_NO_DELETE"),
    ("a new field", STREAM, r"message Bookmark \{", "message Bookmark {\n  // More.\n  uint32 more = 9;", None),
    ("a new value of an enumeration", STREAM, r"CAUSE_SETTING = 8;", "CAUSE_SETTING = 8;\n  // More.\n  CAUSE_MORE = 9;",
     None),
    ("a new member of a oneof", ENTITLEMENT, r"oneof about \{", "oneof about {\n    // More.\n    string more = 19;", None),
    ("a new method with new messages", ENTITLEMENT, r"service EntitlementService \{",
     "service EntitlementService {\n  // More.\n  rpc More(MoreRequest) returns (stream MoreResponse);", "+message"),
    ("another comment", STREAM, r"// The catalogue.", "// The catalogue, or its images.", None),
]


def move_message(copy):
    """A message in another file of its package: generated code includes it from there."""
    source, target = copy / STREAM, copy / COMMON
    text = source.read_text()
    found = re.search(r"\n(// [^\n]*\n)+message Failure \{.*?\n\}\n", text, re.S)
    source.write_text(text.replace(found[0], "\n"))
    target.write_text(target.read_text() + found[0])


def change(copy, file, pattern, replacement, rule):
    path = copy / file
    text = path.read_text()
    changed, count = re.subn(pattern, replacement, text, count=1, flags=re.S if ".*?" in (pattern or "") else 0)
    if not count:
        raise SystemExit(f"breaks.py: nothing in {file} fits {pattern}; bring the change up to date")
    if rule == "+message":
        changed += "\n// More.\nmessage MoreRequest {}\n\n// More.\nmessage MoreResponse {}\n"
    path.write_text(changed)


def main():
    buf, image = sys.argv[1:3]
    wrong = 0
    count = 0
    for name, file, pattern, replacement, rule in CHANGES:
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "proto"
            shutil.copytree(ROOT / "perch", copy / "perch")
            shutil.copy(ROOT / "buf.yaml", copy)
            if file is None:
                move_message(copy)
            else:
                change(copy, file, pattern, replacement, rule)
            command = [buf, "breaking", str(copy), "--against", image, "--error-format", "json"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        rules = set(re.findall(r'"type":"(\w+)"', done.stdout))
        if "COMPILE" in rules or done.stderr:
            print(f"frozen contract: {name}: the copy does not compile: {done.stdout}{done.stderr}", file=sys.stderr)
            wrong += 1
        elif rule in (None, "+message") and rules:
            print(f"frozen contract: {name}: refused by {', '.join(sorted(rules))}, and has to pass", file=sys.stderr)
            wrong += 1
        elif rule not in (None, "+message") and rule not in rules:
            print(f"frozen contract: {name}: not found by {rule}, only by {', '.join(sorted(rules)) or 'nothing'}",
                  file=sys.stderr)
            wrong += 1
    if wrong:
        raise SystemExit(f"frozen contract: {wrong} of {count} changes are judged wrongly")
    print(f"frozen contract: {count} changes are judged rightly")


main()
