"""Copies as an application holds them: for threads and for asyncio."""

import asyncio
import datetime
import inspect
import os
import threading
import weakref
from typing import Any, Iterable, Optional, Sequence, Tuple, Union

from . import v1
from ._copyfile import CopyFile, Unusable, wall_ms
from ._core import Core, closed, log
from ._entries import Change, Entries, now_ms
from ._generated.calls import APP_ENTITLEMENTS
from ._io import run
from ._method import named_app, with_app
from ._streams import Returning
from .errors import LocalReason, PerchError, late

Path = Union[str, "os.PathLike[str]", None]


class CopyStream(Returning):
    """The stream that fills a copy, over all its connections."""

    awaits_credentials = True

    def __init__(
        self, core: Core, entries: Entries, asked: v1.AppEntitlementsRequest, file: Optional[CopyFile]
    ) -> None:
        super().__init__(core, APP_ENTITLEMENTS, None)
        self.entries, self._asked, self.file = entries, asked, file
        self.signal = core.io.signal()
        self.is_away: Optional[bool] = None
        """Whether the server is away; None before it has spoken, or an attempt has failed."""
        self.failure: Optional[PerchError] = None
        """Why there is no connection."""
        self._changes: Iterable[Change] = ()

    def request(self) -> Any:
        return self._asked.replace(resume_token=self.entries._token)

    def take(self, message: Any) -> Any:
        entries = self.entries
        self._changes = entries._take(message)
        if entries._is_current:
            entries._is_cut = False
        return message

    def forget(self, error: PerchError) -> bool:
        self.entries._token = b""
        return True

    def reconnecting(self) -> None:
        self.entries._building = None
        self.entries._is_joined = self.entries._is_current = False

    def _arrived(self) -> None:
        super()._arrived()
        self.is_away, self.failure = False, None

    def _leave(self, error: PerchError) -> None:
        # Who refuses credentials is there.
        self.entries._is_cut, self.is_away, self.failure = True, error.is_transient, error
        self.signal.notify()
        super()._leave(error)

    async def follow(self) -> None:
        """Keeps the copy up to date, until it is closed or a final error ends it."""
        entries = self.entries
        try:
            await self._restore()
            while True:
                message = await self.next(None)
                is_due = entries._building is None and self._keep(message)
                self.signal.notify()
                for change in self._changes:
                    await self._call(change)
                if is_due:
                    await self._rewrite()
                await self.core.io.breathe()
        except StopAsyncIteration:
            entries._error = closed("copy")
        except PerchError as error:
            entries._error = error
            if error.reason != LocalReason.CLOSED:
                log.error("the copy gets no more changes: %s", error)
        finally:
            entries._is_cut = True
            self.signal.notify()
            if self.file is not None:
                self.file.close()

    async def _call(self, change: Change) -> None:
        for callback in list(self.entries._callbacks):
            if self.is_closed or self.core.is_closed:
                return
            try:
                found = callback(*change)
                if inspect.isawaitable(found):
                    await found
            except Exception:
                log.exception("a callback of the copy failed; the copy goes on")
        await self.core.io.breathe()

    # MARK: The file

    async def _restore(self) -> None:
        """Takes what the file has. The time since then is that of the wall clock, and never below zero."""
        if self.file is None:
            return
        wall, now = wall_ms(), now_ms()
        try:
            for arrived, message in self.file.read():
                self.entries._take(message, now - max(wall - arrived, 0))
                await self.core.io.breathe()
        except FileNotFoundError:
            pass
        except (Unusable, OSError, PerchError) as error:
            self.entries._forget()
            self.file.outdate()
            log.warning("%s is ignored, and written anew: %s", self.file.path, error)
        self.signal.notify()

    def _keep(self, message: v1.AppEntitlementsResponse) -> bool:
        """Adds a message to the file. Whether the file has to be written anew instead, which takes longer."""
        file = self.file
        if file is None or not self.entries._is_whole:
            return False
        try:
            if message.end is not None:
                file.outdate()
            # Another process may keep the file: whether it still does is asked with each bookmark, not each change.
            if not file.is_kept and (message.accounts is not None or not file.keeps()):
                file.outdate()
            elif file.is_due:
                # It would be dated from now, and looks as new as it is.
                return self.entries._is_current
            else:
                file.append(message)
        except OSError as error:
            self._give_up(error)
        return False

    async def _rewrite(self) -> None:
        assert self.file is not None
        try:
            for _ in self.file.rewrite(self.entries._messages()):
                await self.core.io.breathe()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        assert self.file is not None
        log.warning("%s is not kept up to date any more: %s", self.file.path, error)
        self.file.close()
        self.file = None


