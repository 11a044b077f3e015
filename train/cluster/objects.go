package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// objects are the nets and the large results of a run, named by the SHA-256 of their bytes in hexadecimal.
type objects struct{ store jetstream.ObjectStore }

func openObjects(ctx context.Context, js jetstream.JetStream, run string, create bool) (*objects, error) {
	var store jetstream.ObjectStore
	var err error
	if create {
		store, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: netsBucket(run), Description: "nets and large results", MaxBytes: resultBytes,
		})
	} else {
		store, err = js.ObjectStore(ctx, netsBucket(run))
	}
	return &objects{store}, explain(err)
}

// put stores an object and returns its name.
func (o *objects) put(ctx context.Context, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	if _, err := o.store.GetInfo(ctx, name); err == nil {
		return name, nil
	}
	_, err := o.store.PutBytes(ctx, name, data)
	return name, explain(err)
}

// get returns an object whose bytes match its name.
func (o *objects) get(ctx context.Context, name string) ([]byte, error) {
	data, err := o.store.GetBytes(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("object %.12s: %w", name, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != name {
		return nil, fmt.Errorf("object %.12s: its bytes do not match its name", name)
	}
	return data, nil
}

// remove deletes an object, if it is there.
func (o *objects) remove(ctx context.Context, name string) error {
	if err := o.store.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return err
	}
	return nil
}
