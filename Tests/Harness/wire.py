"""Clients of perch/1 that ask one thing at a time, on Interop/client.py."""
import stubs
from client import MESSAGE, STATUS, Client, Contract
from waiting import PATIENCE_SECONDS

APP = {"bundle_id": "com.example.app", "environment": 3}
READS, TRANSACTIONS, STORE, ADMIN = (f"/perch.v1.{name}Service/" for name in ("Entitlement", "Transaction", "TestStore", "Admin"))
_contract = []


def contract():
    """The messages and methods of proto/, read once."""
    if not _contract:
        _contract.append(Contract(stubs.descriptors()))
    return _contract[0]


class Caller(Client):
    """A connection for unary calls. `fields` of HELLO make it welcome."""

    def __init__(self, address, **fields):
        super().__init__(address, contract())
        self.socket.settimeout(PATIENCE_SECONDS)
        self.welcome = self.hello(**fields) if fields else None

    def ask(self, path, **request):
        """The answer of a unary call and the status that ended it. ConnectionError when the server goes away."""
        stream, answer = self.call(path, **request), None
        while frame := self.read():
            if frame.stream == stream and frame.kind == MESSAGE:
                answer = frame.message
            elif frame.stream == stream and frame.kind == STATUS:
                del self.answers[stream]
                return answer, frame.message
        raise ConnectionError("the server closed the connection")

    def get(self, path, **request):
        """The answer of a unary call that must not be refused."""
        answer, status = self.ask(path, **request)
        if status.code:
            raise RuntimeError(f"{path} was refused: {status.reason}: {status.message}")
        return answer

    def transactions(self, account, method="ListTransactions", **more):
        """All of an account, page by page."""
        found, token = [], b""
        if method == "ListTransactions":
            more["include_finished_consumables"] = True
        while True:
            page = self.get(TRANSACTIONS + method, app=APP, account=account, page_size=500, page_token=token, **more)
            found += [each.transaction for each in page.transactions]
            token = page.next_page_token
            if not token:
                return found

    def close(self):
        self.input.close()
        self.socket.close()
