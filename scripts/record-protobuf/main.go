// Reads objects as JSON, one a line, and prints each as client-go sends it in protobuf (base64) and as Go writes it in JSON.
// Built with the go.mod of Kubernetes 1.35.4; the input is `fullObjects` of test/hub/proto/full-objects.ts, the filled ones first:
//   record-protobuf < objects.jsonl | gzip -9n > test/hub/proto/go-bodies.jsonl.gz
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	aggregator "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func main() {
	scheme := runtime.NewScheme()
	clientscheme.AddToScheme(scheme)
	apiext.AddToScheme(scheme)
	aggregator.AddToScheme(scheme)
	codecs := serializer.NewCodecFactory(scheme)
	out := protobuf.NewSerializer(scheme, scheme)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<24)
	for in.Scan() {
		object, _, err := codecs.UniversalDeserializer().Decode(in.Bytes(), nil, nil)
		if err != nil {
			fmt.Println("")
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		var buffer bytes.Buffer
		if err := out.Encode(object, &buffer); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		text, err := json.Marshal(object)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		line, _ := json.Marshal(map[string]any{"base64": base64.StdEncoding.EncodeToString(buffer.Bytes()), "want": json.RawMessage(text)})
		fmt.Println(string(line))
	}
}
