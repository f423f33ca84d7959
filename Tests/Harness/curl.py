"""curl, and what it was answered."""
import subprocess
import tempfile

from waiting import PATIENCE_SECONDS


def curl(port, path, *arguments, data=None, kind="application/json", until=None):
    """Status, head and body of an answer. Of a stream, whose body is read only until `until(body)` is true."""
    command = ["curl", "--silent", "--include", "--no-buffer", "--max-time", str(PATIENCE_SECONDS), *arguments]
    if data is not None:
        command += ["--data-binary", "@-", "--header", f"content-type: {kind}"]
    body = data.encode() if isinstance(data, str) else data
    out = b""
    with tempfile.TemporaryFile() as sent:
        sent.write(body or b"")
        sent.seek(0)
        with subprocess.Popen([*command, f"http://127.0.0.1:{port}{path}"], stdin=sent, stdout=subprocess.PIPE) as process:
            while part := process.stdout.read1():
                out += part
                if until and until(out.partition(b"\r\n\r\n")[2]):
                    process.kill()
                    break
    head, _, body = out.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    return int(lines[0].split()[1]) if lines[0] else 0, fields, body
