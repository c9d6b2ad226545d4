package telemetry

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	diskFree = prometheus.NewDesc("disk_free_bytes",
		"Space left for this process on the disk of a directory that it writes to.", []string{"volume"}, nil)
	diskSize = prometheus.NewDesc("disk_size_bytes", "Size of that disk.", []string{"volume"}, nil)
)

// WatchDisks exports the space on the disks of directories, which are named by what they hold.
func (m *Metrics) WatchDisks(directories map[string]string) {
	m.registry.MustRegister(diskCollector(directories))
}

// diskCollector asks the system with every scrape, which costs microseconds.
type diskCollector map[string]string

// Describe sends the descriptions of both metrics.
func (d diskCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- diskFree
	descriptions <- diskSize
}

// Collect sends the metrics of every directory.
func (d diskCollector) Collect(metrics chan<- prometheus.Metric) {
	for volume, directory := range d {
		free, size, err := diskSpace(directory)
		if errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if err != nil {
			metrics <- prometheus.NewInvalidMetric(diskFree, err)
			continue
		}
		metrics <- prometheus.MustNewConstMetric(diskFree, prometheus.GaugeValue, float64(free), volume)
		metrics <- prometheus.MustNewConstMetric(diskSize, prometheus.GaugeValue, float64(size), volume)
	}
}
