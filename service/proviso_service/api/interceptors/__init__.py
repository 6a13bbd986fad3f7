"""What happens around every call: one concern a file, each an async context manager, entered in order by one
interceptor."""

from proviso_service.api.interceptors.chain import Around, Call, CallInterceptor

__all__ = ["Around", "Call", "CallInterceptor"]
