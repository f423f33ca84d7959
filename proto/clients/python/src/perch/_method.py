"""A method of the contract."""

from typing import Any, NamedTuple, Optional, Type, Union

from . import v1
from ._codec import Message


class Method(NamedTuple):
    """Its path, its messages, and what the contract says about repeating it."""

    path: str
    request: Type[Message]
    response: Type[Message]
    is_safe: bool
    """It changes nothing."""
    is_idempotent: bool
    """Repeated calls have the effect of one."""
    is_keyed: bool
    """Its request has an idempotency key: with one, repeated calls have the effect of one."""

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[1]


def named_app(app: Union[v1.AppRef, str, None]) -> Optional[v1.AppRef]:
    """A bundle identifier alone is enough where it has one environment."""
    return v1.AppRef(bundle_id=app) if isinstance(app, str) else app


def with_app(request: Any, app: Optional[v1.AppRef]) -> Any:
    """The request with the client's app, if it has a place for one and names none."""
    if app is None or "app" not in request.__slots__ or request.app is not None:
        return request
    return request.replace(app=app)
