"""What a provider's refusal is told as."""


class ProviderRefusal(Exception):
    """The provider gave no reply, or none that is whole. `code` is the HTTP status, None where it was 200;
    `retry_after_s` are the seconds that the provider asked to wait. The message is for logs: it holds nothing that the
    provider said, which may repeat what was sent."""

    def __init__(self, message: str, code: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retry_after_s = retry_after_s
