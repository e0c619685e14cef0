import { afterEach, describe, expect, it } from 'vitest';
import { TransientError } from '@berth/runtime/errors';
import { PLACEMENT } from '../../src/model/kinds.ts';
import type { KubeApi } from '../../src/model/kube-api.ts';
import { BreakingProxy } from '../fakes/breaking-proxy.ts';
import { type Protocol, type Scripted, sendJson, startScripted } from '../scripted-server.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const KEY = { namespace: 'team-a', name: 'web' };
const WEB = { apiVersion: 'v1', kind: 'Placement', metadata: KEY };
const stopped = () => new TransientError('stopped', { code: 'test.stopped', subject: 'write' });

const WRITES: readonly [string, (api: KubeApi) => Promise<unknown>][] = [
  ['create', (api) => api.create(PLACEMENT, WEB)],
  ['update', (api) => api.update(PLACEMENT, WEB)],
  ['mergePatch', (api) => api.mergePatch(PLACEMENT, KEY, {})],
  ['apply', (api) => api.apply(PLACEMENT, WEB, { fieldManager: 'berth' })],
  ['delete', (api) => api.delete(PLACEMENT, KEY)],
];

describe.each<Protocol>(['http', 'https', 'h2'])('the fence of writes over %s', (protocol) => {
  let mayWrite: () => boolean;
  let isAnswering: boolean;
  let held: (() => void)[];
  let underWay: AbortController;

  async function start(): Promise<Scripted> {
    [mayWrite, isAnswering, held, underWay] = [() => true, true, [], new AbortController()];
    const started = await startScripted(
      (_request, response) => {
        const answer = () => sendJson(response, 200, WEB);
        if (isAnswering) answer();
        else held.push(answer);
      },
      {
        protocol,
        maxRequests: 1,
        fence: {
          enter: () => {
            if (!mayWrite()) throw stopped();
            return underWay.signal;
          },
        },
      },
    );
    stops.push(started.close);
    return started;
  }

  it.each(WRITES)('stops %s with its own error, and lets reads pass', async (_name, write) => {
    const { api, seen } = await start();
    mayWrite = () => false;
    await expect(write(api)).rejects.toMatchObject({ code: 'test.stopped' });
    expect(seen).toEqual([]);
    await api.get(PLACEMENT, KEY);
    await expect(write(api)).rejects.toMatchObject({ code: 'test.stopped' });
    mayWrite = () => true;
    await write(api);
    expect(seen).toHaveLength(2);
  });

  it('is asked when nothing is left to wait for: a write that waited for its turn is stopped by what is true then', async () => {
    const { api, seen } = await start();
    isAnswering = false;
    const first = api.create(PLACEMENT, WEB);
    const queued = Promise.allSettled(WRITES.map(([, write]) => write(api)));
    await expect.poll(() => held.length).toBe(1);
    mayWrite = () => false;
    held.forEach((answer) => answer());
    await first;
    expect((await queued).map((result) => result.status === 'rejected' && result.reason)).toEqual(
      WRITES.map(() => expect.objectContaining({ code: 'test.stopped' }) as unknown),
    );
    expect(seen).toHaveLength(1);
    // A stopped write leaves nothing behind that those after it wait for.
    [mayWrite, isAnswering] = [() => true, true];
    await api.create(PLACEMENT, WEB);
    expect(seen).toHaveLength(2);
  });

  it.each(WRITES)('ends %s that has no answer yet with its own error, and no read', async (_name, write) => {
    const { api, seen } = await start();
    isAnswering = false;
    const writing = write(api);
    writing.catch(() => undefined);
    await expect.poll(() => held.length).toBe(1);
    underWay.abort(stopped());
    await expect(writing).rejects.toMatchObject({ code: 'test.stopped' });
    underWay = new AbortController();
    const reading = api.get(PLACEMENT, KEY);
    await expect.poll(() => held.length).toBe(2);
    underWay.abort(stopped());
    held[1]?.();
    expect(await reading).toMatchObject({ kind: 'Placement' });
    expect(seen).toHaveLength(2);
  });
});

it.each(WRITES)(
  'a process that is frozen after it made the request of %s, before the frames leave it, does not complete it over HTTP/2',
  async (_name, write) => {
    let asked = 0;
    const { api, close, seen } = await startScripted((_request, response) => sendJson(response, 200, WEB), {
      protocol: 'h2',
      fence: {
        enter: () => {
          asked += 1;
          if (asked > 1) throw stopped();
          return new AbortController().signal;
        },
      },
    });
    stops.push(close);
    await expect(write(api)).rejects.toMatchObject({ code: 'test.stopped' });
    await api.get(PLACEMENT, KEY);
    expect(asked).toBe(2);
    expect(seen.map(({ method }) => method)).toEqual(['GET']);
  },
);

it.each<Protocol>(['https', 'h2'])(
  'the fence of writes over %s is not asked while the connection is opened',
  async (protocol) => {
    let proxy: BreakingProxy | undefined;
    let asked = 0;
    const { api, close } = await startScripted((_request, response) => sendJson(response, 200, WEB), {
      protocol,
      fence: {
        enter: () => {
          asked += 1;
          return new AbortController().signal;
        },
      },
      through: async (port) => {
        proxy = new BreakingProxy(port, () => 0.5);
        return proxy.listen();
      },
    });
    stops.push(close, async () => proxy?.close());
    // It connects, and the handshake never ends.
    proxy!.set('silent');
    const writing = api.create(PLACEMENT, WEB);
    await expect.poll(() => proxy?.connections).toBe(1);
    expect(asked).toBe(0);
    proxy!.set('refuse');
    await expect(writing).rejects.toBeDefined();
    expect(asked).toBe(0);
    proxy!.set('pass');
    await api.create(PLACEMENT, WEB);
    expect(asked).toBeGreaterThan(0);
  },
);
