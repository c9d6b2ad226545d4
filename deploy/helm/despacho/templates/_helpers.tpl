{{- define "despacho.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "despacho.tag" -}}
{{- .Values.image.tag | default .Chart.AppVersion -}}
{{- end -}}

{{/* The release that a component runs. Called with the root context and the component. */}}
{{- define "despacho.release" -}}
{{- $values := index .root.Values .component | default dict -}}
{{- $values.tag | default (include "despacho.tag" .root) -}}
{{- end -}}

{{/* Labels that never change: a Deployment's selector cannot. Called with the root context and the component. */}}
{{- define "despacho.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "despacho.labels" -}}
{{ include "despacho.selector" . }}
app.kubernetes.io/version: {{ include "despacho.release" . | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "despacho.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "despacho.fullname" .) -}}
{{- end -}}

{{- define "despacho.secret" -}}
{{- required "existingSecret is needed: a Secret with DATABASE_URL and SECRET_KEY" .Values.existingSecret -}}
{{- end -}}

{{/* What every pod has. */}}
{{- define "despacho.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What every container has. Called with the root context and the component. */}}
{{- define "despacho.container" -}}
image: {{ printf "%s:%s" .root.Values.image.repository (include "despacho.release" .) | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- include "despacho.containerSecurity" . | nindent 2 }}
{{- end -}}

{{- define "despacho.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The Deployment of a version's workers: those of two versions run beside each other until somebody deletes the older. */}}
{{- define "despacho.worker" -}}
{{- $version := include "despacho.release" (dict "root" . "component" "worker") -}}
{{- printf "%s-worker-%s" (include "despacho.fullname" .) ($version | lower | replace "_" "-") -}}
{{- end -}}

{{/* Pods of one kind are spread over nodes and zones where that is possible. */}}
{{- define "despacho.spread" -}}
topologySpreadConstraints:
  {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "despacho.selector" $ | nindent 8 }}
  {{- end }}
{{- end -}}

{{- define "despacho.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
