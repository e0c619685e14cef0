import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { describe, expect, it } from 'vitest';
import { clusterRequest } from '../src/gateway/cluster-request.ts';
import { frontProxyOf } from '../src/gateway/front-proxy.ts';
import { gatewayObject, gatewayOfAccount, gatewayOfSecret } from '../src/rules/cluster-gateway.ts';
import { gatewaySecret } from './gateway-path.ts';

const DATA = { endpoint: 'https://a.example.com:6443', token: 't', 'ca.crt': 'of the secret' };
const TOKEN = { 'cluster-credential-type': 'ServiceAccountToken' };

describe('a Secret', () => {
  it.each<{ name: string; labels?: Record<string, string>; data?: Record<string, string>; want: string }>([
    { name: 'of another type', labels: { 'cluster-credential-type': 'Basic' }, want: 'type Basic' },
    {
      name: 'of the type Dynamic',
      labels: { 'cluster-credential-type': 'Dynamic' },
      want: 'Dynamic runs a program',
    },
    { name: 'without a token', data: { token: '' }, want: 'has no token' },
    {
      name: 'without a key',
      labels: { 'cluster-credential-type': 'X509Certificate' },
      want: 'no tls.crt and tls.key',
    },
    { name: 'without an address', data: { endpoint: '' }, want: 'missing label key: api-endpoint' },
    { name: 'with a proxy', data: { 'proxy-url': 'http://p' }, want: 'proxy-url' },
    {
      name: 'of another endpoint',
      labels: { ...TOKEN, 'cluster-endpoint-type': 'X' },
      want: 'endpoint type X',
    },
    ...['http://a', 'file:///etc', 'https://u:p@a', 'https://a?x=1', 'https://a#x', 'a:6443'].map(
      (endpoint) => ({
        ...{
          name: `with the address ${endpoint}`,
          data: { endpoint },
          want: 'no URL of a server with https',
        },
      }),
    ),
  ])('$name is no gateway', ({ labels = TOKEN, data = {}, want }) => {
    const found = gatewayOfSecret(gatewaySecret('a', { ...DATA, ...data }, labels), undefined);
    expect(found).toEqual({ ok: false, error: expect.stringContaining(want) });
  });

  it('has the address that its ManagedCluster names first', () => {
    const configs = [
      { url: 'https://b', caBundle: Buffer.from('of b').toString('base64') },
      { url: 'https://c' },
    ];
    const cluster = { spec: { managedClusterClientConfigs: configs } } as unknown as ManagedCluster;
    const found = gatewayOfSecret(gatewaySecret('a', DATA), cluster);
    expect(found).toMatchObject({ value: { endpoint: { address: 'https://b', caPem: 'of b' } } });
  });

  it('without an authority is not checked, and says so', () => {
    const { endpoint, token } = DATA;
    const found = gatewayOfSecret(gatewaySecret('a', { endpoint, token }), undefined);
    if (!found.ok) throw new Error(found.error);
    expect(JSON.stringify(gatewayObject(found.value))).toContain('"insecure":true');
    expect(clusterRequest(found.value, '/x', undefined).rejectUnauthorized).toBe(false);
  });

  it('of a ManagedServiceAccount is the gateway of its namespace, through the tunnel', () => {
    const found = gatewayOfAccount(gatewaySecret('cluster-gateway', { token: 't' }));
    if (!found.ok) throw new Error(found.error);
    expect(found.value).toMatchObject({ name: 'credentials', endpoint: { type: 'ClusterProxy' } });
    const options = clusterRequest(found.value, '/healthz', { url: 'https://hub:9092', ca: 'c' });
    expect(options).toMatchObject({
      ...{ hostname: 'hub', port: '9092', path: '/credentials/healthz', servername: 'hub' },
      headers: { authorization: 'Bearer t', host: 'hub:9092' },
    });
    expect(() => clusterRequest(found.value, '/', undefined)).toThrow('where the user server is');
    const { token: _, ...rest } = DATA;
    expect(gatewayOfAccount(gatewaySecret('cluster-gateway', rest))).toMatchObject({ ok: false });
  });

  it('with a client certificate does not go through the tunnel', () => {
    const labels = { 'cluster-credential-type': 'X509Certificate', 'cluster-endpoint-type': 'ClusterProxy' };
    const found = gatewayOfSecret(gatewaySecret('a', { 'tls.crt': 'c', 'tls.key': 'k' }, labels), undefined);
    if (!found.ok) throw new Error(found.error);
    expect(() => clusterRequest(found.value, '/', { url: 'https://h', ca: 'c' })).toThrow('must be a token');
  });
});

it.each([
  { data: {}, want: undefined },
  { data: { 'client-ca-file': 'x' }, want: undefined },
  {
    data: {
      ...{ 'requestheader-client-ca-file': 'ca', 'requestheader-allowed-names': '["aggregator"]' },
      ...{ 'requestheader-username-headers': '["X-Remote-User"]', 'requestheader-group-headers': 'broken' },
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-", 5]',
    },
    want: {
      ...{ caPem: 'ca', allowedNames: ['aggregator'], userHeaders: ['x-remote-user'], groupHeaders: [] },
      extraPrefixes: ['x-remote-extra-'],
    },
  },
])('what the hub says of its requests: $data', ({ data, want }) => {
  expect(frontProxyOf({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data })).toEqual(want);
});
