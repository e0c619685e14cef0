import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConflictError, InputError, TransientError } from '@berth/runtime/errors';
import { MANAGED_CLUSTER, PLACEMENT } from '../src/model/kinds.ts';
import type { WatchEvent } from '../src/model/kube-api.ts';
import { type Answer, type Protocol, sendJson, startScripted } from './scripted-server.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const stop of stops.splice(0)) await stop();
});

let protocol: Protocol;

async function client(answer: Answer, options = {}) {
  const started = await startScripted(answer, { protocol, ...options });
  stops.push(started.close);
  return started;
}

const KEY = { namespace: 'team-a', name: 'web' };
const status = (code: number, reason: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  status: 'Failure',
  code,
  reason,
  message: `because ${reason}`,
});

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;

function half(response: Parameters<Answer>[1]): void {
  response.writeHead(200, { 'content-length': '1000' });
  response.write('{"metadata":{"name":"web"}');
  setTimeout(() => response.destroy(), 20);
}

describe.each(['http', 'https', 'h2'] as const)('over %s', (used) => {
  beforeEach(() => {
    protocol = used;
  });

  describe('errors by answer', () => {
    it.each([
      { code: 400, reason: 'BadRequest', error: InputError, want: 'kube.badrequest' },
      { code: 401, reason: 'Unauthorized', error: InputError, want: 'kube.unauthorized' },
      { code: 403, reason: 'Forbidden', error: InputError, want: 'kube.forbidden' },
      { code: 409, reason: 'Conflict', error: ConflictError, want: 'kube.conflict' },
      { code: 409, reason: 'AlreadyExists', error: ConflictError, want: 'kube.alreadyexists' },
      { code: 410, reason: 'Gone', error: InputError, want: 'kube.expired' },
      { code: 422, reason: 'Invalid', error: InputError, want: 'kube.invalid' },
      { code: 429, reason: 'TooManyRequests', error: TransientError, want: 'kube.toomanyrequests' },
      { code: 500, reason: 'InternalError', error: TransientError, want: 'kube.internalerror' },
      { code: 504, reason: 'Timeout', error: TransientError, want: 'kube.timeout' },
    ])('$code $reason is $want', async ({ code, reason, error, want }) => {
      const { api } = await client((_request, response) => sendJson(response, code, status(code, reason)));
      const thrown: unknown = await api.get(PLACEMENT, KEY).catch((e: unknown) => e);
      expect(thrown).toBeInstanceOf(error);
      expect(thrown).toMatchObject({ code: want, message: expect.stringContaining(`because ${reason}`) });
    });

    it.each([
      {
        name: 'a page of a proxy',
        answer: (r: Parameters<Answer>[1]) => r.writeHead(502).end('<html>'),
        want: 'kube.http502',
      },
      {
        name: 'no JSON',
        answer: (r: Parameters<Answer>[1]) => r.writeHead(200).end('<html>'),
        want: 'kube.network',
      },
      {
        name: 'a closed connection',
        answer: (r: Parameters<Answer>[1]) => r.destroy(),
        want: 'kube.network',
      },
      { name: 'half an answer', answer: half, want: 'kube.network' },
    ])('$name is transient', async ({ answer, want }) => {
      const { api } = await client((_request, response) => answer(response));
      await expect(api.get(PLACEMENT, KEY)).rejects.toMatchObject({ name: 'TransientError', code: want });
    });

    it.each([
      { name: 'nothing', begin: () => undefined, want: 'kube.timeout' },
      {
        name: 'an answer that stops',
        begin: (r: Parameters<Answer>[1]) => r.writeHead(200).write('{"kind":'),
        want: 'kube.network',
      },
    ])('$name is transient', async ({ begin, want }) => {
      const { api } = await client((_request, response) => void begin(response), { requestTimeoutMs: 400 });
      const ends = () =>
        api.get(PLACEMENT, KEY).catch((error: unknown) => [error instanceof TransientError, codeOf(error)]);
      // On a slow machine even what begins may do so too late.
      await expect.poll(ends).toEqual([true, want]);
    });

    it('says when to come back', async () => {
      const { api } = await client((_request, response) =>
        sendJson(response, 429, status(429, 'TooManyRequests'), { 'retry-after': '7' }),
      );
      await expect(api.list(PLACEMENT)).rejects.toMatchObject({ retryAfterMs: 7000 });
    });
  });

  describe('lists', () => {
    it('reads all parts and names the kind of each item', async () => {
      const { api, seen } = await client((request, response) => {
        const next = new URL(request.url, 'http://x').searchParams.get('continue');
        const part =
          next === null
            ? { items: [{ metadata: { name: 'a' } }], continue: 'more' }
            : { items: [{ metadata: { name: 'b' } }] };
        sendJson(response, 200, {
          kind: 'PlacementList',
          metadata: { resourceVersion: '5', continue: part.continue },
          items: part.items,
        });
      });
      const list = await api.list(PLACEMENT, { namespace: 'team-a', labelSelector: 'a=b' });
      expect(list.resourceVersion).toBe('5');
      expect(list.items).toEqual([
        {
          apiVersion: 'cluster.open-cluster-management.io/v1beta1',
          kind: 'Placement',
          metadata: { name: 'a' },
        },
        {
          apiVersion: 'cluster.open-cluster-management.io/v1beta1',
          kind: 'Placement',
          metadata: { name: 'b' },
        },
      ]);
      expect(seen.map((request) => request.url)).toEqual([
        '/prefix/apis/cluster.open-cluster-management.io/v1beta1/namespaces/team-a/placements?labelSelector=a%3Db&limit=500',
        '/prefix/apis/cluster.open-cluster-management.io/v1beta1/namespaces/team-a/placements?labelSelector=a%3Db&limit=500&continue=more',
      ]);
    });

    it('takes the kind of the items from the list, for a caller that knows only the resource', async () => {
      const { api } = await client((_request, response) =>
        sendJson(response, 200, {
          kind: 'JobList',
          apiVersion: 'batch/v1',
          metadata: { resourceVersion: '5' },
          items: [{ metadata: { name: 'a' } }],
        }),
      );
      const jobs = { group: 'batch', version: 'v1', kind: 'jobs', plural: 'jobs', namespaced: true };
      const { items } = await api.list(jobs);
      expect(items).toEqual([{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a' } }]);
    });

    it.each([
      ['an object without items', { kind: 'PlacementList', metadata: { resourceVersion: '5' } }],
      ['an empty object', {}],
      ['another kind', { kind: 'Status', metadata: { resourceVersion: '5' }, items: [] }],
      ['no resourceVersion', { kind: 'PlacementList', metadata: {}, items: [] }],
      ['null', null],
    ])('%s is an error, never an empty list', async (_name, body) => {
      const { api } = await client((_request, response) => sendJson(response, 200, body));
      await expect(api.list(PLACEMENT)).rejects.toThrow(TransientError);
    });

    it('fails completely when a later part fails', async () => {
      let calls = 0;
      const { api } = await client((_request, response) => {
        calls += 1;
        if (calls === 1)
          sendJson(response, 200, {
            kind: 'PlacementList',
            metadata: { resourceVersion: '5', continue: 'x' },
            items: [{ metadata: { name: 'a' } }],
          });
        else sendJson(response, 410, status(410, 'Expired'));
      });
      await expect(api.list(PLACEMENT)).rejects.toMatchObject({ code: 'kube.expired' });
    });
  });

  describe('requests', () => {
    it('sends credentials, a length with DELETE, and nobody else’s path', async () => {
      const { api, seen } = await client((_request, response) =>
        sendJson(response, 200, { kind: 'Status', status: 'Success' }),
      );
      await api.delete(
        PLACEMENT,
        { namespace: '../..', name: 'x/y' },
        { uid: 'u', propagationPolicy: 'Foreground' },
      );
      expect(seen[0]).toMatchObject({
        method: 'DELETE',
        url: '/prefix/apis/cluster.open-cluster-management.io/v1beta1/namespaces/..%2F../placements/x%2Fy',
      });
      // kubectl tells no server without TLS who asks.
      expect(seen[0]?.headers.authorization).toBe(protocol === 'http' ? undefined : 'Bearer secret-token');
      expect(Number(seen[0]?.headers['content-length'])).toBe(seen[0]?.body.length);
      expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        preconditions: { uid: 'u' },
        propagationPolicy: 'Foreground',
      });
    });

    it('keeps connections', async () => {
      const server = await client((_request, response) => {
        sendJson(response, 200, { metadata: { name: 'web' } });
      });
      for (let i = 0; i < 5; i++) await server.api.get(PLACEMENT, KEY);
      // The first connection shows which protocol the server speaks.
      expect(server.connections).toBe(protocol === 'https' ? 2 : 1);
    });
  });

  describe('watches', () => {
    const object = (name: string, resourceVersion: string) => ({ metadata: { name, resourceVersion } });

    async function collect(answer: Answer): Promise<{ events: WatchEvent[]; error: unknown }> {
      const { api } = await client(answer);
      const events: WatchEvent[] = [];
      const options = { resourceVersion: '1', signal: new AbortController().signal };
      try {
        for await (const event of api.watch(MANAGED_CLUSTER, options)) events.push(event);
      } catch (error) {
        return { events, error };
      }
      return { events, error: undefined };
    }

    it('reads events however they are cut, and bookmarks', async () => {
      const text = [
        { type: 'ADDED', object: object('ä-1', '2') },
        { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } },
        { type: 'DELETED', object: object('ä-1', '10') },
      ]
        .map((event) => `${JSON.stringify(event)}\n`)
        .join('');
      const bytes = Buffer.from(text);
      const { events, error } = await collect((_request, response) => {
        response.writeHead(200);
        for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
        response.end();
      });
      expect(error).toBeUndefined();
      expect(events).toEqual([
        { type: 'added', object: object('ä-1', '2') },
        { type: 'bookmark', resourceVersion: '9' },
        { type: 'deleted', object: object('ä-1', '10') },
      ]);
    });

    it.each([
      {
        name: '410 in the stream',
        lines: [{ type: 'ERROR', object: status(410, 'Expired') }],
        code: 'kube.expired',
      },
      { name: 'an unknown event', lines: [{ type: 'WHAT', object: {} }], code: 'kube.network' },
      {
        name: 'an event without a name',
        lines: [{ type: 'ADDED', object: { metadata: {} } }],
        code: 'kube.network',
      },
    ])('$name ends it with an error', async ({ lines, code }) => {
      const { error } = await collect((_request, response) => {
        response.writeHead(200);
        response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      });
      expect(error).toMatchObject({ code });
    });

    it('an event that is never finished ends it, one that comes in parts does not', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const whole = `${JSON.stringify({ type: 'ADDED', object: object('a', '2') })}\n`;
      let write: (text: string) => void = () => undefined;
      const { api } = await client((_request, response) => {
        response.writeHead(200).flushHeaders();
        write = (text) => void response.write(text);
      });
      const events: WatchEvent[] = [];
      let error: unknown;
      const read = async (): Promise<void> => {
        const { signal } = new AbortController();
        const onOpen = (): void => write(whole);
        for await (const event of api.watch(MANAGED_CLUSTER, { resourceVersion: '1', signal, onOpen }))
          events.push(event);
      };
      read().catch((reason: unknown) => (error = reason));
      await expect.poll(() => events.length).toBe(1);
      // Nothing need come between two events, and a large one may take its time.
      await vi.advanceTimersByTimeAsync(100_000);
      write(whole.slice(0, 9));
      await vi.advanceTimersByTimeAsync(50_000);
      write(whole.slice(9));
      await expect.poll(() => events.length).toBe(2);
      await vi.advanceTimersByTimeAsync(50_000);
      write(whole + whole.slice(0, 20));
      await expect.poll(() => events.length).toBe(3);
      expect(error).toBeUndefined();
      // Bytes are no progress.
      const waitOn = async (): Promise<unknown> => {
        write(' ');
        await vi.advanceTimersByTimeAsync(20_000);
        return error;
      };
      await expect.poll(waitOn).toMatchObject({ code: 'kube.network' });
    });

    it('an event that was cut is an error, not an event', async () => {
      const { events, error } = await collect((_request, response) => {
        response.writeHead(200);
        response.end('{"type":"ADDED","object":{"metadata"');
      });
      expect(events).toEqual([]);
      expect(error).toMatchObject({ code: 'kube.network' });
    });
  });
});
