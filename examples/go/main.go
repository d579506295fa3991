// A KIP-848 group coordinator that speaks the conformance kit's line protocol.
package main

import (
	"fmt"
	"os"

	"example.org/coordinator/lineprotocol"
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
	if err := lineprotocol.Serve(newCoordinator(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
