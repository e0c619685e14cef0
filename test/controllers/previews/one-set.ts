export const OCM = 'cluster.open-cluster-management.io';

/** The cluster set `all`, and its binding in `shop`. */
export const ONE_SET = `apiVersion: ${OCM}/v1beta2
kind: ManagedClusterSet
metadata: {name: all}
---
apiVersion: ${OCM}/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: all, namespace: shop}
spec: {clusterSet: all}
status: {conditions: [{type: Bound, status: "True"}]}
`;
