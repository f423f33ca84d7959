"""Swift source as lines."""

HEADER = """// Generated from proto/ by `make proto`. Do not edit: change the contract, proto/swift.map or proto/generator/.
// swift-format-ignore-file
"""


class Source:
    """Lines of one file, with the indentation of the block that is being written."""

    def __init__(self, *imports):
        self.lines, self.depth = [HEADER] + list(imports) + [""], 0

    def line(self, text=""):
        self.lines.append("    " * self.depth + text if text else "")

    def doc(self, comment, fallback=None):
        """A documentation comment of the contract's own words."""
        for line in (comment.strip() or fallback or "").splitlines():
            self.line(f"/// {line.strip()}".rstrip())

    def open(self, text):
        self.line(text + " {")
        self.depth += 1

    def close(self):
        self.depth -= 1
        self.line("}")

    def block(self, text):
        return _Block(self, text)

    def call(self, head, arguments, tail=")"):
        """A call or a declaration: on one line where it fits, else one argument a line."""
        whole = f"{head}({', '.join(arguments)}{tail}"
        if len(whole) + 4 * self.depth <= 120:
            self.line(whole)
            return
        self.line(f"{head}(")
        self.depth += 1
        for index, argument in enumerate(arguments):
            self.line(argument + ("," if index + 1 < len(arguments) else ""))
        self.depth -= 1
        self.line(tail)

    def text(self):
        return "\n".join(self.lines).rstrip() + "\n"


class _Block:
    def __init__(self, source, text):
        self.source, self.opening = source, text

    def __enter__(self):
        self.source.open(self.opening)

    def __exit__(self, *_):
        self.source.close()
