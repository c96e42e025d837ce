// Says what a program has proven: one line of JSON for each thing, printed when it held.
// Runs in the environment of a client, beside its program.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
)

// introduce says which client this is.
func introduce(client string) {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == client {
			say(map[string]string{"client": client, "version": module.Version})
		}
	}
}

// proof prints the sentence when the function ends well; a check in it ends the program.
func proof(sentence string, prove func()) {
	prove()
	say(map[string]string{"proved": sentence})
}

func say(line map[string]string) {
	if err := json.NewEncoder(os.Stdout).Encode(line); err != nil {
		panic(err)
	}
}

// hold ends the program unless nothing went wrong.
func hold(err error) {
	if err != nil {
		panic(err)
	}
}

// must returns what a call that cannot go wrong answered.
func must[Answer any](answer Answer, err error) Answer {
	hold(err)
	return answer
}

// same ends the program unless two values are equal.
func same(got, wanted any) {
	if !reflect.DeepEqual(got, wanted) {
		panic(fmt.Sprintf("got %#v, not %#v", got, wanted))
	}
}

// failed holds a call to going wrong with an error of this type, and returns it.
func failed[Failure error](err error) Failure {
	var failure Failure
	if !errors.As(err, &failure) {
		panic(fmt.Sprintf("got %v, not %T", err, failure))
	}
	return failure
}
