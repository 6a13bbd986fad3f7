package proviso

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func TestATokenIsKeptUntilShortlyBeforeItsEnd(t *testing.T) {
	asked := 0
	lasting := func(lasts time.Duration) *tokens {
		return &tokens{source: func(context.Context) (string, time.Time, error) {
			asked++
			return fmt.Sprint("token-", asked), time.Now().Add(lasts), nil
		}}
	}
	for lasts, want := range map[time.Duration]int{time.Hour: 1, -time.Second: 3} {
		asked = 0
		source := lasting(lasts)
		for range 3 {
			if _, err := source.GetRequestMetadata(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if asked != want {
			t.Errorf("a token that lasts %v was asked for %d times, not %d", lasts, asked, want)
		}
	}
}

func TestATokenThatCannotBeHadFailsTheCall(t *testing.T) {
	wanted := errors.New("no token")
	source := &tokens{source: func(context.Context) (string, time.Time, error) { return "", time.Time{}, wanted }}
	if _, err := source.GetRequestMetadata(t.Context()); !errors.Is(err, wanted) {
		t.Errorf("got %v", err)
	}
}

func TestNoTokenGoesOverAConnectionWithoutTLSAndNoneIsPrinted(t *testing.T) {
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	if connection, err := grpc.NewClient("localhost:1", plain, WithToken("secret")); err == nil {
		connection.Close()
		t.Error("a token would be sent in the clear")
	}
	if printed := fmt.Sprint(&tokens{text: "secret"}); printed != "tokens" {
		t.Errorf("printed %s", printed)
	}
}

func TestFilesThatCannotBeUsedAreNamed(t *testing.T) {
	for _, files := range []TLSFiles{{CA: "absent.pem"}, {CA: "credentials.go"}, {Certificate: "absent.pem"}} {
		if _, err := WithTLS(files); err == nil {
			t.Errorf("%v could be used", files)
		}
	}
}
