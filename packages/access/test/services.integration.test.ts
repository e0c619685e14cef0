import https from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { openPathTo } from './access-path.ts';

const WEB = '/cluster1/api/v1/namespaces/shop/services/http:web:80/proxy-service/';
const EXPOSED = [{ namespace: 'shop', service: 'web', port: '80' }];

async function ask(port: number, path: string, headers: Readonly<Record<string, string>> = {}) {
  const call = https.request({
    ...{ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false },
    headers: { authorization: 'Bearer alice', ...headers },
  });
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) return { status: response.statusCode, said: await text(response) };
  response.destroy();
  return { status: 200, said: '' };
}

it('a listed service is asked for by the API server of the cluster, as the caller, without the token', async () => {
  const { port, asked } = await openPathTo({}, { exposed: EXPOSED });
  expect((await ask(port, `${WEB}a?b=c`)).status).toBe(200);
  const [request] = asked;
  expect(request?.url).toBe('/api/v1/namespaces/shop/services/http:web:80/proxy/a?b=c');
  expect(request?.headers['impersonate-user']).toBe('alice');
  expect(JSON.stringify(request?.rawHeaders)).not.toContain('Bearer alice');
});

it.each([
  { path: WEB.replace('web', 'db'), want: '403 service shop/db is not in the exposed services allowlist' },
  { path: WEB.replace('shop', 'x'), want: '403 service x/web is not in the exposed services allowlist' },
  { path: WEB.replace(':80', ':443'), want: '403 service shop/web is not in the exposed services allowlist' },
  { path: `${WEB}../../http:db:80/proxy/`, want: '400 the path has a step up' },
  { path: `${WEB}%2e%2e/%2e%2e/http:db:80/proxy/`, want: '400 the path has a step up' },
  { path: `${WEB}..%2fx`, want: '400 the path has a step up' },
  { path: WEB.replace('http:web:80', 'http:web:80%2f..%2fdb:80'), want: '400 the path has a step up' },
  { path: WEB.replace('http:web:80', 'web:80?x'), want: '200 ' },
  { path: WEB, headers: { authorization: 'Basic YTpi' }, want: '401 a bearer token' },
  { path: WEB, headers: { 'impersonate-user': 'root' }, want: '403 a user of the hub cannot impersonate' },
  {
    // By these headers cluster-proxy names the service to its agent.
    path: WEB.replace('web', 'db'),
    headers: { 'cluster-proxy-service': 'web', 'cluster-proxy-namespace': 'shop' },
    want: '403 service shop/db is not in',
  },
])('$path is answered: $want', async ({ path, headers, want }) => {
  const { port, asked } = await openPathTo({}, { exposed: EXPOSED });
  const { status, said } = await ask(port, path, headers);
  const message = said === '' ? '' : (JSON.parse(said) as { readonly message: string }).message;
  expect(`${String(status)} ${message}`).toContain(want);
  expect(asked.length).toBe(status === 200 ? 1 : 0);
});

it('without a list nothing is exposed', async () => {
  const { port, asked } = await openPathTo({});
  expect((await ask(port, WEB)).status).toBe(403);
  expect(asked).toEqual([]);
});
