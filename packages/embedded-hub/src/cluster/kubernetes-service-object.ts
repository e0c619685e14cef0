export const SERVICES = { group: '', version: 'v1', plural: 'services' } as const;

/**
 * The Service by which programs in a cluster know its API server. Its address is the first one of the range that kubeadm and kind
 * use, its target the usual port of kube-apiserver: nothing is routed to either, because no pod runs on an embedded cluster. So it
 * has no Endpoints and no EndpointSlice: those hold no loopback address, where a hub listens by default, and cannot name the path
 * below which a member is served.
 * Source: kubernetes `pkg/controlplane/controller/kubernetesservice/controller.go`.
 */
export const KUBERNETES_SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'kubernetes',
    namespace: 'default',
    labels: { component: 'apiserver', provider: 'kubernetes' },
  },
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.96.0.1',
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
    ipFamilyPolicy: 'SingleStack',
  },
};
