#!/bin/sh
# Builds a release into dist: for linux on amd64 and arm64 a static binary and the list of the modules in it, and SHA256SUMS of all.
# The same commit and the same Go give the same bytes, on any machine and in any directory. VERSION names the release: by default the
# commit's tag, or its short id. With --verify everything is built again elsewhere, and compared.
set -eu
cd "$(dirname "$0")/.."

refuse() {
  echo "release: $1" >&2
  exit 1
}
[ -z "$(git status --porcelain)" ] || refuse "the tree has changes that are not committed"
version=${VERSION:-$(git describe --tags --exact-match 2>/dev/null || git rev-parse --short=12 HEAD)}
case "$version" in
[!A-Za-z0-9]* | *[!A-Za-z0-9._-]*) refuse "the version must be letters, digits, dots, hyphens and underscores, not $version" ;;
esac

# build SOURCE OUT [OPTION]: neither the directory nor the machine, its environment or its Git may show in the binary.
build() {
  rm -rf "$2"
  mkdir -p "$2"
  for target in amd64:GOAMD64=v1 arm64:GOARM64=v8.0; do
    name=despacho_${version}_linux_${target%:*}
    (cd "$1" && env CGO_ENABLED=0 GOOS=linux GOARCH="${target%:*}" "${target#*:}" GOFLAGS= GOEXPERIMENT= GOWORK=off GOFIPS140=off \
      go build ${3:-} -trimpath -tags=nomsgpack -buildvcs=false -mod=readonly -ldflags="-s -w -buildid= -X main.release=$version" \
      -o "$2/$name" ./cmd/despacho)
    (cd "$2" && go version -m "$name" > "$name.modules.txt")
  done
  (cd "$2" && sha256sum despacho_* > SHA256SUMS && cat SHA256SUMS)
}

build . "$PWD/dist"
if [ "${1:-}" = --verify ]; then
  elsewhere=$(mktemp -d)
  trap 'rm -rf "$elsewhere"' EXIT
  mkdir "$elsewhere/source"
  git archive HEAD | tar -x -C "$elsewhere/source"
  build "$elsewhere/source" "$elsewhere/dist" -a
  cmp dist/SHA256SUMS "$elsewhere/dist/SHA256SUMS"
  echo "the second build has the same bytes"
fi
