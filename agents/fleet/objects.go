package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Objects are the nets, the weights and the large results of a run, named by the SHA-256 of their bytes in hexadecimal.
type Objects struct{ store jetstream.ObjectStore }

// objectBytes bounds the objects of a run.
const objectBytes = 256 << 20

// ErrNoObject says that there is no such object, perhaps not any more.
var ErrNoObject = errors.New("there is no such object")

func openObjects(ctx context.Context, js jetstream.JetStream, run string) (*Objects, error) {
	store, err := js.ObjectStore(ctx, objectsBucket(run))
	return &Objects{store}, explain(err)
}

func createObjects(ctx context.Context, js jetstream.JetStream, run string) (*Objects, error) {
	store, err := js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: objectsBucket(run), Description: "nets, weights and large results", MaxBytes: objectBytes,
	})
	return &Objects{store}, explain(err)
}

func deleteObjects(ctx context.Context, js jetstream.JetStream, run string) error {
	return ignore(js.DeleteObjectStore(ctx, objectsBucket(run)), jetstream.ErrBucketNotFound)
}

// ObjectName is the name of an object with these bytes.
func ObjectName(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Put stores an object and returns its name; "" with an error.
func (o *Objects) Put(ctx context.Context, data []byte) (string, error) {
	name := ObjectName(data)
	if _, err := o.store.GetInfo(ctx, name); err == nil {
		return name, nil
	}
	if _, err := o.store.PutBytes(ctx, name, data); err != nil {
		return "", explain(err)
	}
	return name, nil
}

// Get returns an object whose bytes match its name. The error wraps ErrNoObject if there is none.
func (o *Objects) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := o.store.GetBytes(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		err = ErrNoObject
	}
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
	return ignore(o.store.Delete(ctx, name), jetstream.ErrObjectNotFound)
}
