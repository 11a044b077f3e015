package viewer

import (
	"os"
	"testing"
)

func TestShots(t *testing.T) {
	dir := os.Getenv("BLOCKYARD_DATA")
	if dir == "" {
		return
	}
	b := browse(t, dir)
	b.visit("")
	b.await("document.querySelectorAll('.row').length > 5")
	b.shot("list")
	for name, at := range map[string]string{
		"blockbattle": "#blockbattle.jsonl:1/40", "duel": "#tetrisduel.jsonl:1/120", "blocking4": "#blocking4.jsonl:1/22",
		"blocking4end": "#blocking4.jsonl:1/9999", "drop": "#history/0_1360540800/700", "dropend": "#history/0_1360540800/99999", "battleend": "#blockbattle.jsonl:1/9999",
		"win": "#wintetris.jsonl:1/40",
	} {
		b.visit(at)
		b.await("/^[1-9]/.test(document.querySelector('#counter').textContent)")
		b.shot(name)
	}
	b.size(390, 844, 3, false)
	for name, at := range map[string]string{"phone-drop": "#history/0_1360540800/700", "phone-battle": "#blockbattle.jsonl:1/30", "phone-blocking": "#blocking4.jsonl:1/22", "phone-list": ""} {
		b.visit(at)
		b.await("document.querySelectorAll('.row,.frame').length > 0")
		b.shot(name)
	}
	b.size(1280, 800, 2, true)
	for name, at := range map[string]string{"dark-drop": "#history/0_1360540800/700", "dark-battle": "#blockbattle.jsonl:1/30", "dark-blocking": "#blocking4.jsonl:1/22", "dark-list": ""} {
		b.visit(at)
		b.await("document.querySelectorAll('.row,.frame').length > 0")
		b.shot(name)
	}
	b.clean()
}
