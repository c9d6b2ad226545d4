#!/bin/sh
# Replaces the api and worker containers by those of the release that .env names, without a gap: docs/operations.md.
set -eu
cd "$(dirname "$0")/.."

running() { docker compose ps -q "$1"; }

# start SERVICE COUNT runs that many more containers of the new release beside the others, until all are healthy.
start() {
  before=$(running "$1")
  if ! docker compose up -d --no-build --no-deps --no-recreate --wait --scale "$1=$(($(echo "$before" | wc -w) + $2))" "$1"; then
    echo "rollout: the new $1 is not healthy and is removed; those of the previous release go on. Its log ends with:" >&2
    for container in $(docker compose ps -aq "$1"); do
      case " $(echo $before) " in
      *" $container "*) ;;
      *) docker logs --tail 20 "$container" >&2 || true; docker rm -f "$container" >/dev/null ;;
      esac
    done
    exit 1
  fi
}

# stop CONTAINER... lets them finish what they have in hand, and removes them.
stop() {
  docker stop "$@" >/dev/null
  docker rm "$@" >/dev/null
}

docker compose build
# The containers of the previous release go on meanwhile, and after a failure.
docker compose run --rm --no-deps migrate

# Workers first: they know everything that the previous api sends them. Temporal gives all tasks to the new release as soon as
# one of its workers runs, so as many of them start as there were.
old=$(running worker)
if [ -n "$old" ]; then
  start worker "$(echo "$old" | wc -w)"
  stop $old
fi

for container in $(running api); do
  start api 1
  stop "$container"
done

# As many as .env says.
docker compose up -d --no-build --no-deps --wait api worker
