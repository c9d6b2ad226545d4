#!/usr/bin/env bash
# Runs every linter. Skipped, with the reason, are govulncheck where its database cannot be reached,
# and what needs tools from npm where they cannot be had.
set -uo pipefail
cd "$(dirname "$0")/.."
# By version: as tools of the module their dependencies would become the module's.
staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.1
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.8.0
node=bin/npm/node_modules/.bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

check() { # check NAME COMMAND...
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    echo "ok    lint $name"
  else
    printf 'FAIL  lint %s\n%s\n' "$name" "$output"
    failed=1
  fi
}
formatted() {
  local files
  files=$("$(go env GOROOT)/bin/gofmt" -l .)
  echo "$files"
  [ -z "$files" ]
}
# go vet keeps what this checker finds in dependencies by its hash, which is the same in every clone.
# It understands no path with a space, which that of a clone may have.
workflows() {
  go -C test/workflowcheck build -trimpath -buildvcs=false -o "$work/workflowcheck" . &&
    go vet -vettool="$work/workflowcheck" ./workflows/...
}
generated() { # of one client
  cp -r clients "$work" && make -s "generate-$1" CLIENTS="$work/clients" && diff -r "clients/$1" "$work/clients/$1"
}

check gofmt formatted
check vet go vet ./...
check "vet lab" go -C test/lab vet ./...
check "vet clients" go -C clients/go vet ./...
check staticcheck go run $staticcheck ./...
check "staticcheck lab" go -C test/lab run $staticcheck ./...
check workflowcheck workflows
check "generated Go" generated go
if reason=$(curl -sS -m 10 -o "$work/index" "${GOVULNDB:-https://vuln.go.dev}/index/db.json" 2>&1); then
  check govulncheck go run $govulncheck ./...
else
  echo "skip  lint govulncheck: $reason"
fi
if reason=$(test/openapi/install.sh 2>&1); then
  check "generated TypeScript" generated typescript
  check spectral $node/spectral lint --fail-severity=hint --ruleset test/openapi/spectral.yaml api/openapi.yaml
  check redocly env REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
    $node/redocly lint --config test/openapi/redocly.yaml api/openapi.yaml
elif [ $? = 3 ]; then
  echo "skip  lint generated TypeScript, spectral, redocly: $reason"
else
  check "tools from npm" test/openapi/install.sh
fi
exit $failed
