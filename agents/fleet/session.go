package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"blockyard/agents/fleet/broker"
)

// A Session is a Server and its site, which end together. It is nil for a command whose games no workers play.
type Session struct {
	*Server
	Site *broker.Site
	Out  io.Writer // gets what people should know
}

// Check is that of the Server.
func (s *Session) Check(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return s.Server.Check(ctx)
}

// Progress says in a line what each worker has done.
func (s *Session) Progress() string {
	if s == nil {
		return ""
	}
	return Progress(s.Workers())
}

// Close gives the run back, prints who did what, and closes the site. finished says that the run is over.
func (s *Session) Close(finished bool) error {
	if s == nil {
		return nil
	}
	err := s.Server.Close(finished)
	fmt.Fprint(s.Out, Table(s.Workers()))
	return errors.Join(err, s.Site.Close(finished))
}
