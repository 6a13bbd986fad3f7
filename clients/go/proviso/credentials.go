package proviso

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
)

// early is how long before its end a token is replaced, because the service's clock may be ahead.
const early = 30 * time.Second

// TLSFiles names PEM files. Without CA the service's certificate has to come from an authority that the system trusts;
// Certificate and Key are shown to a service that asks for client certificates.
type TLSFiles struct {
	CA, Certificate, Key string
}

// WithTLS encrypts the connection. It fails when a file cannot be used.
func WithTLS(files TLSFiles) (grpc.DialOption, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if files.CA != "" {
		pem, err := os.ReadFile(files.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", files.CA)
		}
	}
	if files.Certificate != "" || files.Key != "" {
		own, err := tls.LoadX509KeyPair(files.Certificate, files.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{own}
	}
	return grpc.WithTransportCredentials(credentials.NewTLS(config)), nil
}

// WithToken sends an API key or a JSON Web Token with every call. gRPC refuses to send it over a connection without TLS.
func WithToken(token string) grpc.DialOption {
	return grpc.WithPerRPCCredentials(&tokens{text: token})
}

// TokenSource gives a token and its end; one whose end is zero is used for one call.
type TokenSource func(context.Context) (token string, end time.Time, err error)

// WithTokens sends the token of the moment with every call, and asks the source again shortly before its end.
func WithTokens(source TokenSource) grpc.DialOption {
	return grpc.WithPerRPCCredentials(&tokens{source: source})
}

// ForUser names the user for whom the calls of a context act; the credential needs the role act_for_users.
func ForUser(ctx context.Context, userID string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "x-user-id", userID)
}

// tokens are credentials.PerRPCCredentials.
type tokens struct {
	source TokenSource
	mutex  sync.Mutex
	text   string
	until  time.Time
}

func (t *tokens) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := t.current(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
}

func (t *tokens) RequireTransportSecurity() bool {
	return true
}

// String hides the token from what prints the options.
func (t *tokens) String() string {
	return "tokens"
}

func (t *tokens) current(ctx context.Context) (string, error) {
	if t.source == nil {
		return t.text, nil
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if time.Now().Before(t.until) {
		return t.text, nil
	}
	token, end, err := t.source(ctx)
	if err != nil {
		return "", err
	}
	t.text, t.until = token, end.Add(-min(early, time.Until(end)/2))
	return token, nil
}
