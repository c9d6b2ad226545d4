package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"despacho/internal/apperror"
	"despacho/internal/orders"
	"despacho/internal/panel"
	"despacho/models"
)

const (
	// maxStreams is how many streams of changes one operator may have open at the same time,
	// maxStoreStreams of them one store and maxUserStreams one user.
	maxStreams, maxStoreStreams, maxUserStreams = 256, 32, 8
	// streamTime is how long a stream is open: the browser opens the next one, for which the session
	// is looked at again.
	streamTime = 10 * time.Minute
	// streamPause is the longest time without a byte, so that no proxy takes the stream for dead.
	streamPause = 20 * time.Second
	// streamWrite is how long the client may take to receive what is written.
	streamWrite = 10 * time.Second
)

const (
	streamType = "text/event-stream"
	// streamBegins has the browser wait so many milliseconds before it opens a stream again.
	streamBegins = "retry: 5000\n\n"
	streamAlive  = ":\n\n"
	changedEvent = "data: changed\n\n"
)

// streamChanges tells an open list when it should be fetched again, as server-sent events without
// content: what has changed is asked for by the fetch, which is authorized like any other. It ends
// when the process stops, and at the first change after the session has ended.
func (s *Server) streamChanges(c *gin.Context) error {
	who, err := s.authorize(c, models.AnyUser)
	if err != nil {
		return err
	}
	if c.GetHeader("Accept") != streamType {
		return apperror.New(apperror.Invalid, "invalid_fields", "Esta dirección responde solo con Accept: "+streamType+".")
	}
	leave, err := s.enterStream(who.User.ID, callerOf(who))
	if err != nil {
		return err
	}
	defer leave()
	changed, stopped, unsubscribe := s.events.Changes(callerOf(who).Scope())
	defer unsubscribe()
	c.Header("Content-Type", streamType)
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no")
	c.Status(http.StatusOK)
	w := unbuffered(c)
	controller := http.NewResponseController(w)
	// The writer of a test has no connection.
	_ = controller.SetReadDeadline(time.Now().Add(streamTime + streamWrite))
	send := func(text string) error {
		_ = controller.SetWriteDeadline(time.Now().Add(streamWrite))
		_, err := io.WriteString(w, text)
		return errors.Join(err, controller.Flush())
	}
	alive, over := time.NewTicker(streamPause), time.NewTimer(streamTime)
	defer alive.Stop()
	defer over.Stop()
	for text := streamBegins; send(text) == nil; {
		select {
		case <-changed:
			if recheck(c.Request.Context(), c) != nil {
				return nil
			}
			text = changedEvent
		case <-alive.C:
			text = streamAlive
		case <-over.C:
			return nil
		case <-stopped:
			return nil
		case <-c.Request.Context().Done():
			return nil
		}
	}
	return nil
}

// enterStream counts one more stream of changes of a user.
func (s *Server) enterStream(user uuid.UUID, whose orders.Caller) (leave func(), err error) {
	leaveUser, ok := s.userStreams.enter(user)
	if ok {
		var leaveOperator func()
		if leaveOperator, ok = s.streams.enter(whose); ok {
			return func() {
				leaveOperator()
				leaveUser()
			}, nil
		}
		leaveUser()
	}
	return nil, errOverloaded.Because(fmt.Errorf("%d streams of the user are open, or %d of the operator, or %d of the store",
		maxUserStreams, maxStreams, maxStoreStreams))
}

// isStream reports whether a request is one for a stream of changes.
func isStream(c *gin.Context) bool { return c.FullPath() == panel.ChangesPath }
