import { describe, expect, it } from 'vitest';
import { clusterIdentity } from '../src/rules/cluster-identity.ts';
import { isExposed, parseExposedServices, serviceTarget } from '../src/rules/exposed-services.ts';
import { requestTarget } from '../src/rules/request-target.ts';

describe('the cluster of a URL', () => {
  it.each([
    { url: '/cluster1/api/v1/pods?watch=1', want: { cluster: 'cluster1', path: '/api/v1/pods?watch=1' } },
    { url: '/edge-7.example/version', want: { cluster: 'edge-7.example', path: '/version' } },
    { url: '/cluster1', want: { cluster: 'cluster1', path: '/' } },
    { url: '/c/a?b=/../c?d', want: { cluster: 'c', path: '/a?b=/../c?d' } },
    { url: '/c/a%20b', want: { cluster: 'c', path: '/a%20b' } },
  ])('is read: $url', ({ url, want }) => {
    expect(requestTarget(url)).toEqual({ ok: true, value: want });
  });

  it.each([
    '',
    '/',
    '*',
    'http://cluster2/api',
    'https://cluster2/cluster1/api',
    '//cluster2/api',
    '/../cluster2/api',
    '/%63luster2/api',
    '/cluster1%2f..%2fcluster2/api',
    '/Cluster1/api',
    '/cluster1:443/api',
    '/cluster1@cluster2/api',
    '/.cluster1/api',
    '/cluster1/../cluster2/api',
    '/cluster1/..',
    '/cluster1/./api',
    '/cluster1/%2e%2e/cluster2/api',
    '/cluster1/%2E./cluster2',
    '/cluster1/api%2f..%2f..%2fcluster2',
    '/cluster1/%252e%252e/cluster2',
    '/cluster1/..%5ccluster2',
    '/cluster1\\..\\cluster2',
    `/${'a'.repeat(254)}/api`,
  ])('is refused: %s', (url) => {
    expect(requestTarget(url).ok).toBe(false);
  });
});

describe('who a user of the hub is in a cluster', () => {
  it.each([
    {
      name: 'a person',
      user: { username: 'alice', groups: ['dev', 'system:authenticated'] },
      want: ['alice', 'dev', 'system:authenticated'],
    },
    {
      name: 'an administrator of the hub',
      user: { username: 'kubernetes-admin', groups: ['system:masters'] },
      want: ['kubernetes-admin', 'cluster:hub:system:masters'],
    },
    {
      name: 'an account of the hub',
      user: { username: 'system:serviceaccount:kube-system:x', groups: ['system:serviceaccounts'] },
      want: ['cluster:hub:system:serviceaccount:kube-system:x', 'cluster:hub:system:serviceaccounts'],
    },
    {
      name: 'a name that looks translated',
      user: { username: 'cluster:hub:system:masters' },
      want: ['cluster:hub:cluster:hub:system:masters'],
    },
  ])('$name', ({ user, want }) => {
    const { user: name, groups } = clusterIdentity(user);
    expect([name, ...groups]).toEqual(want);
  });

  it('keeps extra fields but those of the token', () => {
    const extra = { 'authentication.kubernetes.io/credential-id': ['x'], 'example.com/team': ['a', 'b'] };
    expect(clusterIdentity({ username: 'alice', extra }).extra).toEqual({ 'example.com/team': ['a', 'b'] });
  });
});

describe('a service of a cluster in a path', () => {
  const PATH = '/api/v1/namespaces/shop/services/web:80/proxy-service/';
  it.each([
    {
      path: `${PATH}a?b=c`,
      want: 'shop web 80 https /api/v1/namespaces/shop/services/https:web:80/proxy/a?b=c',
    },
    {
      path: '/api/v1/namespaces/shop/services/http:web:main/proxy-service/',
      want: 'shop web main http /api/v1/namespaces/shop/services/http:web:main/proxy/',
    },
  ])('is read: $path', ({ path, want }) => {
    const read = serviceTarget(path);
    if (read?.ok !== true) throw new Error(read?.error);
    const { namespace, service, port, protocol, path: onward } = read.value;
    expect([namespace, service, port, protocol, onward].join(' ')).toBe(want);
  });

  it.each([
    '/api/v1/namespaces/shop/services/web/proxy-service/',
    '/api/v1/namespaces/shop/services/web:80/proxy-service',
    '/api/v1/namespaces/shop/services/ftp:web:80/proxy-service/',
    '/api/v1/namespaces/shop/services/web%3a80/proxy-service/',
    '/api/v1/namespaces/shop%2fx/services/web:80/proxy-service/',
    '/api/v1/namespaces/shop/services/http:web:80:90/proxy-service/',
    '/apis/v1/namespaces/shop/services/web:80/proxy-service/',
    '/api/v1/namespaces/shop/pods/web:80/proxy-service/',
  ])('is refused: %s', (path) => expect(serviceTarget(path)?.ok).toBe(false));

  it.each([
    '/api/v1/namespaces/shop/services/web:80/proxy/',
    '/api/v1/namespaces/shop/services/web:80/proxy%2dservice/',
    '/api/v1/namespaces/shop/services/x/proxy/proxy-service/',
  ])('is no such path, and the API server judges it: %s', (path) =>
    expect(serviceTarget(path)).toBeUndefined(),
  );

  const list = (text: string) => parseExposedServices({ list: text }).exposed;
  const web = { namespace: 'shop', service: 'web', port: '80', protocol: 'https', path: '' } as const;
  it.each([
    { text: '[]', want: false },
    { text: '', want: false },
    { text: '{namespace: shop, service: web}', want: false },
    { text: '[{namespace: shop}]', want: false },
    { text: '[{service: web}]', want: false },
    { text: '[{namespace: shop, service: web}]', want: true },
    { text: '[{namespace: shop, service: web, port: 80}]', want: true },
    { text: '[{namespace: shop, service: web, port: 81}]', want: false },
    { text: '[{namespace: shop, service: web, protocol: http}]', want: false },
    { text: '[{namespace: shop, service: web}, {namespace: x, service: y, protocol: ftp}]', want: false },
    { text: '[{namespace: shop, service: "*"}]', want: false },
    { text: '[{namespace: shop', want: false },
  ])('is exposed by $text: $want', ({ text, want }) => expect(isExposed(web, list(text))).toBe(want));

  it('is exposed by one key although another one is wrong, which is said', () => {
    const { exposed, problems } = parseExposedServices({ a: 'x: [', b: '[{namespace: shop, service: web}]' });
    expect(isExposed(web, exposed)).toBe(true);
    expect(problems).toEqual([expect.stringMatching(/^a: is no YAML, expected a list/)]);
  });
});
