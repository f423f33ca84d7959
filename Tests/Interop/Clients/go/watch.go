// Watches several values of one account, and applies them together, through lost connections. A model to copy.
package main

import (
	"context"
	"log"
	"math/rand"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	pb "perch/v1"
)

type State interface { // a message of any stream of state
	GetBookmark() *pb.Bookmark
	GetInfo() *pb.ValueInfo
	GetFailure() *pb.Failure
	GetUnchanged() *pb.Unchanged
}

// Watch is a stream of state. Open calls the method with a token, and returns the function that reads a message.
type Watch struct {
	Open             func(ctx context.Context, token []byte) (read func() (State, error), err error)
	Show             func(State)
	token            []byte
	held             State // a value that is not applied yet
	at, behind, last mark  // its position, the first bookmark behind it, and the last bookmark
}

type mark [2]int64                // revision and instant of a value or a bookmark
func (a mark) before(b mark) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }

// took keeps a value aside until all streams of the connection agree. The rule is in proto/README.md.
func took(watches []*Watch, w *Watch, m State, changed func()) {
	if b := m.GetBookmark(); b != nil {
		if w.last = (mark{int64(b.Revision), b.ServerTimeMs}); w.behind == (mark{}) {
			w.behind = w.last
		}
	} else if i := m.GetInfo(); i != nil && m.GetFailure() == nil && m.GetUnchanged() == nil {
		w.held, w.at, w.behind = m, mark{int64(i.Position.Revision), i.Position.AsOfMs}, mark{}
	}
	var newest, needed mark
	for _, w := range watches {
		if w.behind == (mark{}) {
			return
		} else if w.held != nil && (newest.before(w.at) || newest == w.at && w.behind.before(needed)) {
			newest, needed = w.at, w.behind
		}
	}
	for _, w := range watches {
		if newest == (mark{}) || w.last.before(needed) && (w.held == nil || w.at != newest) {
			return
		}
	}
	for _, w := range watches {
		if w.held != nil {
			w.Show(w.held)
			w.token, w.held = w.held.GetInfo().ResumeToken, nil
		}
	}
	changed()
}

// attempt opens all streams with their tokens, until one ends.
func attempt(ctx context.Context, watches []*Watch, changed func()) error {
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, "perch-groups", "1"))
	ended, lock := make(chan error), sync.Mutex{}
	for _, w := range watches {
		go func(w *Watch) {
			read, err := w.Open(ctx, w.token)
			for m := State(nil); err == nil; {
				if m, err = read(); err == nil {
					lock.Lock()
					took(watches, w, m, changed)
					lock.Unlock()
				}
			}
			ended <- err
		}(w)
	}
	err := <-ended
	cancel()
	for range watches[1:] {
		<-ended
	}
	return err
}

// Follow watches until an error that the same request would get again. The calls of Open wait for a connection.
func Follow(ctx context.Context, watches []*Watch, changed func()) error {
	for failures := 0; ; failures++ {
		began, reason, retry := time.Now(), "", (*errdetails.RetryInfo)(nil)
		answer := status.Convert(attempt(ctx, watches, changed))
		for _, detail := range answer.Details() {
			if info, ok := detail.(*errdetails.ErrorInfo); ok {
				reason = info.Reason
			} else if info, ok := detail.(*errdetails.RetryInfo); ok {
				retry = info
			}
		}
		for _, w := range watches { // a value that was not applied comes again: the token is that of the last applied value
			w.held, w.behind, w.last = nil, mark{}, mark{}
			if strings.HasPrefix(reason, "TOKEN_") { // of another store, or from before a restored backup
				w.token = nil
			} else if reason != "" && retry == nil {
				return answer.Err()
			}
		}
		log.Print("lost: ", answer.Code(), " ", reason, " ", answer.Message())
		if time.Since(began) > 10*time.Second {
			failures = 0
		}
		pause := retry.GetRetryDelay().GetSeconds()*1e9 + int64(retry.GetRetryDelay().GetNanos())
		time.Sleep(time.Duration(pause + rand.Int63n(1e9<<(failures%6))))
	}
}
