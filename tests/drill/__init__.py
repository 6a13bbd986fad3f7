"""The drill: the service as replicas and workers behind Envoy, used by many while its processes are killed."""

import os

# The drill starts processes while its clients are at work, which gRPC's own handlers of a fork do not always survive.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
