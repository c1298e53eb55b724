"""What callers can catch. Each message names the thing and says what to do next."""

from __future__ import annotations


class RocmSdkError(RuntimeError):
    """Something about this installation is not as it must be. `hint` is the next step, or empty."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class PackageMissing(RocmSdkError, ModuleNotFoundError):
    """A package of the SDK is not installed; `hint` holds the command that installs it."""

    def __init__(self, message: str, hint: str, module: str) -> None:
        super().__init__(message, hint)
        self.name = module

    def __str__(self) -> str:
        return f"{self.args[0]}; {self.hint}"
