package compile

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bodgit/sevenzip"
	"github.com/klauspost/compress/zip"
	formats "github.com/mholt/archives"
	"github.com/nwaples/rardecode/v2"
)

type unpacker struct {
	into  string
	limit Limits
	files int
	size  int64
}

// unpack puts the files of a submission into a folder; in has it as tar.
func unpack(ctx context.Context, o *order, in io.Reader, into string) error {
	u := &unpacker{into: into, limit: o.Limits}
	from := tar.NewReader(in)
	if o.Folder {
		return u.each(from, func(head *tar.Header) error {
			return u.put(head.Name, from, head.FileInfo().Mode()&0o100 != 0)
		})
	}
	lower := strings.ToLower(o.Name)
	if Archive(lower) && !strings.HasSuffix(lower, ".jar") {
		return u.each(from, func(*tar.Header) error { return u.archive(ctx, lower, from) })
	}
	if !strings.HasSuffix(lower, ".jar") && languageOf(o.Name) == nil {
		return refuse("%s is neither a source file nor an archive that is read (%s)", o.Name, strings.Join(archives, ", "))
	}
	name := o.Name
	if len(name) > mostFileName {
		name = "bot" + filepath.Ext(name)
	}
	return u.each(from, func(*tar.Header) error { return u.put(name, from, false) })
}

// each calls do for every file of a submission.
func (u *unpacker) each(from *tar.Reader, do func(head *tar.Header) error) error {
	for {
		head, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(head)
		}
		if err != nil {
			return err
		}
	}
}

// mostFileName is how long the name of a source file may be: compilers add endings, and file systems have limits.
const mostFileName = 200

// archive unpacks an archive, which it keeps in a file meanwhile.
func (u *unpacker) archive(ctx context.Context, name string, in io.Reader) error {
	f, err := os.CreateTemp("", "archive-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := io.Copy(f, in); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	switch filepath.Ext(name) {
	case ".zip":
		return u.extract(ctx, f, formats.Zip{})
	case ".7z":
		return u.extract(ctx, f, formats.SevenZip{})
	case ".rar":
		return u.extract(ctx, f, formats.Rar{})
	}
	var plain io.Reader = f
	for _, c := range compressions {
		if !strings.HasSuffix(name, c.ending) {
			continue
		}
		if plain, err = c.format.OpenReader(f); err != nil {
			return refuse("not %s archive: %v", c.name, err)
		}
	}
	// What is not kept of an archive, such as folders and links, counts too.
	plain = io.LimitReader(plain, 2*u.limit.Size+int64(u.limit.Files)*1024)
	return u.extract(ctx, plain, formats.Tar{})
}

// put writes one file. A name that leads out of the folder is refused.
func (u *unpacker) put(name string, r io.Reader, executable bool) error {
	name = filepath.Clean(filepath.FromSlash(strings.ReplaceAll(name, `\`, "/")))
	if !filepath.IsLocal(name) {
		return refuse("the file name %q leads out of the archive", name)
	}
	if LeftOut(name) {
		return nil
	}
	if u.files++; u.files > u.limit.Files {
		return refuse("more than %d files", u.limit.Files)
	}
	target := filepath.Join(u.into, name)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return refuse("the file %q: %v", name, err)
	}
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	f, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return refuse("the file %q is there twice or cannot be written: %v", name, err)
	}
	n, err := io.Copy(f, io.LimitReader(r, u.limit.Size-u.size+1))
	if u.size += n; u.size > u.limit.Size {
		err = refuse("more than %d bytes when unpacked", u.limit.Size)
	}
	return errors.Join(err, f.Close())
}

var errEncrypted = refuse("the archive is encrypted: hand it in without a password")

var compressions = []struct {
	ending, name string
	format       formats.Decompressor
}{{"gz", "a gzip", formats.Gz{}}, {"bz2", "a bzip2", formats.Bz2{}}, {"xz", "an xz", formats.Xz{}}}

func (u *unpacker) extract(ctx context.Context, in io.Reader, format formats.Extractor) error {
	err := format.Extract(ctx, in, func(_ context.Context, file formats.FileInfo) error {
		if !file.Mode().IsRegular() || file.LinkTarget != "" {
			return nil
		}
		if head, ok := file.Header.(zip.FileHeader); ok && head.Flags&1 != 0 {
			return errEncrypted
		}
		r, err := file.Open()
		if err != nil {
			return err
		}
		defer r.Close()
		return u.put(file.NameInArchive, r, file.Mode()&0o100 != 0)
	})
	locked := new(sevenzip.ReadError)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zip.ErrFormat):
		return refuse("not a zip archive: %v", err)
	case errors.As(err, &locked) && locked.Encrypted,
		errors.Is(err, rardecode.ErrArchiveEncrypted), errors.Is(err, rardecode.ErrArchivedFileEncrypted):
		return errEncrypted
	default:
		return damaged(err)
	}
}

func damaged(err error) error {
	if refusal := new(Refusal); errors.As(err, &refusal) {
		return refusal
	}
	return refuse("the archive is damaged: %v", err)
}
