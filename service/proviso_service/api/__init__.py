"""The gRPC layer: proto in, proto out. It knows the domain folders; none of them knows it."""
