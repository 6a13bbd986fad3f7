{{- define "proviso.labels" -}}
app.kubernetes.io/name: proviso
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "proviso.settings" -}}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- if .Values.settings.PROVISO_TELEMETRY__OTLP_ENDPOINT }}
- { name: POD_NAME, valueFrom: { fieldRef: { fieldPath: metadata.name } } }
- { name: POD_NAMESPACE, valueFrom: { fieldRef: { fieldPath: metadata.namespace } } }
- { name: OTEL_RESOURCE_ATTRIBUTES, value: "k8s.pod.name=$(POD_NAME),k8s.namespace.name=$(POD_NAMESPACE)" }
- { name: OTEL_METRIC_EXPORT_INTERVAL, value: "15000" }
{{- end }}
{{- end }}

{{- define "proviso.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}
