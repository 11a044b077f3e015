package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Objects are the nets, the weights and the large results of a run, named by the SHA-256 of their bytes in hexadecimal.
type Objects struct{ store jetstream.ObjectStore }

// objectBytes bounds the objects of a run.
const objectBytes = 256 << 20

// OpenObjects opens the objects of a run.
func OpenObjects(ctx context.Context, js jetstream.JetStream, run string) (*Objects, error) {
	store, err := js.ObjectStore(ctx, objectsBucket(run))
	return &Objects{store}, Explain(err)
}

// CreateObjects creates the store of a run's objects. An object vanishes by itself when it is older than keep; 0 keeps
// it.
func CreateObjects(ctx context.Context, js jetstream.JetStream, run string, keep time.Duration) (*Objects, error) {
	store, err := js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: objectsBucket(run), Description: "nets, weights and large results", MaxBytes: objectBytes, TTL: keep,
	})
	return &Objects{store}, Explain(err)
}

// DeleteObjects deletes the objects of a run.
func DeleteObjects(ctx context.Context, js jetstream.JetStream, run string) error {
	return js.DeleteObjectStore(ctx, objectsBucket(run))
}

// ObjectName is the name of an object with these bytes.
func ObjectName(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Put stores an object and returns its name.
func (o *Objects) Put(ctx context.Context, data []byte) (string, error) {
	name := ObjectName(data)
	if _, err := o.store.GetInfo(ctx, name); err == nil {
		return name, nil
	}
	_, err := o.store.PutBytes(ctx, name, data)
	return name, Explain(err)
}

// Refresh stores an object once more, so that it is new.
func (o *Objects) Refresh(ctx context.Context, data []byte) error {
	_, err := o.store.PutBytes(ctx, ObjectName(data), data)
	return Explain(err)
}

// Get returns an object whose bytes match its name.
func (o *Objects) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := o.store.GetBytes(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("object %.12s: %w", name, err)
	}
	if ObjectName(data) != name {
		return nil, fmt.Errorf("object %.12s: its bytes do not match its name", name)
	}
	return data, nil
}

// Remove deletes an object, if it is there.
func (o *Objects) Remove(ctx context.Context, name string) error {
	if err := o.store.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return err
	}
	return nil
}
