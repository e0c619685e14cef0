import { afterEach, describe, expect, it } from 'vitest';
import { Http2Sessions, type PooledSession } from '../../src/transport/http2-sessions.ts';
import { TlsTransport } from '../../src/transport/kube-connection.ts';
import { BreakingProxy } from '../fakes/breaking-proxy.ts';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { sendJson, startScripted } from '../scripted-server.ts';

const stops: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A client with one connection whose ends the test holds. */
async function connected(headerTimeoutMs: number) {
  let proxy: BreakingProxy | undefined;
  let port = 0;
  const server = await startScripted(
    (request, response) => {
      if (!request.url.startsWith('/hang')) sendJson(response, 200, {});
    },
    {
      protocol: 'h2',
      through: async (own) => {
        proxy = new BreakingProxy(own, Math.random);
        return (port = await proxy.listen());
      },
    },
  );
  const base = new URL(`https://127.0.0.1:${String(port)}/`);
  const tls = { rejectUnauthorized: false };
  const sessions = new Http2Sessions({ base, tls, proxy: undefined, connectTimeoutMs: headerTimeoutMs });
  const transport = new TlsTransport({ base, tls, proxy: undefined, headerTimeoutMs }, sessions);
  stops.push(
    server.close,
    () => proxy?.close(),
    () => transport.close(),
  );
  const send = async (path: string, signal?: AbortSignal): Promise<number | string> => {
    const subject = { method: 'GET', path };
    const wire = { subject, method: 'GET', path, headers: {}, body: undefined, signal, fence: undefined };
    try {
      const { statusCode, body } = await transport.send(wire);
      body.resume();
      return statusCode;
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  };
  const pooled = await sessions.take();
  if (pooled === undefined) throw new Error('the server speaks HTTP/2');
  sessions.done(pooled);
  return { server, proxy, sessions, send, pooled };
}

type Connected = Awaited<ReturnType<typeof connected>>;

const HAPPENINGS: Readonly<Record<string, (to: Connected) => void>> = {
  destroy: ({ pooled }) => pooled.session.destroy(),
  goaway: ({ server }) => server.sessions.forEach((session) => session.goaway()),
  'socket end': ({ pooled }) => void pooled.socket.end(),
  // Of the connections that are open now.
  silence: ({ proxy }) => {
    proxy?.set('silent');
    proxy?.set('pass');
  },
};

function orders(of: readonly string[]): readonly (readonly string[])[] {
  return of.flatMap((first) => [
    [first],
    ...orders(of.filter((other) => other !== first)).map((rest) => [first, ...rest]),
  ]);
}

/** What a session tells: in one of the runs it tells nothing. */
function deafen({ session }: PooledSession): void {
  for (const event of ['close', 'goaway', 'error']) session.removeAllListeners(event);
  session.on('error', () => undefined);
}

describe('an idle connection that the server gives up', () => {
  // Node.js 20 uses the memory of a session that its own event destroyed: the process crashes, or works with wrong data.
  it('is not destroyed by its own event, but right after it', async () => {
    const to = await connected(PATIENCE_MS);
    const { session } = to.pooled;
    const isDestroyed = new Promise<boolean>((resolve) => {
      // Called after the listener of the client.
      session.once('goaway', () => resolve(session.destroyed));
    });
    HAPPENINGS['goaway']?.(to);
    expect(await isDestroyed).toBe(false);
    await expect.poll(() => session.destroyed, { timeout: PATIENCE_MS }).toBe(true);
  });
});

describe('a request after a connection got into trouble is answered', () => {
  const ways = orders(Object.keys(HAPPENINGS)).map((order) => ({ order, name: order.join(', ') }));
  it.each(ways)('$name', async ({ order }) => {
    // The client itself must find out that nobody answers, unless it ended the connection.
    const isUnknown =
      order.includes('silence') && !order.includes('destroy') && !order.includes('socket end');
    for (const isDeaf of [false, true])
      for (const isBusy of [false, true]) {
        const to = await connected(isUnknown ? 300 : PATIENCE_MS);
        const stop = new AbortController();
        const busy = isBusy ? to.send('/hang', stop.signal) : undefined;
        if (isBusy) await expect.poll(() => to.server.seen.length).toBe(1);
        if (isDeaf) deafen(to.pooled);
        for (const happening of order) HAPPENINGS[happening]?.(to);
        if (isUnknown) await expect.poll(() => to.send('/')).toBe(200);
        else expect(await to.send('/')).toBe(200);
        // Also later, when everything that was said has arrived.
        await expect.poll(() => to.pooled.socket.destroyed || !isUnknown).toBe(true);
        expect(await to.send('/')).toBe(200);
        stop.abort();
        expect(await busy).not.toBe(200);
      }
  });
});

it('a session that is over is never handed out, whatever was told', async () => {
  const { sessions, pooled } = await connected(PATIENCE_MS);
  deafen(pooled);
  pooled.session.destroy();
  const next = await sessions.take();
  expect(next === pooled).toBe(false);
  expect(pooled.socket.destroyed).toBe(true);
});

it('a probe that is not answered ends session and socket', async () => {
  const to = await connected(300);
  HAPPENINGS['silence']?.(to);
  deafen(to.pooled);
  to.sessions.probe(to.pooled, true);
  await expect.poll(() => [to.pooled.session.destroyed, to.pooled.socket.destroyed]).toEqual([true, true]);
});
