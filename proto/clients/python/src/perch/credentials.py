"""Where a client's token comes from."""

import inspect
import os
from typing import Any, Awaitable, Callable, Optional, Tuple, Union

from .errors import Code, FinalError, LocalReason, PerchError


class Token:
    """A token that stays the same. When it ends, the client's streams end with the reason."""

    renews = False
    check_seconds = 5.0

    def __init__(self, token: str) -> None:
        self._token = _checked(token, "the token")

    def current(self) -> str:
        return self._token

    def __repr__(self) -> str:
        return "Token(…)"


class TokenFile:
    """A file with a token, which another program renews: each new call and each new connection uses what it has then.

    A stream whose token has ended waits for the next one.
    """

    renews = True
    check_seconds = 0.5

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)
        self._read: Tuple[Any, str] = (None, "")

    def current(self) -> str:
        try:
            found = os.stat(self.path)
            mark = found.st_mtime_ns, found.st_size, found.st_ino
            if self._read[0] != mark:
                with open(self.path, encoding="utf-8") as file:
                    self._read = mark, _checked(file.read(16_384).strip(), self.path)
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(
                f"{self.path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}"
            ) from None
        return self._read[1]

    def __repr__(self) -> str:
        return f"TokenFile({self.path!r})"


class TokenSource:
    """A function that answers a token, for each call and each new connection. An asyncio client awaits its result."""

    renews = True
    check_seconds = 5.0

    def __init__(self, function: Callable[[], Union[str, Awaitable[str]]]) -> None:
        self._function = function

    def current(self) -> Any:
        return self._function()


Credentials = Union[Token, TokenFile, TokenSource, Callable[[], Union[str, Awaitable[str]]], str, None]


def source(credentials: Credentials) -> Union[Token, TokenFile, TokenSource, None]:
    if credentials is None or isinstance(credentials, (Token, TokenFile, TokenSource)):
        return credentials
    if isinstance(credentials, str):
        return Token(credentials)
    if callable(credentials):
        return TokenSource(credentials)
    raise TypeError(f"credentials is a token, a perch.TokenFile, a function, or None, not {type(credentials).__name__}")


async def current(credentials: Union[Token, TokenFile, TokenSource, None]) -> Optional[str]:
    if credentials is None:
        return None
    try:
        token = credentials.current()
        if inspect.isawaitable(token):
            token = await token
    except PerchError:
        raise
    except Exception as error:  # Its text may have a secret: it is the cause, and not in the message.
        raise _unreadable(f"the function for credentials failed with {type(error).__name__}") from error
    return _checked(token, "the function for credentials") if isinstance(credentials, TokenSource) else token


def _checked(token: Any, what: str) -> str:
    if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable() or " " in token:
        raise _unreadable(f"{what} has no token: it must be one word of ASCII, without `Bearer`")
    return token


def _unreadable(message: str) -> FinalError:
    return FinalError(Code.UNAUTHENTICATED, LocalReason.AUTHORIZATION_UNREADABLE, message)
