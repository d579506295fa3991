// A KIP-848 group coordinator that speaks the conformance kit's line protocol: one JSON object a line in, one out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

const usage = `usage: coordinator --stdio

A KIP-848 group coordinator in Go, an example for the conformance kit:

  conform doctor --target "stdio:./coordinator --stdio"
  conform gate --target "stdio:./coordinator --stdio"
`

func main() {
	if len(os.Args) != 2 || os.Args[1] != "--stdio" {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	coordinator, out := newCoordinator(), json.NewEncoder(os.Stdout)
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			if failed := out.Encode(coordinator.answer(line)); failed != nil {
				fmt.Fprintln(os.Stderr, failed)
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}
