"""typing_extensions: what typing has by now."""
from typing import *  # noqa: F401,F403
from typing import Annotated, Final, Literal, Protocol, TypedDict, runtime_checkable  # noqa: F401


def __getattr__(name):
    import typing
    return getattr(typing, name, typing.Any)
