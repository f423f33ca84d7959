"""The messages and enumerations of the contract: the package `perch.v1` of proto/perch."""

import pkgutil as _pkgutil

from .._generated.messages import *  # noqa: F401,F403
from .._generated.messages import __all__ as __all__

# What protoc generates from the contract is `perch/v1/*_pb2.py`: a process may use both.
__path__ = _pkgutil.extend_path(__path__, __name__)  # noqa: F405
