import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { provideQueriedScores, queryPrometheus } from '../../src/scores/provide-queried-scores.ts';
import { resourceUsageQueries } from '../../src/rules/scores/resource-usage-score.ts';
import { ADDON_PLACEMENT_SCORE, apiVersionOf, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { InputError, TransientError } from '@berth/runtime/errors';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

/** What the server says to a query; a string is sent as it is. */
type Say = (query: string) => { readonly status?: number; readonly body: unknown };

let server: Server;
let url: string;
let say: Say;
let asked: { path: string; token: string | undefined; query: string }[];
const stopping: (() => Promise<void>)[] = [];

beforeEach(async () => {
  asked = [];
  server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      const query = new URLSearchParams(body).get('query') ?? '';
      asked.push({ path: `${request.method} ${request.url}`, token: request.headers.authorization, query });
      const { status = 200, body: answer } = say(query);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/prefix/`;
});
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const vector = (values: Readonly<Record<string, string>>) => ({
  body: {
    status: 'success',
    data: {
      resultType: 'vector',
      result: Object.entries(values).map(([cluster, value]) => ({ metric: { cluster }, value: [1, value] })),
    },
  },
});
const ask = (query: string, signal: AbortSignal): Promise<unknown> =>
  queryPrometheus({ server: url, query, token: 'secret', signal });
const once1 = (): Promise<unknown> => ask('up', new AbortController().signal);

it('asks as Prometheus is asked', async () => {
  say = () => vector({ c1: '1' });
  expect(await once1()).toMatchObject({ status: 'success' });
  expect(asked).toEqual([{ path: 'POST /prefix/api/v1/query', token: 'Bearer secret', query: 'up' }]);
});

it.each([
  { name: 'lets nobody in', answer: { status: 401, body: '' }, want: InputError },
  { name: 'is a proxy that fails', answer: { status: 502, body: '<html>' }, want: TransientError },
])('fails when the server $name', async ({ answer, want }) => {
  say = () => answer;
  await expect(once1()).rejects.toBeInstanceOf(want);
});

it('hands on what is wrong with a query, with the message of the server', async () => {
  say = () => ({ status: 400, body: { status: 'error', errorType: 'bad_data', error: 'parse error' } });
  expect(await once1()).toMatchObject({ errorType: 'bad_data' });
});

it.each<{ name: string; answers: Say | 'never' | 'resets' | 'floods'; want: RegExp }>([
  { name: 'is slow', answers: 'never', want: /cannot be queried: .*(aborted|abort)/ },
  { name: 'dies while it answers', answers: 'resets', want: /cannot be queried/ },
  { name: 'answers without end', answers: 'floods', want: /cannot be queried/ },
])('gives up when the server $name', async ({ answers, want }) => {
  server.removeAllListeners('request');
  const stop = new AbortController();
  server.on('request', (_request, response) => {
    if (answers === 'never') return void setImmediate(() => stop.abort());
    response.writeHead(200, { 'content-type': 'application/json' });
    if (answers === 'resets') return void response.write('{"status":', () => response.destroy());
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(1024 * 1024)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  await expect(ask('up', stop.signal)).rejects.toThrow(want);
});

it('asks kube-state-metrics what each cluster has left, and scores it', async () => {
  const [hub, clock, log] = [new FakeKubeApi(), new FakeClock(), new SilentLogger()];
  for (const name of ['c1', 'c2', 'c3', 'c4'])
    await hub.create(MANAGED_CLUSTER, {
      apiVersion: apiVersionOf(MANAGED_CLUSTER),
      kind: 'ManagedCluster',
      metadata: { name },
    });
  const owner = { kind: 'label', label: 'cluster' } as const;
  say = (query) =>
    vector(
      query.includes('"cpu"')
        ? { c1: '56', c2: '-3', c3: 'NaN', c4: '1e300' }
        : { c1: `${535 * 1024 ** 3}`, c2: '1', c3: '5', c4: '1e300' },
    );
  const stop = new AbortController();
  const running = provideQueriedScores(
    {
      ...{ hub, clock, log, sendQuery: ask, random: () => 0, owner, queries: resourceUsageQueries(owner) },
      ...{ scoreName: 'resource-usage-score', refreshMs: 60_000, validMs: 300_000 },
    },
    stop.signal,
  );
  stopping.push(() => {
    stop.abort();
    return running;
  });
  const scores = async (namespace: string): Promise<unknown> =>
    (await hub.get(ADDON_PLACEMENT_SCORE, { namespace, name: 'resource-usage-score' }))?.['status'];
  await expect.poll(() => scores('c4')).toMatchObject({ scores: [{ value: 100 }, { value: 100 }] });
  expect(await scores('c1')).toMatchObject({
    scores: [
      { name: 'cpuAvailable', value: 12 },
      { name: 'memAvailable', value: 4 },
    ],
  });
  expect(await scores('c2')).toMatchObject({ scores: [{ value: -100 }, { value: -99 }] });
  expect(await scores('c3')).toBeUndefined();
});

it('writes the scores of every cluster that all queries know, and lets the others run out', async () => {
  const [hub, clock, log] = [new FakeKubeApi(), new FakeClock(), new SilentLogger()];
  for (const name of ['c1', 'c2', 'c3'])
    await hub.create(MANAGED_CLUSTER, {
      apiVersion: apiVersionOf(MANAGED_CLUSTER),
      kind: 'ManagedCluster',
      metadata: { name },
    });
  const known: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    cpu: { c1: '50', c2: '-20.7', stranger: '1' },
    memory: { c1: '7', c2: '8', c3: '9', stranger: '1' },
  };
  say = (query) => vector(known[query] ?? {});
  const stop = new AbortController();
  const running = provideQueriedScores(
    {
      ...{ hub, clock, log, sendQuery: ask, random: () => 0 },
      ...{ scoreName: 'prometheus', refreshMs: 60_000, validMs: 300_000 },
      queries: new Map([
        ['cpu', { query: 'cpu' }],
        ['memory', { query: 'memory' }],
      ]),
      owner: { kind: 'label', label: 'cluster' },
    },
    stop.signal,
  );
  stopping.push(() => {
    stop.abort();
    return running;
  });
  const scores = async (namespace: string): Promise<unknown> =>
    (await hub.get(ADDON_PLACEMENT_SCORE, { namespace, name: 'prometheus' }))?.['status'];
  await expect
    .poll(() => scores('c2'))
    .toEqual({
      scores: [
        { name: 'cpu', value: -20 },
        { name: 'memory', value: 8 },
      ],
      validUntil: '2026-01-01T00:05:00Z',
    });
  expect(await scores('c1')).toMatchObject({ scores: [{ value: 50 }, { value: 7 }] });
  expect(await scores('c3')).toBeUndefined();
  expect(await scores('stranger')).toBeUndefined();

  // An outage writes nothing; what follows it is written.
  const before = hub.writes.length;
  say = () => ({ status: 503, body: 'no' });
  const questions = asked.length;
  await clock.advance(60_000);
  await expect.poll(() => asked.length).toBeGreaterThan(questions);
  expect(hub.writes.length).toBe(before);
  say = () => vector({ c1: '1', c2: '2', c3: '3' });
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return scores('c3');
    })
    .toMatchObject({ scores: [{ value: 3 }, { value: 3 }] });
});
