// kfake serves franz-go's kfake on a free port of 127.0.0.1, whose address it prints, until its input ends.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	settings := map[string]string{"default.replication.factor": "1"}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.BrokerConfigs(settings))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer cluster.Close()
	fmt.Println(cluster.ListenAddrs()[0])
	io.Copy(io.Discard, os.Stdin)
}
