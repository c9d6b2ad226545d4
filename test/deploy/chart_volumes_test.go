package deploy_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
)

// DATABASE_URL, which all pods have, may name a certificate in /certs.
func TestChart_certificates(t *testing.T) {
	t.Parallel()
	r, err := render(t, everything())
	require.NoError(t, err)
	templates := []core.PodTemplateSpec{r.jobs["migrate"].Spec.Template, r.jobs["rollout"].Spec.Template}
	for _, deployment := range r.deployments {
		templates = append(templates, deployment.Spec.Template)
	}
	for _, template := range templates {
		container := template.Spec.Containers[0]
		require.Contains(t, container.VolumeMounts, core.VolumeMount{Name: "certs", MountPath: "/certs", ReadOnly: true}, container.Name)
		mounted := slices.IndexFunc(template.Spec.Volumes, func(volume core.Volume) bool { return volume.Name == "certs" })
		require.GreaterOrEqual(t, mounted, 0, container.Name)
		require.Equal(t, "despacho-certs", template.Spec.Volumes[mounted].Secret.SecretName, container.Name)
	}
}

// Where the photos are in a bucket, the api has no volume for them.
func TestChart_photosInABucket(t *testing.T) {
	t.Parallel()
	directory, err := render(t, needed())
	require.NoError(t, err)
	require.Len(t, directory.claims, 1)

	values := needed()
	values["config"].(map[string]any)["PHOTOS"] = "s3://photos?endpoint=https://storage.example.com"
	bucket, err := render(t, values)
	require.NoError(t, err)
	require.Empty(t, bucket.claims)
	pod := bucket.deployments["api"].Spec.Template.Spec
	require.NotContains(t, volumeNames(pod.Volumes), "files")
	for _, mount := range pod.Containers[0].VolumeMounts {
		require.NotEqual(t, "files", mount.Name)
	}
	for _, variable := range pod.Containers[0].Env {
		require.NotEqual(t, "FILES_DIR", variable.Name)
	}
}

// While photos are moved from the volume to a bucket or back, the api needs both.
func TestChart_photosBetweenABucketAndTheVolume(t *testing.T) {
	t.Parallel()
	const bucket, volume = "s3://photos?endpoint=https://storage.example.com", "/var/lib/despacho/files"
	for _, places := range [][2]string{{bucket, volume}, {volume, bucket}, {"", bucket}} {
		values := needed()
		values["config"].(map[string]any)["PHOTOS"], values["config"].(map[string]any)["PHOTOS_FALLBACK"] = places[0], places[1]
		r, err := render(t, values)
		require.NoError(t, err)
		require.Len(t, r.claims, 1, "%v", places)
		pod := r.deployments["api"].Spec.Template.Spec
		require.Contains(t, volumeNames(pod.Volumes), "files", "%v", places)
		require.Contains(t, pod.Containers[0].VolumeMounts, core.VolumeMount{Name: "files", MountPath: volume}, "%v", places)
	}

	values := needed()
	values["config"].(map[string]any)["PHOTOS"], values["config"].(map[string]any)["PHOTOS_FALLBACK"] = bucket, "s3://earlier"
	r, err := render(t, values)
	require.NoError(t, err)
	require.Empty(t, r.claims)
}

func volumeNames(volumes []core.Volume) (names []string) {
	for _, volume := range volumes {
		names = append(names, volume.Name)
	}
	return names
}
