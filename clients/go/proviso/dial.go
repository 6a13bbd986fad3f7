package proviso

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
)

// DialOptions are for connections over which turns are read: a peer that vanished is noticed within 40 seconds, and one
// that comes back is found again within seconds, where gRPC would by default wait up to two minutes.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: firstWait, Multiplier: 2, Jitter: 0.2, MaxDelay: longestWait},
			MinConnectTimeout: longestWait,
		}),
	}
}
