import { BreakingProxy } from '../fakes/breaking-proxy.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MANAGED_CLUSTER, PLACEMENT } from '../../src/model/kinds.ts';
import {
  type Answer,
  type Scripted,
  type ScriptedOptions,
  sendJson,
  startScripted,
} from '../scripted-server.ts';
import { whenIdle } from '@berth/test-kit/when-idle';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const stop of stops.splice(0)) await stop();
});

const LIMIT_MS = 400;
/** The client's limit passes when the test says so, however fast the machine is. */
const withLimit = (): ScriptedOptions => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  return { requestTimeoutMs: LIMIT_MS };
};
const limitPasses = () => vi.advanceTimersByTimeAsync(LIMIT_MS);

async function h2(answer: Answer, options: ScriptedOptions = {}): Promise<Scripted> {
  const started = await startScripted(answer, { protocol: 'h2', ...options });
  stops.push(started.close);
  return started;
}

const KEY = { namespace: 'team-a', name: 'web' };
const WEB = { metadata: { name: 'web', resourceVersion: '1' } };

const isWatch = (url: string): boolean => url.includes('watch=true');

/** Answers reads at once; opens watches and leaves them open. */
const serve: Answer = (request, response) => {
  if (isWatch(request.url)) response.writeHead(200).flushHeaders();
  else sendJson(response, 200, WEB);
};

/** Opens a watch; resolves when the server has accepted it. */
function watch({ api }: Scripted): Promise<{ ended: Promise<unknown>; abort: () => void }> {
  const stop = new AbortController();
  return new Promise((resolve, reject) => {
    const read = async (): Promise<void> => {
      const onOpen = (): void => resolve({ ended, abort: () => stop.abort() });
      const options = { resourceVersion: '1', signal: stop.signal, onOpen };
      for await (const _event of api.watch(MANAGED_CLUSTER, options));
    };
    const ended = read().then(
      () => undefined,
      (error: unknown) => {
        reject(error instanceof Error ? error : new Error(String(error)));
        return error;
      },
    );
  });
}

const refuse = (server: Scripted): void => {
  for (const session of server.sessions) session.goaway();
};
const cut = (server: Scripted): void => {
  for (const socket of server.sockets) socket.destroy();
};

describe('HTTP/2', () => {
  it('takes one connection for requests and watches', async () => {
    const server = await h2(serve);
    await Promise.all([
      watch(server),
      watch(server),
      ...Array.from({ length: 20 }, () => server.api.get(PLACEMENT, KEY)),
    ]);
    expect(server.connections).toBe(1);
  });

  it('takes more when the server allows few streams on each', async () => {
    const server = await h2(serve, { streamsPerConnection: 2 });
    for (let count = 0; count < 5; count++) await watch(server);
    expect(server.connections).toBe(3);
    await expect(server.api.get(PLACEMENT, KEY)).resolves.toEqual(WEB);
    expect(server.connections).toBe(3);
  });

  it.each([
    ['says goodbye', refuse],
    ['is cut off', cut],
  ])('goes on over a new connection when the server %s', async (_name, end) => {
    const server = await h2(serve);
    await server.api.get(PLACEMENT, KEY);
    end(server);
    await expect.poll(() => server.api.get(PLACEMENT, KEY).catch(() => 'not yet')).toEqual(WEB);
    expect(server.connections).toBe(2);
  });

  it('gives up with an error, and not one connection after the other, when the server allows no stream', async () => {
    const server = await h2(serve, { streamsPerConnection: 0 });
    const asked = Array.from({ length: 5 }, () => server.api.get(PLACEMENT, KEY));
    for (const answer of asked) await expect(answer).rejects.toMatchObject({ code: 'kube.network' });
    // The one that asked first, and one for all that came while it connected.
    expect(server.connections).toBe(2);
    expect(server.seen).toEqual([]);
  });

  it('does not fail by an attempt to connect that others had begun', async () => {
    let proxy: BreakingProxy | undefined;
    const through = (port: number): Promise<number> => (proxy = new BreakingProxy(port, () => 0)).listen();
    const server = await h2(serve, { through });
    stops.unshift(() => proxy?.close() ?? Promise.resolve());
    proxy?.set('silent');
    const first = server.api.get(PLACEMENT, KEY);
    first.catch(() => undefined);
    await expect.poll(() => proxy?.connections).toBe(1);
    const second = server.api.get(PLACEMENT, KEY);
    await new Promise((resolve) => setImmediate(resolve));
    // As when the server is started again meanwhile.
    proxy?.set('cut');
    proxy?.set('pass');
    await expect(first).rejects.toMatchObject({ code: 'kube.network' });
    await expect(second).resolves.toEqual(WEB);
    expect(proxy?.connections).toBe(2);
  });

  it('a watch that is cut ends with an error', async () => {
    const server = await h2(serve);
    const { ended } = await watch(server);
    cut(server);
    await expect(ended).resolves.toMatchObject({ code: 'kube.network' });
  });

  it('a watch that the client gives up leaves the connection to the others', async () => {
    const server = await h2(serve);
    const { ended, abort } = await watch(server);
    abort();
    await expect(ended).resolves.toBeUndefined();
    await server.api.get(PLACEMENT, KEY);
    expect(server.connections).toBe(1);
  });

  it('leaves a connection on which nobody answers', async () => {
    let proxy: BreakingProxy | undefined;
    const through = (port: number): Promise<number> => (proxy = new BreakingProxy(port, () => 0)).listen();
    const server = await h2(serve, { through, ...withLimit() });
    stops.unshift(() => proxy?.close() ?? Promise.resolve());
    await server.api.get(PLACEMENT, KEY);
    // As when the other side lost its power: no FIN, no answer.
    proxy?.set('silent');
    proxy?.set('pass');
    const unanswered = expect(server.api.get(PLACEMENT, KEY)).rejects.toMatchObject({ code: 'kube.timeout' });
    await limitPasses();
    await unanswered;
    await expect(server.api.get(PLACEMENT, KEY)).resolves.toEqual(WEB);
    expect(server.connections).toBe(2);
  });

  it('stays with a connection that is alive though one answer never came', async () => {
    let silent = true;
    const server = await h2((request, response) => {
      if (!silent) serve(request, response);
    }, withLimit());
    const unanswered = expect(server.api.get(PLACEMENT, KEY)).rejects.toMatchObject({ code: 'kube.timeout' });
    await expect.poll(() => server.seen.length).toBe(1);
    await limitPasses();
    await unanswered;
    silent = false;
    await expect.poll(() => server.api.get(PLACEMENT, KEY)).toEqual(WEB);
    await server.api.get(PLACEMENT, KEY);
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  it('does not end what is under way when it is closed for new requests', async () => {
    let answerNow = (): void => undefined;
    const server = await h2((request, response) => {
      answerNow = () => serve(request, response);
    });
    const answer = server.api.get(PLACEMENT, KEY);
    await expect.poll(() => server.seen.length).toBe(1);
    refuse(server);
    await whenIdle(() => server.connections);
    answerNow();
    await expect(answer).resolves.toEqual(WEB);
  });
});
