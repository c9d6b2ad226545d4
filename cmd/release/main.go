// Command release builds a release into dist: for linux on amd64 and arm64 a static binary and an
// image with it, each with a software bill of materials, and SHA256SUMS of everything. The same
// commit and the same Go give the same bytes, on any machine and in any directory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "version of the release; by default the tag of the commit, or its short id")
	directory := flags.String("out", "dist", "directory to write to; what is in it is removed")
	modified := flags.Bool("modified", false, "build a tree with changes that are not committed; its version ends in -modified")
	verify := flags.Bool("verify", false, "build everything again from an export of the commit in another directory, and compare the bytes")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	source, err := describe(ctx, ".")
	if err != nil {
		return err
	}
	if source.modified && (!*modified || *verify) {
		return errors.New("the tree has changes that are not committed: commit them, or build with --modified")
	}
	release := build{
		directory: ".", pkg: "./cmd/despacho", name: "despacho", version: source.release(*version), commit: source.commit, epoch: source.epoch, targets: targets, out: *directory,
	}
	if err := release.run(ctx, out); err != nil {
		return err
	}
	if *verify {
		return verifyAgain(ctx, release, source, out)
	}
	return nil
}

// verifyAgain builds the commit once more, elsewhere and without the build cache, and compares the
// sums.
func verifyAgain(ctx context.Context, release build, source source, out io.Writer) error {
	elsewhere, err := os.MkdirTemp("", "despacho-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(elsewhere)
	again := release
	again.directory, again.out, again.withoutCache = elsewhere+"/source", elsewhere+"/dist", true
	if err := export(ctx, source.commit, again.directory); err != nil {
		return err
	}
	fmt.Fprintln(out, "building again from an export of the commit, without the build cache")
	if err := again.run(ctx, io.Discard); err != nil {
		return err
	}
	first, err := os.ReadFile(release.sums())
	if err != nil {
		return err
	}
	second, err := os.ReadFile(again.sums())
	if err != nil {
		return err
	}
	if string(first) != string(second) {
		return fmt.Errorf("the second build differs:\n%s%s", first, second)
	}
	fmt.Fprintln(out, "the second build has the same bytes")
	return nil
}
