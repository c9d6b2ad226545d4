#!/usr/bin/env bash
# Installs with apt-get, where we are root, the programs that tests need and this machine lacks. A
# program that cannot be had costs the tests that need it, which say so, and nothing else.
set -u
cd "$(dirname "$0")/.."

exec 9>/tmp/despacho-apt-get.lock
flock 9

missing=()
need() { # need PACKAGES PROGRAM...: one of the programs
  local packages=$1 program
  shift
  for program in "$@"; do
    if [ -n "$(command -v "$program" || compgen -G "$program")" ]; then return; fi
  done
  missing+=("$packages")
}
need "gcc libc6-dev" "$(go env CC)"
need postgresql initdb '/usr/lib/postgresql/*/bin/initdb' '/usr/pgsql-*/bin/initdb'
need chromium-headless-shell chromium-headless-shell headless_shell chromium chromium-browser google-chrome chrome
need nodejs node
need python3 python3
need php-cli php
need curl curl
if [ ${#missing[@]} = 0 ]; then exit; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "not installed, and only root may with apt-get: ${missing[*]}"
  exit
fi

install() {
  echo "installing $* with apt-get"
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=600 --no-install-recommends "$@"
}
apt-get update -qq
if ! apt-cache show chromium-headless-shell >/dev/null 2>&1; then
  missing=("${missing[@]/#chromium-headless-shell/chromium}") # as older releases of Debian name it
fi
# apt-get installs nothing if the distribution lacks a single package, as Ubuntu does Chromium's.
# shellcheck disable=SC2048,SC2086
install ${missing[*]} || for packages in "${missing[@]}"; do install $packages; done
exit 0