class _Copy(Entries):
    """What the copies of both kinds share."""

    def __init__(
        self,
        core: Core,
        app: Union[v1.AppRef, str, None],
        file: Path,
        names: Sequence[str],
        shard: Optional[Tuple[int, int]],
        deny_after: Optional[float],
    ) -> None:
        if isinstance(names, str):
            raise TypeError("names is a list of names, not one")
        if shard is not None and not 0 <= shard[0] < shard[1]:
            raise ValueError(f"shard is (number from 0, count), not {shard!r}")
        super().__init__(names, shard, deny_after)
        index, count = shard or (0, 0)
        asked = with_app(
            v1.AppEntitlementsRequest(app=named_app(app), names=names, shard=index, shard_count=count), core.app
        )
        kept = None
        if file is not None:
            about = {"app": repr(asked.app), "names": list(names), "shard": self._shard}
            if asked.app is None:  # The server decides which one.
                about["server"] = core.address.where
            kept = CopyFile(file, about)  # type: ignore[arg-type]
        self._stream = CopyStream(core, self, asked, kept)

    @property
    def disconnected_since(self) -> Optional[datetime.datetime]:
        """Since when the copy has no connection; None while it has one, and before the first attempt."""
        return self._stream.disconnected_since

    def _may_begin(self) -> bool:
        away = self._stream.is_away
        return self._is_whole and (away or away is False and self._is_current) or self._error is not None

    async def _wait_ready(self, timeout: Optional[float]) -> None:
        await self._stream.signal.wait(self._may_begin, timeout)
        if self._error is not None:
            raise self._error
        if not self._may_begin():
            state = "has not got what it missed" if self._is_whole else "was not complete"
            raise self._late(f"the copy {state} within {timeout:g} s")

    async def _wait_for(self, position: v1.Position, timeout: Optional[float]) -> None:
        await self._stream.signal.wait(lambda: self._has_reached(position) or self._error is not None, timeout)
        if not self._has_reached(position):
            here = self._position.revision if self._position is not None else "nowhere"
            raise self._error or self._late(
                f"the copy has not reached the revision {position.revision} within {timeout:g} s; it is at {here}"
            )

    def _late(self, message: str) -> PerchError:
        failure = self._stream.failure
        error = late(message if failure is None else f"{message}; the last attempt: {failure}")
        error.__cause__ = failure
        return error


class Copy(_Copy):
    """A copy of every entitlement of an app, kept up to date by a thread of its own.

    `has` answers from memory, from any thread. While the server is away the copy stays right as far as it can know:
    each entitlement ends when it has to.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        _copies.add(self)
        self._start()

    def _start(self) -> None:
        self._thread = threading.Thread(target=lambda: run(self._stream.follow()), name="perch-copy", daemon=True)
        self._thread.start()

    def wait_ready(self, timeout: Optional[float] = None) -> None:
        """Waits until the copy is complete and has what it missed. A file's copy is enough while the server is away.

        A TimeoutError (`perch.DeadlineExceeded`) after `timeout` seconds, whose `__cause__` is why there is no
        connection, and the final error that has ended the updates.
        """
        run(self._wait_ready(timeout))

    def wait_for(self, position: v1.Position, timeout: Optional[float] = None) -> None:
        """Waits until the copy has a change: the `position` of the call that made it. Else a TimeoutError."""
        run(self._wait_for(position, timeout))

    def close(self) -> None:
        """Ends the updates, and waits until a callback that runs has returned. No callback comes after it."""
        self._stream.close()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _forked(self) -> None:
        """The thread is the parent's. This process has what the copy had, and goes on by itself."""
        old = self._stream
        if old.is_closed or old.core.is_closed or self._error is not None:
            return
        self._building, self._is_cut = None, True
        file = old.file
        if file is not None:
            file.close()
            file.outdate()
        self._stream = CopyStream(old.core, self, old._asked, file)
        self._start()

    def __enter__(self) -> "Copy":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class AsyncCopy(_Copy):
    """A copy of every entitlement of an app, kept up to date by a task of the event loop that made it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._task = asyncio.get_running_loop().create_task(self._stream.follow())

    async def wait_ready(self, timeout: Optional[float] = None) -> None:
        """Waits until the copy is complete. See `perch.Copy.wait_ready`."""
        await self._wait_ready(timeout)

    async def wait_for(self, position: v1.Position, timeout: Optional[float] = None) -> None:
        """Waits until the copy has a change: the `position` of the call that made it. Else a TimeoutError."""
        await self._wait_for(position, timeout)

    def close(self) -> None:
        """Ends the updates. No callback begins after it."""
        self._stream.close()

    async def __aenter__(self) -> "AsyncCopy":
        return self

    async def _ended(self) -> None:
        if asyncio.current_task() is not self._task:  # A callback may close it.
            await self._task

    async def __aexit__(self, *_: Any) -> None:
        self.close()
        await self._ended()


_copies: "weakref.WeakSet[Copy]" = weakref.WeakSet()


def _forked() -> None:
    for copy in list(_copies):
        copy._forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)

__all__ = ["AsyncCopy", "Copy"]
