"""What happens before and after every call. Each concern is a middleware, a function that runs the call inside;
one gRPC interceptor puts them around the handler in order."""

from proviso_service.api.interceptors.chain import Call, CallInterceptor, Handle, Middleware

__all__ = ["Call", "CallInterceptor", "Handle", "Middleware"]
