"""The session in hex of proto/README.md: what both sides send when one customer subscribes."""
import json

from google.protobuf import json_format

from frames import FRAME_LIMIT, KINDS, raw
from handmade import fields_of


def session(contract):
    """Annotated frames of a whole session: what both sides send when one customer subscribes."""
    wire, v1 = "perch.wire.v1.", "perch.v1."
    lines = []

    def show(sender, kind, stream, note, message=None, data=b""):
        body = message.SerializeToString(deterministic=True) if message is not None else data
        head = raw(KINDS[kind], stream, 0, length=len(body))
        arrow = "client →" if sender == "client" else "← server"
        lines.append(f"{arrow}  {kind}{f' on stream {stream}' if stream else ''}: {note}")
        lines.append(f"    {head[0]:02x} {head[1:4].hex()}  {head[4]:02x} {head[5:9].hex()}")
        annotate(message, lines, "    ") if message is not None else body and lines.append("    " + body.hex())
        lines.append("")

    store = bytes.fromhex("5f1d0c7a9be24c3d8e6fa0b1c2d3e4f5")
    status = "/perch.v1.EntitlementService/SubscriptionStatusTask"
    ask = contract(v1 + "SubscriptionStatusTaskRequest", account="anna", group_id="premium")
    first = contract(v1 + "SubscriptionStatusTaskResponse", success={}, info={
        "position": {"revision": 7, "as_of_ms": 1_767_225_600_000}, "commit_time_ms": 1_767_225_000_000, "cause": 1,
        "resume_token": b"token-1"})
    bought = contract(v1 + "SubscriptionStatusTaskResponse", info={
        "position": {"revision": 8, "as_of_ms": 1_767_225_660_000}, "commit_time_ms": 1_767_225_660_000, "cause": 2,
        "resume_token": b"token-2"})
    held = bought.success.statuses.add(state=1)
    held.transaction.transaction.MergeFrom(contract(
        v1 + "Transaction", id=41, original_id=41, product_id="monthly", product_type=3,
        purchase_date_ms=1_767_225_660_000, expiration_date_ms=1_769_904_060_000, purchased_quantity=1))
    held.renewal_info.renewal_info.MergeFrom(contract(v1 + "RenewalInfo", original_transaction_id=41,
                                                      current_product_id="monthly", will_auto_renew=True))
    bought.success.effective_index = 0
    bought.success.effective_reason = 1
    show("client", "HELLO", 0, "who I am; I can read zlib; a beat every 10 s, please",
         contract(wire + "Hello", protocol_version=1, client_name="docs/1", accepts=[2], heartbeat_seconds=10))
    show("server", "WELCOME", 0, "who I am, where the store stands, what holds",
         contract(wire + "Welcome", server_version="0.1.0", store_id=store, epoch=1, revision=7,
                  limits={"frame_bytes": FRAME_LIMIT, "request_bytes": 65_536, "catalog_request_bytes": FRAME_LIMIT,
                          "calls_per_connection": 65_536, "write_stall_ms": 30_000},
                  heartbeat_seconds=10, accepts=[2], server_time_ms=1_767_225_600_000))
    show("client", "CALL", 1, "the statuses of anna in the group premium, now and at each change",
         contract(wire + "Call", method=status, request=ask.SerializeToString(deterministic=True)))
    show("server", "MESSAGE", 1, "loading", contract(v1 + "SubscriptionStatusTaskResponse", loading={}))
    show("server", "MESSAGE", 1, "an empty success: anna never subscribed", first)
    show("server", "MESSAGE", 1, "somebody bought: the value, pushed (shortened: a server sets more fields)", bought)
    show("server", "BEAT", 0, "nothing more up to revision 8", contract(wire + "Beat", revision=8,
                                                                      server_time_ms=1_767_225_670_000))
    show("client", "CANCEL", 1, "enough")
    show("server", "STATUS", 1, "the call has ended; the number 1 is free again",
         contract(wire + "Status", code=1, message="the client cancelled", reason="CANCELLED"))
    show("client", "CALL", 1, "back with the token of the last value",
         contract(wire + "Call", method=status, request=contract(
             v1 + "SubscriptionStatusTaskRequest", account="anna", group_id="premium",
             resume_token=b"token-2").SerializeToString(deterministic=True)))
    unchanged = contract(v1 + "SubscriptionStatusTaskResponse", unchanged={}, info=bought.info)
    unchanged.info.cause = 1
    show("server", "MESSAGE", 1, "no loading: what you have is still right", unchanged)
    show("client", "PING", 0, "eight bytes of mine", data=b"deadbeef")
    show("server", "PONG", 0, "the same eight bytes", data=b"deadbeef")
    show("client", "CANCEL", 0, "a mistake: 0 is not a call")
    show("server", "DRAIN", 0, "why the connection closes; FIN follows (shortened)",
         contract(wire + "Drain", reason="STREAM_ZERO",
                  message="CANCEL (kind 6) needs a stream number from 1 to 16777215, it came on 0", final=True))
    return "\n".join(lines).rstrip() + "\n"


def annotate(message, lines, indent):
    """Each field of a message on a line: its bytes, its name, its value."""
    width = 46 - len(indent)
    for number, prefix, value in fields_of(message.SerializeToString(deterministic=True)):
        field = message.DESCRIPTOR.fields_by_number[number]
        if field.message_type and value:
            lines.append(f"{indent}{prefix.hex():{width}}  {field.name}:")
            inner = getattr(message, field.name)
            annotate((inner[0] if field.is_repeated else inner).FromString(value), lines, indent + "  ")
            continue
        said = json_format.MessageToDict(type(message).FromString(prefix + value), preserving_proto_field_name=True)
        said = f"{len(value)} bytes" if field.type == field.TYPE_BYTES else json.dumps(said[field.name])
        spaced = prefix.hex() + (" " if len(prefix) + len(value) > 3 else "")
        first = (width - len(spaced)) // 2
        rest = [value[at:at + width // 2].hex() for at in range(first, len(value), width // 2)]
        lines.append(f"{indent}{spaced + value[:first].hex():{width}}  {field.name}: {said}")
        lines.extend(indent + piece for piece in rest)
