import type { Edit } from '../validation-case.ts';

const TWO_PORTS = (first: object, second: object): Edit => ['/spec/ports', [{ ...first }, { ...second }]];

/** Changes of Services that need more than one field. */
export const SERVICE_EDITS: Readonly<Record<string, readonly (readonly Edit[])[]>> = {
  'Service/web': [
    [TWO_PORTS({ port: 80 }, { port: 81 })],
    [TWO_PORTS({ name: 'a', port: 80 }, { name: 'a', port: 81 })],
    [TWO_PORTS({ name: 'a', port: 80 }, { name: 'b', port: 80 })],
    [TWO_PORTS({ name: 'a', port: 80 }, { name: 'b', port: 80, protocol: 'UDP' })],
    [TWO_PORTS({ name: 'a', port: 80, targetPort: 0 }, { name: 'b', port: 81, targetPort: 70_000 })],
    [
      TWO_PORTS(
        { name: 'a', port: 80, targetPort: '' },
        { name: 'b', port: 81, targetPort: 'much-too-long-a-name' },
      ),
    ],
    [TWO_PORTS({ name: 'a', port: 80, targetPort: '80' }, { name: 'b', port: 81, targetPort: 'A_B' })],
    [['/spec/type', 'NodePort']],
    [['/spec/type', 'LoadBalancer']],
    [
      ['/spec/type', 'ExternalName'],
      ['/spec/externalName', 'db.example.com'],
    ],
    [
      ['/spec/type', 'ExternalName'],
      ['/spec/externalName', 'db.example.com'],
      ['/spec/clusterIP', ''],
    ],
    [['/spec/type', 'ExternalName']],
    [['/spec/externalName', 'db.example.com']],
    [['/spec/clusterIP', 'None']],
    [
      ['/spec/clusterIP', 'None'],
      ['/spec/clusterIPs', ['None']],
    ],
    [['/spec/clusterIP', 'none']],
    [['/spec/clusterIP', '10.0.0.300']],
    [
      ['/spec/clusterIP', ''],
      ['/spec/clusterIPs', ['10.0.0.20']],
    ],
    [
      ['/spec/clusterIP', '10.0.0.20'],
      ['/spec/clusterIPs', ['10.0.0.21']],
    ],
    [['/spec/clusterIPs', ['None', '10.0.0.20']]],
    [['/spec/sessionAffinity', 'ClientIP'], ['/spec/sessionAffinityConfig']],
    [['/spec/sessionAffinity', 'None']],
    [['/spec/sessionAffinity', 'None'], ['/spec/sessionAffinityConfig']],
    [['/spec/sessionAffinityConfig/clientIP/timeoutSeconds', 86_401]],
    [['/spec/sessionAffinityConfig/clientIP/timeoutSeconds', 86_400]],
    [['/spec/externalTrafficPolicy', 'Local']],
    [['/spec/healthCheckNodePort', 30_500]],
    [['/spec/loadBalancerSourceRanges', ['10.0.0.0/8']]],
    [['/spec/loadBalancerClass', 'example.com/x']],
    [['/spec/allocateLoadBalancerNodePorts', true]],
    [['/spec/ports/0/nodePort', 30_600]],
    [['/spec/externalIPs', ['127.0.0.1', '0.0.0.0', '224.0.0.1', '169.254.1.1', 'name']]],
    [['/spec/ipFamilies', ['IPv4', 'IPv4']]],
    [['/spec/ipFamilies', ['IPv5']]],
    [['/spec/selector', { 'not valid': 'a', a: 'not valid' }]],
  ],
  'Service/headless': [
    [['/spec/type', 'NodePort']],
    [['/spec/type', 'LoadBalancer']],
    [['/spec/clusterIP', '']],
    [['/spec/ports', []]],
  ],
  'Service/external-name': [
    [['/spec/clusterIP', '10.0.0.9']],
    [['/spec/clusterIP', 'None']],
    [['/spec/ports', [{ port: 80 }]]],
    [['/spec/externalName', 'db.example.com.']],
    [['/spec/externalName', '192.0.2.1']],
    [['/spec/externalName', 'https://db.example.com']],
    [
      ['/spec/type', 'ClusterIP'],
      ['/spec/ports', [{ port: 80 }]],
    ],
    [['/spec/type', 'ClusterIP'], ['/spec/ports', [{ port: 80 }]], ['/spec/externalName']],
  ],
  'Service/node-port': [
    [['/spec/type', 'ClusterIP']],
    [['/spec/type', 'ClusterIP'], ['/spec/externalTrafficPolicy']],
    [['/spec/type', 'LoadBalancer']],
    [['/spec/ports/0/nodePort', 29_999]],
    [['/spec/externalTrafficPolicy', 'Cluster']],
  ],
  'Service/balanced': [
    [['/spec/loadBalancerClass', 'example.com/other']],
    [['/spec/loadBalancerClass']],
    [['/spec/type', 'ClusterIP']],
    [['/spec/type', 'NodePort']],
    [['/spec/loadBalancerSourceRanges', ['10.0.0.0/33', ' 10.0.0.0/8 ', '10.0.0.1']]],
    [['/metadata/annotations', { 'service.beta.kubernetes.io/load-balancer-source-ranges': 'x' }]],
    [['/spec/loadBalancerIP', 'not an address']],
  ],
};
