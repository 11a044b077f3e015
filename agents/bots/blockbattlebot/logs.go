package blockbattlebot

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the logs
	"encoding/json"
	"fmt"
)

// protocolLogs are games of two contest engines, every line in both directions, which tests and replays use.
//
//go:embed logs/protocol_logs.jsonl.gz
var protocolLogs []byte

// A protocolLog is one game as one bot saw it.
type protocolLog struct {
	Dialect string      // classic or port
	Game    string      // its name
	Lines   [][2]string `json:"log"` // who wrote each, host (to the bot), bot, or note (the host's own remark); its text
}

func readLogs() (logs []protocolLog, err error) {
	z, err := gzip.NewReader(bytes.NewReader(protocolLogs))
	for d := json.NewDecoder(z); err == nil && d.More(); {
		var l protocolLog
		err = d.Decode(&l)
		logs = append(logs, l)
	}
	if err != nil {
		return nil, fmt.Errorf("protocol logs: %w", err)
	}
	return logs, nil
}
