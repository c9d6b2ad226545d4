#!/usr/bin/env bash
# Installs the tools of package.json into bin/npm. Exits with 3, and says why, where they cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."
if cmp -s test/openapi/package-lock.json bin/npm/installed; then exit; fi
cannot() { echo "$1"; exit 3; }
[ "$(node -p 'parseInt(process.versions.node) >= 20' 2>&1)" = true ] || cannot "Node 20 or later is missing"
npm view --fetch-retries=0 typescript version >/dev/null 2>&1 || cannot "npm is missing or its registry does not answer"
mkdir -p bin/npm
cp test/openapi/package.json test/openapi/package-lock.json bin/npm
(cd bin/npm && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline)
cp test/openapi/package-lock.json bin/npm/installed
