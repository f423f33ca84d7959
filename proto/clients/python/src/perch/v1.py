"""The messages and enumerations of the contract: the package `perch.v1` of proto/perch."""

from ._generated.messages import *  # noqa: F401,F403
from ._generated.messages import __all__ as __all__
