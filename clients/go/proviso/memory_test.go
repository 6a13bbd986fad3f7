package proviso

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/test/bufconn"
)

// connect returns a connection in memory to a server of what is registered.
func connect(t *testing.T, register func(*grpc.Server)) *grpc.ClientConn {
	t.Helper()
	listener := bufconn.Listen(1 << 16)
	// As often as the service itself lets clients ask whether it is there.
	running := grpc.NewServer(grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second}))
	register(running)
	go func() { _ = running.Serve(listener) }()
	t.Cleanup(running.Stop)
	dial := func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	options := append(DialOptions(), grpc.WithContextDialer(dial), plain)
	connection, err := grpc.NewClient("passthrough:///memory", options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}
