package broker

import (
	"net"
	"os"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
)

// ofWorkers is what the key of workers allows: to look for runs, to take jobs, to read objects, to send results and
// signs of life, and to ask for the status. It creates and deletes no stream.
func ofWorkers() *server.Permissions {
	return &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{
			"blockyard.*.hello", "blockyard.*.status", "blockyard.*.*.results", "$O.*.C.>", "$O.*.M.>", "$JS.ACK.>", "$JS.FC.>",
			"$JS.API.INFO", "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.MSG.GET.*", "$JS.API.DIRECT.GET.>",
			"$JS.API.CONSUMER.INFO.>", "$JS.API.CONSUMER.MSG.NEXT.>",
			"$JS.API.CONSUMER.CREATE.KV_blockyard-runs.>", "$JS.API.CONSUMER.CREATE.*.*.$O.>", // to read
			"$JS.API.CONSUMER.DELETE.*.*",
		}, Deny: []string{"$JS.API.CONSUMER.DELETE.*.workers", "$JS.API.CONSUMER.DELETE.*.server"}}, // of queues
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
	}
}

// reachable is the address of a listener as workers can reach it, and whether other machines can. One on every network
// has the name of this machine, which a certificate is for, or its first address.
func reachable(a net.Addr, byName bool) (address string, others bool) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String(), ok && !tcp.IP.IsLoopback()
	}
	host, err := os.Hostname()
	if all, none := net.InterfaceAddrs(); none == nil && (!byName || err != nil) {
		host = "127.0.0.1"
		for _, a := range all {
			if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
				host = n.IP.String()
				break
			}
		}
	}
	return net.JoinHostPort(host, strconv.Itoa(tcp.Port)), true
}
