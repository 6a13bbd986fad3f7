"""What happens before and after every call. Each concern is a middleware, an async context manager that runs the call
inside; one gRPC interceptor enters them in order."""

from proviso_service.api.interceptors.chain import Call, CallInterceptor, Middleware

__all__ = ["Call", "CallInterceptor", "Middleware"]
