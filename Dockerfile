FROM golang:1.26.8-bookworm AS build
ARG GOPROXY
WORKDIR /src
COPY go.mod go.sum ./
# The caches stay on the machine from one build to the next, and out of the image.
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG RELEASE=
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -tags=nomsgpack -ldflags "-s -w -X main.release=${RELEASE}" -o /out/despacho ./cmd/despacho \
    && mkdir -p /out/files && mkdir -m 1777 /out/tmp

# Nothing but the binary, which carries its own time zones, and the certificate authorities that receivers of webhooks are checked against.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/despacho /despacho
COPY --from=build --chown=65532:65532 /out/tmp /tmp
# A volume mounted here for the first time takes over this directory's owner, so that the service may write to it.
COPY --from=build --chown=65532:65532 /out/files /var/lib/despacho/files
USER 65532:65532
ENV HTTP_ADDR=0.0.0.0:8080 FILES_DIR=/var/lib/despacho/files
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["/despacho", "health"]
ENTRYPOINT ["/despacho"]
CMD ["api"]
